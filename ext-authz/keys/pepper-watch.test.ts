import { hmacSha256 } from '@gw/contract/internal/hmac';
import type { Statements } from '@gw/prisma/statements';
import type { Logger } from '@gw/service/log';
import { expect, it, vi } from 'vitest';
import { watchPeppers } from './pepper-watch.ts';

const pepper = { version: 1, secret: Buffer.alloc(32, 7) };
const peppers = { current: pepper, other: null };
const digest = hmacSha256(pepper.secret, 'gw.pepper\n1');

it('says once that the pepper is wrong, and when it fits; while Postgres is away nothing changes', async () => {
  let answer: () => Promise<unknown> = async () => [];
  const db = { $queryRaw: () => answer() } as unknown as Statements;
  const errors: string[] = [];
  const log = { error: (_: unknown, text: string) => errors.push(text), info: () => {} } as unknown as Logger;
  const watch = await watchPeppers({ db, peppers, log, everyMs: 5 });
  expect(watch.allFit()).toBe(true);
  answer = async () => [{ check_value: Buffer.alloc(32) }];
  await vi.waitFor(() => expect(watch.allFit()).toBe(false));
  answer = () => Promise.reject(new Error('away'));
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect([watch.allFit(), watch.fits(1), watch.fits(2)]).toEqual([false, false, true]);
  answer = async () => [{ check_value: digest }];
  await vi.waitFor(() => expect(watch.allFit()).toBe(true));
  watch.stop();
  expect(errors).toHaveLength(1);
  expect(errors[0]).toContain('GW_KEY_PEPPER is not the pepper that the stored keys are hashed with');
});

it('serves with a wrong previous pepper, which is told; keys of that one alone are refused', async () => {
  const previous = { version: 2, secret: Buffer.alloc(32, 8) };
  const stored = new Map([
    [1, digest],
    [2, Buffer.alloc(32)],
  ]);
  const db = {
    $queryRaw: async (_: unknown, version: number) => [{ check_value: stored.get(version) }],
  } as unknown as Statements;
  const log = { error: vi.fn(), info: () => {} } as unknown as Logger;
  const watch = await watchPeppers({ db, peppers: { current: pepper, other: previous }, log });
  watch.stop();
  expect([watch.isServing(), watch.allFit(), watch.fits(1), watch.fits(2)]).toEqual([true, false, true, false]);
  expect(log.error).toHaveBeenCalledOnce();
  const exchanged = await watchPeppers({ db, peppers: { current: previous, other: pepper }, log });
  exchanged.stop();
  expect([exchanged.isServing(), exchanged.fits(1)]).toEqual([false, true]);
});
