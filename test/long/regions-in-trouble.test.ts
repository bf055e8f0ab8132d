/**
 * Three regions that break in turn, in seven ways each, under 32 connections: free calls are answered from another region, pinned
 * ones nowhere else, each receipt names the region that really answered, and no provider sees what is another's.
 */

import { setTimeout as delay } from 'node:timers/promises';
import { routingTraceSchema } from '@gw/contract/routing-trace';
import { forFile } from '@gw/testing/for-file';
import { receiptInReply } from '@gw/testing/receipt-in-reply';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { apiOf } from '../operator-api.ts';
import { eventually, startOwnGateway } from '../outage/own-gateway.ts';
import {
  credentialOf,
  nameOf,
  pathOf,
  startTroubledProvider,
  type Trouble,
  type TroubledProvider,
  troubles,
} from './troubled-provider.ts';

const model = 'troubled/m';
const regions = ['trouble-a', 'trouble-b', 'trouble-c'];
/** Shorter than a failing deployment rests, and longer, ms. */
const troubleTimes = [300, 4000];
const gateway = forFile(startOwnGateway);
let providers: TroubledProvider[];

beforeAll(async () => {
  providers = await Promise.all(regions.map(startTroubledProvider));
  const api = apiOf(gateway.stack);
  await api.send('POST', '/operator/v1/models', { id: model, owned_by: 'test', kind: 'chat', model_class: 'small' });
  for (const [preference, { origin, region }] of providers.entries()) {
    const ref = region.toUpperCase().replace('-', '_');
    await api.send('PUT', `/operator/v1/credentials/${ref}`, { value: credentialOf(region), base_url: origin });
    await api.send('POST', '/operator/v1/providers', {
      id: region,
      name: region,
      base_url: origin,
      path: pathOf(region),
      credential_ref: ref,
      // A JSON call that is never answered is not sent elsewhere: it may be under way.
      first_byte_timeout_s: 1,
      timeout_s: 3,
    });
    const place = { name: region, country: 'FR', grid_zone: 'FRA', preference };
    await api.send('POST', '/operator/v1/regions', { code: region, ...place });
    const models = { [model]: nameOf(region) };
    await api.send('POST', '/operator/v1/deployments', { id: region, provider: region, region, models, pue: 1.1 });
  }
  for (const region of regions)
    await eventually(`${region} to answer`, async () => (await call({ region })).outcome === 'answered');
});
afterAll(() => Promise.all((providers ?? []).map((provider) => provider.stop())));

interface Outcome {
  /** `answered`, or status and code of the error. */
  readonly outcome: string;
  readonly from?: string;
  /** The claims of the reply that are not true. */
  readonly untrue?: string;
  /** Why attempts before the one that answered failed, as the reply says. */
  readonly causes?: readonly string[];
}

const replySchema = z.looseObject({
  choices: z.array(z.looseObject({ message: z.looseObject({ content: z.string() }).optional() })).optional(),
});

