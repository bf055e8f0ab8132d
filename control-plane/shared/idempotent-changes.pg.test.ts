/** Changes with an idempotency key while the store of the keys or the client fails, or a reply is too large. */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type ApiError, apiError } from '@gw/contract/errors';
import type { Waiting } from '@gw/service/idempotency';
import { startTestApp, type TestApp } from '@gw/testing/control-plane/app';
import { type StoresWithOwnRedis, startStoresWithOwnRedis } from '@gw/testing/control-plane/fixtures';
import {
  codeOf,
  openKeyedAccounts,
  type Reply,
  reexecuted,
  replayed,
  shown,
} from '@gw/testing/control-plane/idempotency';
import Fastify from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Idempotent, makeChangesIdempotent } from './idempotent-changes.ts';

let stores: StoresWithOwnRedis;
let running: TestApp;
beforeAll(async () => {
  stores = await startStoresWithOwnRedis();
  running = await startTestApp(undefined, stores);
}, 120_000);
afterAll(() => running?.stop());

/** An application of changes, without anything around them. `change` runs within one. */
function appOf(
  change: () => unknown,
  idempotency: Idempotent = running.services.idempotency,
  refusal: ApiError | null = null,
) {
  const app = Fastify();
  const scope = randomUUID();
  makeChangesIdempotent(app, running.context, {
    idempotency,
    actors: { scopeOf: () => scope, stampOf: () => '', refusal: async () => refusal },
  });
  let times = 0;
  app.post('/v1/things', async () => {
    times += 1;
    return change();
  });
  const ask = (key = 'once'): Promise<Reply> =>
    app.inject({ method: 'POST', url: '/v1/things', headers: { 'idempotency-key': key } });
  return { app, ask, times: () => times };
}

test('a request waits for up to 20 s for one that runs, and is told to come back', async () => {
  const waits: (Waiting | null)[] = [];
  const appAt = (waited: boolean) =>
    appOf(() => ({}), {
      claim: async (_, waiting) => {
        waits.push(waiting);
        return { is: 'running', waited };
      },
    });
  const { ask, times } = appAt(true);
  const [late, crowded] = [await ask(), await appAt(false).ask()];
  for (const reply of [late, crowded]) expect(codeOf(reply)).toEqual([429, 'idempotency_in_progress', null]);
  expect([late, crowded].map(({ headers }) => headers['retry-after'])).toEqual(['1', '5']);
  expect(waits.map((waiting) => waiting?.mostMs)).toEqual([20_000, 20_000]);
  expect(times()).toBe(0);
});

test('who may no longer make the change when it has the claim makes none, and leaves the key free', async () => {
  const freed: boolean[] = [];
  const claim = {
    mayHaveRun: false,
    seal: async () => Buffer.alloc(0),
    finish: async () => 'kept' as const,
    free: (mayHaveRun: boolean) => void freed.push(mayHaveRun),
  };
  const claims: Idempotent = { claim: async () => ({ is: 'claimed', claim }) };
  const { ask, times } = appOf(() => ({}), claims, apiError('insufficient_scope'));
  expect(codeOf(await ask())).toEqual([403, 'insufficient_scope', null]);
  expect([freed, times()]).toEqual([[false], 0]);
});

test('a reply above 2 MiB is not kept: the change is not made again, and the refusal names the request', async () => {
  const { ask, times } = appOf(() => ({ text: 'x'.repeat(2 * 1024 * 1024) }));
  expect((await ask()).statusCode).toBe(200);
  const again = await ask();
  expect(codeOf(again)).toEqual([409, 'idempotency_reply_not_kept', 'Idempotency-Key']);
  expect(again.json().error.message).toContain('req-1');
  expect(times()).toBe(1);
});

test('a change whose client leaves is made to its end, and its reply can be had', async () => {
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const { app, ask, times } = appOf(async () => {
    await ended;
    return { made: true };
  });
  const url = `${await app.listen({ host: '127.0.0.1', port: 0 })}/v1/things`;
  const leaving = new AbortController();
  const headers = { 'idempotency-key': 'once' };
  const first = fetch(url, { method: 'POST', headers, signal: leaving.signal }).catch(() => 'left');
  while (times() === 0) await delay(5);
  leaving.abort();
  expect(await first).toBe('left');
  const second = ask();
  end();
  expect([(await second).json(), replayed(await second)]).toEqual([{ made: true }, 'true']);
  expect(times()).toBe(1);
  await app.close();
});

test('what fails frees its key with a word for the next one, and what is refused without', async () => {
  const statuses = [503, 409, 200];
  const { app, ask } = appOf(() => null);
  app.addHook('onRequest', async (_request, reply) => {
    void reply.code(statuses.shift() ?? 200);
  });
  // The word stays, also with the reply: whoever gets that again has perhaps not seen it.
  const replies = [await ask(), await ask(), await ask(), await ask()];
  const told = 'change-may-have-been-made';
  expect(replies.map((reply) => [reply.statusCode, reexecuted(reply), replayed(reply)])).toEqual([
    [503, undefined, undefined],
    [409, told, undefined],
    [200, told, undefined],
    [200, told, 'true'],
  ]);
});

test('without Redis nothing is changed that came with a key, and everything else is', async () => {
  const { ask, made } = await openKeyedAccounts(running)();
  const key = randomUUID();
  const first = await ask('/v1/keys', key, { name: 'k' });
  await stores.stopRedis();
  for (const name of [key, randomUUID()]) {
    const refused = await ask('/v1/keys', name, { name: 'k' });
    expect([...codeOf(refused), refused.headers['retry-after']]).toEqual([503, 'idempotency_unavailable', null, '1']);
  }
  expect(await made()).toBe(1);
  expect((await ask('/v1/keys', null, { name: 'without' })).statusCode).toBe(200);
  expect(await made()).toBe(2);
  await stores.startRedis();
  // It came back empty: what was done with the key before is forgotten.
  const again = await ask('/v1/keys', key, { name: 'k' });
  expect([again.statusCode, replayed(again), shown(again)[1] === shown(first)[1]]).toEqual([200, undefined, false]);
});

test('a change is confirmed although its reply cannot be stored', async () => {
  const { app, ask } = appOf(async () => {
    await stores.stopRedis();
    return { made: true };
  });
  const reply = await ask();
  expect([reply.statusCode, reply.json()]).toEqual([200, { made: true }]);
  await app.close();
  await stores.startRedis();
});

test('whose client has gone before it begins to wait does not wait', async () => {
  let asked = () => {};
  const arrived = new Promise<void>((resolve) => {
    asked = resolve;
  });
  let told = () => {};
  const gone = new Promise<void>((resolve) => {
    told = resolve;
  });
  let left = () => {};
  const closed = new Promise<void>((resolve) => {
    left = resolve;
  });
  const { app } = appOf(() => ({}), {
    claim: async (_, waiting) => {
      asked();
      await closed;
      waiting?.onGone(told);
      return { is: 'running', waited: true };
    },
  });
  app.addHook('onRequest', async (_request, reply) => void reply.raw.once('close', left));
  const url = `${await app.listen({ host: '127.0.0.1', port: 0 })}/v1/things`;
  const leaving = new AbortController();
  const headers = { 'idempotency-key': 'once' };
  const first = fetch(url, { method: 'POST', headers, signal: leaving.signal }).catch(() => 'left');
  await arrived;
  leaving.abort();
  expect(await first).toBe('left');
  await gone;
  await app.close();
});
