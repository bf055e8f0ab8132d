/** The hostile provider behind a gateway, and what both official clients make of its replies. */

import { execFile } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Receipt } from '@gw/contract/receipt';
import { type Database, openDatabase, Prisma } from '@gw/prisma/client';
import { inCheckout } from '@gw/stack/checkout';
import { firstVersions } from '@gw/testing/control-plane/calls';
import { receiptInReply } from '@gw/testing/receipt-in-reply';
import OpenAI from 'openai';
import { expect, vi } from 'vitest';
import { z } from 'zod';
import { apiOf, removeEntries } from '../operator-api.ts';
import { pythonWithClient } from '../sdk/python-client.ts';
import { startHostileProvider } from './provider.ts';
import { marker } from './replies.ts';

export interface Gateway {
  readonly publicUrl: string;
  readonly controlUrl: string;
  readonly operatorToken: string;
  readonly databaseUrl: string;
  readonly keys: { readonly enterprise: string };
}

/** One reply as a client read it. */
export interface Seen {
  readonly seed: number;
  readonly objects: readonly unknown[];
  readonly error: string | null;
}

export const model = 'hostile/m';
const maxTokens = 64;
const entries = ['deployments/hostile', `models/${model}`, 'providers/hostile'];

export async function addHostileProvider(gateway: Gateway) {
  const provider = await startHostileProvider();
  const operator = apiOf(gateway);
  const remove = () => removeEntries(operator, ...entries);
  await remove();
  const facts = {
    owned_by: 'hostile',
    kind: 'chat',
    active_parameters_b: 8,
    total_parameters_b: 8,
    model_class: 'small',
  };
  const added: readonly (readonly [string, object])[] = [
    ['providers', { id: 'hostile', name: 'Hostile', kind: 'openai', base_url: provider.url }],
    ['models', { id: model, ...facts }],
    [
      'deployments',
      { id: 'hostile', provider: 'hostile', region: 'us-east', models: { [model]: 'inner-name-7b' }, pue: 1.1 },
    ],
  ];
  for (const [path, body] of added) await operator.send('POST', `/operator/v1/${path}`, body);
  const client = clientOf(gateway);
  const plain = () => client.chat.completions.create({ model, messages: [{ role: 'user', content: 'plain' }] });
  const answers = () =>
    plain().then(
      () => true,
      () => false,
    );
  await vi.waitUntil(answers, { timeout: 20_000, interval: 200 });
  const db = openDatabase(gateway.databaseUrl, { connections: 1 });
  return {
    provider,
    db,
    close: async () => {
      await remove();
      await db.$disconnect();
      await provider.close();
    },
  };
}

const clientOf = ({ publicUrl, keys }: Gateway) =>
  new OpenAI({ baseURL: `${publicUrl}/v1`, apiKey: keys.enterprise, maxRetries: 0, logLevel: 'off' });

/** Calls by the official client for Node, some at a time. */
export async function seenByNode(gateway: Gateway, from: number, count: number): Promise<Seen[]> {
  const client = clientOf(gateway);
  const seen: Seen[] = [];
  let next = from;
  const worker = async () => {
    while (next < from + count) seen.push(await ask(client, next++));
  };
  await Promise.all(Array.from({ length: 8 }, worker));
  return seen;
}

async function ask(client: OpenAI, seed: number): Promise<Seen> {
  const objects: unknown[] = [];
  const request = { model, messages: [{ role: 'user' as const, content: String(seed) }], max_tokens: maxTokens };
  try {
    if (seed % 4 === 0) objects.push(await client.chat.completions.create(request));
    else {
      const more = seed % 3 === 0 ? { stream_options: { include_usage: true } } : {};
      for await (const chunk of await client.chat.completions.create({ ...request, ...more, stream: true }))
        objects.push(chunk);
    }
    return { seed, objects, error: null };
  } catch (error) {
    return { seed, objects, error: nameOf(error) };
  }
}

function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // `fetch` throws this if a reply breaks off.
  return error.message === 'terminated' ? 'Terminated' : error.constructor.name;
}

