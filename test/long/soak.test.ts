/**
 * Half an hour of 100 open streams and, beside them, calls at half the rate that the machine takes: no process grows, no file
 * descriptor and no key of Valkey is left behind, and the ledger has each receipt once. `GW_SOAK_MINUTES` is another time.
 */
import { readdirSync } from 'node:fs';
import { Agent } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { elementAt } from '@gw/contract/internal/defined';
import { forFile } from '@gw/testing/for-file';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isWhole, loadCalls, runLoad, send } from '../outage/load-client.ts';
import { median, watchMemory } from '../outage/memory.ts';
import { eventually, startOwnGateway } from '../outage/own-gateway.ts';

const minutes = Number(process.env.GW_SOAK_MINUTES ?? 30);
const minuteMs = 60_000;
const parts = ['envoy', 'ext-authz', 'receipt-sidecar', 'control-plane', 'valkey', 'postgres'] as const;
const streams = 100;
const connections = 32;
/** A sixth of the time, in samples of one a second: what comes behind the first sixth is held against the last one. */
const warmS = minutes * 10;

const gateway = forFile(startOwnGateway);
let redis: Redis;
beforeAll(() => {
  redis = new Redis(gateway.stack.redisUrl);
});
afterAll(async () => {
  redis?.disconnect();
});

const pidsNow = () => new Map(parts.map((name) => [name, gateway.stack.part(name).pid ?? 0]));
const descriptors = () => new Map([...pidsNow()].map(([name, pid]) => [name, readdirSync(`/proc/${pid}/fd`).length]));

/** Streams of a minute, one after the other, until told to stop; then the ids of their receipts. */
function openStreams(): () => Promise<string[]> {
  const { publicUrl, keys } = gateway.stack;
  const body = JSON.stringify({ model: 'sim-small', messages: [{ role: 'user', content: 'Go on.' }], stream: true });
  const headers = {
    authorization: `Bearer ${keys.enterprise}`,
    'content-type': 'application/json',
    'x-sim-tokens': '300',
    'x-sim-tokens-per-second': '5',
  };
  const ids: string[] = [];
  let isWanted = true;
  const one = async () => {
    while (isWanted) {
      const reply = await fetch(`${publicUrl}/v1/chat/completions`, { method: 'POST', headers, body });
      const text = await reply.text();
      if (!text.endsWith('data: [DONE]\n\n'))
        throw new Error(`A stream ended with ${reply.status}: ${text.slice(-300)}`);
      ids.push(String(reply.headers.get('x-gw-receipt-id')));
    }
  };
  const all = Promise.all(Array.from({ length: streams }, one));
  return async () => {
    isWanted = false;
    await all;
    return ids;
  };
}

/** Calls one after the other on each of some connections, as many a second as `perS` in all. */
async function pacedCalls(perS: number, durationMs: number): Promise<string[]> {
  const { publicUrl, keys } = gateway.stack;
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const ids: string[] = [];
  const end = performance.now() + durationMs;
  const periodMs = (connections * 1000) / perS;
  const one = async (connection: number) => {
    await delay((connection * periodMs) / connections);
    for (let turn = connection; performance.now() < end; turn += 1) {
      const began = performance.now();
      const call = elementAt(loadCalls, turn % loadCalls.length);
      const reply = await send(agent, `${publicUrl}${call.path}`, `Bearer ${keys.enterprise}`, call.body);
      const id = String(reply.headers['x-gw-receipt-id']);
      if (reply.status !== 200 || !isWhole(reply, id))
        throw new Error(`A call ended with ${reply.status}: ${reply.text}`);
      ids.push(id);
      await delay(Math.max(0, periodMs - (performance.now() - began)));
    }
  };
  await Promise.all(Array.from({ length: connections }, (_, connection) => one(connection)));
  agent.destroy();
  return ids;
}

test(`${minutes} minutes: memory, file descriptors and keys stay what they are`, {
  timeout: (minutes + 10) * minuteMs,
}, async () => {
  const { publicUrl, keys } = gateway.stack;
  const since = new Date();
  const stopStreams = openStreams();
  const most = await runLoad({ publicUrl, connections, durationMs: 20_000, keyOf: () => keys.enterprise });
  const perS = most.receiptIds.length / 20 / 2;
  console.log(`${(perS * 2).toFixed(0)} calls a second are what it takes; ${perS.toFixed(0)} from here on`);
  const pids = pidsNow();
  const watch = watchMemory(pids);
  const calls = pacedCalls(perS, minutes * minuteMs);
  await delay(warmS * 1000);
  const before = descriptors();
  await delay(minutes * minuteMs * 0.9 - warmS * 1000);
  const after = { keys: await redis.keys('*'), descriptors: descriptors() };
  const ids = [...most.receiptIds, ...(await calls)];
  const memory = watch.stop();
  ids.push(...(await stopStreams()));
  await eventually('all rows', async () => (await gateway.ledger.count(since)).rows >= ids.length, 120_000);
  expect(await gateway.ledger.count(since)).toEqual({ rows: ids.length, ids: new Set(ids).size });
  expect(pidsNow()).toEqual(pids);
  console.log(
    `${ids.length} receipts; keys: ${after.keys.length}; descriptors: ${JSON.stringify([...after.descriptors])}`,
  );
  const grown: string[] = [];
  for (const [name, values] of memory) {
    const [warm, late] = [values.slice(warmS, 2 * warmS), values.slice(-warmS)].map(median);
    const seen = `${name}: ${warm?.toFixed(1)} MB after the first minutes, ${late?.toFixed(1)} MB at the end`;
    console.log(seen);
    if (Number(late) > 1.05 * Number(warm)) grown.push(seen);
  }
  for (const [name, count] of after.descriptors) {
    const first = before.get(name) ?? 0;
    if (count > first + 20) grown.push(`${name} holds ${count} descriptors, ${first} after the first minutes`);
  }
  expect(grown).toEqual([]);
  // One for each open stream, and what does not depend on the number of calls.
  expect(after.keys.length, after.keys.slice(0, 50).join(' ')).toBeLessThan(2 * streams + 200);
});
