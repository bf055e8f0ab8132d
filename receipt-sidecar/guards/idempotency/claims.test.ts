import { apiError } from '@gw/contract/errors';
import type { ClaimResult, KeyedCall, Waiting } from '@gw/service/idempotency';
import { expect, test } from 'vitest';
import type { ParsedRequest } from '../../api/port/parsed-request.ts';
import { Claims, type RequestWithKey } from './claims.ts';

const claim = {
  mayHaveRun: true,
  seal: async () => Buffer.alloc(0),
  finish: async () => 'kept' as const,
  free: () => undefined,
};

async function find(found: ClaimResult, arrivedAt = performance.now()) {
  const seen: { call?: KeyedCall; waiting?: Waiting | null; counted: string[]; givenBack: number } = {
    counted: [],
    givenBack: 0,
  };
  const claims = new Claims({
    idempotency: {
      claim: async (call, waiting) => {
        Object.assign(seen, { call, waiting });
        return found;
      },
    },
    giveBack: async () => {
      seen.givenBack += 1;
      throw new Error('Redis is away.');
    },
    metrics: { found: (outcome) => void seen.counted.push(outcome) },
  });
  const request = {
    caller: { accountId: 'a', keyId: 'k' },
    path: '/v1/x',
    arrivedAt,
    idempotencyKey: 'once',
    onGone: () => undefined,
  } as unknown as RequestWithKey;
  const outcome = await claims.find(request, { bodySha256: 'sha', promptBytes: 7 } as ParsedRequest);
  return { outcome, ...seen };
}

test('a call is asked for with its account, path, key and body, and waits 20 s from when its body was whole', async () => {
  const at = await find({ is: 'claimed', claim }, performance.now() - 8000);
  expect(at.call).toEqual({ accountId: 'a', path: '/v1/x', key: 'once', body: 'sha' });
  expect(at.waiting?.bytes).toBe(7);
  expect(at.waiting?.mostMs).toBeGreaterThan(11_000);
  expect(at.waiting?.mostMs).toBeLessThanOrEqual(12_000);
  expect([at.outcome, at.counted, at.givenBack]).toEqual([{ outcome: 'claimed', claim }, ['rerun'], 0]);
});

test('a replay says that it is one, and gives its unit of the day back, even if that fails', async () => {
  const reply = { status: 200, headers: { a: 'b' }, body: [] };
  const { givenBack, outcome } = await find({ is: 'replay', reply });
  expect(outcome).toEqual({
    outcome: 'replayed',
    reply: { ...reply, headers: { a: 'b', 'idempotent-replayed': 'true' } },
  });
  expect(givenBack).toBe(1);
});

test.each([
  [{ is: 'reused' }, apiError('idempotency_key_reused', { param: 'Idempotency-Key' })],
  [{ is: 'running', waited: true }, apiError('idempotency_in_progress', { retryAfterS: 1 })],
  [{ is: 'running', waited: false }, apiError('idempotency_in_progress', { retryAfterS: 5 })],
  [{ is: 'unknown' }, apiError('idempotency_unavailable', { retryAfterS: 1 })],
] as const)('what is found to be %j is refused, and takes nothing back', async (found, error) => {
  expect(await find(found)).toMatchObject({ outcome: { outcome: 'refused', error }, givenBack: 0 });
});

test('a call whose reply was not kept is refused with its receipt', async () => {
  const { outcome } = await find({ is: 'not_kept', reference: 'rcpt_1' });
  expect(outcome).toMatchObject({
    outcome: 'refused',
    receiptId: 'rcpt_1',
    error: { code: 'idempotency_reply_not_kept', status: 409, message: expect.stringContaining('rcpt_1') },
  });
});