const seenSchema = z.object({ seed: z.number(), objects: z.array(z.unknown()), error: z.string().nullable() });

export async function seenByPython(gateway: Gateway, from: number, count: number): Promise<Seen[]> {
  const python = await pythonWithClient((line) => process.stderr.write(`${line}\n`));
  const env = {
    PATH: process.env.PATH,
    LANG: 'C.UTF-8',
    GW_TEST_BASE_URL: `${gateway.publicUrl}/v1`,
    GW_TEST_KEY: gateway.keys.enterprise,
    GW_TEST_MODEL: model,
    GW_TEST_FROM: String(from),
    GW_TEST_COUNT: String(count),
  };
  const script = inCheckout('test', 'hostile', 'python', 'replies.py');
  const { stdout } = await promisify(execFile)(python, ['-B', script], { env, maxBuffer: 2 ** 28 });
  return stdout
    .trim()
    .split('\n')
    .map((line) => seenSchema.parse(JSON.parse(line)));
}

const parts = z.looseObject({
  gw: z.unknown().optional(),
  routing_trace: z.unknown().optional(),
  usage: z.looseObject({ gw: z.unknown().optional() }).nullish().catch(null),
});

/** Returns the receipts, each of which has been seen to be ours, to say nothing impossible and to be the one in the ledger. */
export async function expectHonest(db: Database, seen: readonly Seen[]): Promise<Receipt[]> {
  const receipts: Receipt[] = [];
  for (const { seed, objects, error } of seen) {
    // An event or body that a client cannot read is not ours.
    expect(error ?? '', `reply ${seed}`).not.toMatch(/Syntax|Decode|Type|Key|Attribute/);
    const shown = objects.map((each) => parts.parse(each));
    const said = JSON.stringify(shown.map((each) => [each.gw, each.routing_trace, each.usage?.gw]));
    expect(said, `reply ${seed}`).not.toMatch(new RegExp(marker, 'i'));
    const found = shown.flatMap(({ gw }) => (gw === undefined || gw === null ? [] : [receiptInReply.parse(gw)]));
    // On the last chunk with choices, and on the usage chunk of a client that asked for it.
    const [receipt, again = receipt] = found;
    expect([found.length <= 2, again], `reply ${seed}`).toEqual([true, receipt]);
    if (receipt === undefined) continue;
    receipts.push(receipt);
    const { id: receipt_id, energy_wh, carbon_g } = receipt;
    for (const { usage } of shown)
      if (usage?.gw !== undefined) expect(usage.gw, `reply ${seed}`).toEqual({ receipt_id, energy_wh, carbon_g });
  }
  const ids = receipts.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  const stored = await inLedger(db, ids);
  for (const receipt of receipts) expect(receipt).toEqual(stored.get(receipt.id));
  for (const receipt of receipts) expectPossible(receipt);
  return receipts;
}

/** The prompt is a number, and no reply is longer than a few kilobytes. */
const longestReply = 8 * 1024;

function expectPossible({ id, prompt_tokens, completion_tokens, energy_wh }: Receipt): void {
  expect(prompt_tokens ?? 0, id).toBeLessThan(1000);
  expect(completion_tokens ?? 0, id).toBeLessThanOrEqual(Math.max(maxTokens, longestReply));
  expect(energy_wh ?? 0, id).toBeLessThan(100);
}

async function inLedger(db: Database, ids: readonly string[]): Promise<ReadonlyMap<string, unknown>> {
  for (let tries = 0; tries < 100; tries++) {
    const found = new Map<string, unknown>();
    for (let at = 0; at < ids.length; at += 1000) {
      const some = ids.slice(at, at + 1000);
      for (const { id, body } of await firstVersions(db, Prisma.sql`r.id = ANY (${some})`)) found.set(id, body);
    }
    if (found.size === ids.length) return found;
    await delay(250);
  }
  throw new Error(`Not all of ${ids.length} receipts came into the ledger.`);
}