async function call({ region, stream = false }: { region?: string; stream?: boolean }): Promise<Outcome> {
  const response = await fetch(`${gateway.stack.publicUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.stack.keys.enterprise}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model,
      stream,
      messages: [{ role: 'user', content: region ? `pinned to ${region}` : 'free' }],
      ...(region && { gw: { region } }),
    }),
  });
  const text = await response.text();
  if (response.status !== 200) return { outcome: `${response.status} ${JSON.parse(text).error?.code}` };
  const parts = stream ? eventsOf(text) : [JSON.parse(text)];
  const from = stream ? contentOf(parts) : replySchema.parse(parts[0]).choices?.[0]?.message?.content;
  const ours = parts.find((part) => part.gw);
  if (!ours || !from) return { outcome: 'broken off' };
  const trace = routingTraceSchema.parse(ours.routing_trace);
  const named = [receiptInReply.parse(ours.gw).region, trace.region, trace.deployment];
  const untrue = named.some((each) => each !== from) ? `${named.join()} for ${from}` : null;
  const causes = trace.attempts.failed.map(({ outcome }) => outcome);
  return { outcome: 'answered', from, causes, ...(untrue && { untrue }) };
}
const eventsOf = (text: string) =>
  text
    .split('\n\n')
    .filter((each) => /^data: \{/.test(each))
    .map((each) => JSON.parse(each.slice(6)));
const chunkSchema = z.looseObject({
  choices: z.array(z.looseObject({ delta: z.looseObject({ content: z.string().optional() }).optional() })),
});
const contentOf = (chunks: readonly unknown[]): string =>
  chunks.flatMap((chunk) => chunkSchema.parse(chunk).choices.map(({ delta }) => delta?.content ?? '')).join('');

/** Calls on 32 connections until it is stopped; every other one is a stream, every third is pinned. */
function load() {
  let isWanted = true;
  const free = new Map<string, number>();
  const pinned = new Map<string, number>();
  const untrue: string[] = [];
  const causes = new Map<string, number>();
  const count = (of: Map<string, number>, what: string) => of.set(what, (of.get(what) ?? 0) + 1);
  const client = async (at: number) => {
    for (let turn = at; isWanted; turn += 1) {
      const region = turn % 3 === 0 ? regions[Math.floor(turn / 3) % 3] : undefined;
      // JSON that is never answered is the one thing that is not sent elsewhere.
      const stream = isSlow || turn % 2 === 0;
      const made = await call({ stream, ...(region && { region }) });
      if (made.untrue) untrue.push(made.untrue);
      if (region && made.from && made.from !== region) untrue.push(`pinned to ${region}, answered by ${made.from}`);
      count(region ? pinned : free, made.outcome);
      for (const cause of made.causes ?? []) count(causes, cause);
    }
  };
  const clients = Promise.all(Array.from({ length: 32 }, (_, at) => client(at)));
  const stop = async () => {
    isWanted = false;
    await clients;
  };
  return { free, pinned, untrue, causes, stop };
}
let isSlow = false;

test('free calls go on, pinned ones stay, and every reply says who answered', async () => {
  const running = load();
  for (const troubleMs of troubleTimes)
    for (const provider of providers)
      for (const trouble of troubles) {
        isSlow = trouble === 'slow';
        // The calls that began as JSON.
        if (isSlow) await delay(500);
        await provider.trouble(trouble);
        await delay(troubleMs);
        await provider.trouble(null);
        await delay(1000);
      }
  await running.stop();
  const [free, pinned, causes] = [running.free, running.pinned, running.causes].map((of) => Object.fromEntries(of));
  const total = (of: Map<string, number>) => [...of.values()].reduce((sum, each) => sum + each, 0);
  console.log({ free, pinned, causes, calls: providers.map(({ calls }) => calls) });
  for (const { region, wrong } of providers) expect([region, [...new Set(wrong)]]).toEqual([region, []]);
  expect([...new Set(running.untrue)]).toEqual([]);
  expect((running.free.get('answered') ?? 0) / total(running.free)).toBeGreaterThanOrEqual(0.999);
  expect((running.causes.get('failed') ?? 0) / total(running.causes)).toBeLessThan(0.01);
  expect(total(running.pinned)).toBeGreaterThan(10_000);
}, 600_000);

const causeOf: Readonly<Record<Trouble, string>> = {
  killed: 'no_connection',
  slow: 'timed_out',
  429: 'rate_limited',
  500: 'server_error',
  503: 'server_error',
  cut: 'connection_lost',
  garbled: 'connection_lost',
};

test.each(troubles)(
  '%s is told as what it is',
  async (trouble) => {
    const [first] = providers as [TroubledProvider];
    await eventually('free calls to begin at the first', async () => (await call({})).from === first.region, 60_000);
    await first.trouble(trouble);
    try {
      const { causes, from } = await call({ stream: true });
      expect({ causes, from }).toEqual({ causes: [causeOf[trouble]], from: regions[1] });
    } finally {
      await first.trouble(null);
    }
  },
  90_000,
);
