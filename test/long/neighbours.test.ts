/**
 * One account sends bodies of 1 KiB to 10 MiB within its limits, its burst at once and then as many as it may, in several scripts and
 * tiers. The tiny calls of another account take at most three times as long meanwhile, and none is lost.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { forFile } from '@gw/testing/for-file';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { answerChat } from '../chat-reply.ts';
import { type Reply, send } from '../input/ask.ts';
import { apiOf } from '../operator-api.ts';
import { eventually, startOwnGateway } from '../outage/own-gateway.ts';
import { startTinyCalls, type TinyCall } from './neighbour-calls.ts';

const gateway = forFile(startOwnGateway);
const model = 'crowd/m';
let provider: Server;

/** A provider of their own, or the neighbours would wait for each other there. */
beforeAll(async () => {
  provider = createServer((request, response) => {
    request.resume().on('end', () => answerChat(response, { model: 'm' }, 'Yes.'));
  });
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  const { port } = provider.address() as AddressInfo;
  const api = apiOf(gateway.stack);
  await api.send('POST', '/operator/v1/models', { id: model, owned_by: 'test', kind: 'chat', model_class: 'small' });
  await api.send('PUT', '/operator/v1/credentials/CROWD', { value: 'secret', base_url: `http://127.0.0.1:${port}` });
  await api.send('POST', '/operator/v1/providers', {
    id: 'crowd',
    name: 'crowd',
    base_url: `http://127.0.0.1:${port}`,
    path: '{endpoint}',
    credential_ref: 'CROWD',
  });
  const place = { name: 'crowd', country: 'FR', grid_zone: 'FRA', preference: 50 };
  await api.send('POST', '/operator/v1/regions', { code: 'crowd', ...place });
  await api.send('POST', '/operator/v1/deployments', {
    id: 'crowd',
    provider: 'crowd',
    region: 'crowd',
    models: { [model]: 'm' },
    pue: 1.1,
  });
  await eventually('the crowd to be answered', async () => (await ask('audit', bodyOf('hi'))).status === 200);
});
afterAll(() => void provider?.close());

const bodyOf = (content: string): string => JSON.stringify({ model, messages: [{ role: 'user', content }] });
const ask = (tier: Tier, body: string): Promise<Reply> => {
  const { publicUrl: url, keys } = gateway.stack;
  return send({ url, key: keys[tier], body });
};

type Tier = 'audit' | 'auditPlus';
/** Somewhat below the burst of each tier in calls. */
const bursts: Readonly<Record<Tier, number>> = { audit: 180, auditPlus: 700 };
/** The most bytes that wait for their answers at the same time. */
const mostBytes = 60 * 1024 * 1024;
const crowdMs = 10_000;

const scripts = {
  Latin: 'The committee reviewed the annual report of the library. ',
  Arabic: 'اللجنة راجعت التقرير السنوي ',
  Chinese: '委员会审阅了图书馆的年度报告',
  emoji: '😀👍🏽🎉',
  'combining marks': 'e\u0301\u0302a\u0308\u0323',
  'signs that become seven letters': '\ufdfb',
} as const;
type Script = keyof typeof scripts;
const costliest: Script = 'signs that become seven letters';

const sizes = [1, 16, 63, 127, 1024, 10_230] as const;
const rows = [
  ...sizes.flatMap((kib) => (['audit', 'auditPlus'] as const).map((tier) => ({ kib, tier, script: costliest }))),
  ...(Object.keys(scripts) as Script[]).map((script) => ({ kib: 63, tier: 'auditPlus' as const, script })),
];

const p99 = (calls: readonly TinyCall[]): number => {
  const sorted = calls.map(({ ms }) => ms).sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length * 0.99)] ?? Number.POSITIVE_INFINITY;
};

test.each(rows)('bodies of $kib KiB of $script, sent at once by a key of $tier', async ({ kib, script, tier }) => {
  const unit = scripts[script];
  const body = bodyOf(unit.repeat(Math.max(1, Math.floor((kib * 1024 - 200) / Buffer.byteLength(unit)))));
  const count = Math.min(bursts[tier], Math.max(8, Math.floor(mostBytes / Buffer.byteLength(body))));
  const { publicUrl, keys } = gateway.stack;
  const others = await startTinyCalls(publicUrl, keys.enterprise);
  try {
    await delay(3000);
    const quiet = await others.take();
    const outcomes = new Map<number, number>();
    const end = performance.now() + crowdMs;
    const sender = async () => {
      while (performance.now() < end) {
        const { status, headers } = await ask(tier, body);
        outcomes.set(status, (outcomes.get(status) ?? 0) + 1);
        // As the official SDKs wait: a flood of refused calls is the matter of key-flood.test.ts.
        if (status !== 200) await delay(Number(headers['retry-after'] ?? 1) * 1000);
      }
    };
    await Promise.all(Array.from({ length: count }, sender));
    const crowded = await others.take();
    const seen = `${kib} KiB ${script} ${tier}: ${JSON.stringify([...outcomes])}; others: ${crowded.length} calls, p99 ${p99(quiet).toFixed(0)} → ${p99(crowded).toFixed(0)} ms`;
    console.log(seen);
    for (const status of outcomes.keys()) expect([200, 429, 503], seen).toContain(status);
    expect(crowded.length, seen).toBeGreaterThan(0);
    expect(crowded.filter(({ isDegraded, status }) => status !== 200 || isDegraded)).toEqual([]);
    expect(p99(crowded), seen).toBeLessThanOrEqual(3 * p99(quiet));
  } finally {
    await others.stop();
  }
  // Its buckets fill up again.
  await delay(4000);
});
