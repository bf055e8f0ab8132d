/** The limiter on a Redis that fails in ways that a real one rarely shows. */
import { createHash } from 'node:crypto';
import { drawnOf, limitOf } from '@gw/testing/service/limiters';
import { pino } from 'pino';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Command, Reply } from '../redis-writer.ts';
import { type Limiter, openLimiter } from './limiter.ts';

const lost = 'account-of-the-lost-node';
const drawn = drawnOf(limitOf(10, 10, 10));

type Send = (...commands: readonly Command[]) => Promise<readonly Reply[]>;

function limiterOn(send: Send): Limiter {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const limiter = openLimiter({
    redis: { send, renew: () => undefined },
    now: Date.now,
    monotonic: Date.now,
    instances: 1,
    log: pino({ level: 'silent' }),
    patienceMs: 250,
    probeMs: 100,
    scripts: { take: 'take', settle: 'settle', left: 'left' },
  });
  onTestFinished(limiter.stop);
  return limiter;
}
const answers = (commands: readonly Command[]): readonly Reply[] => commands.map(() => [0, Date.now(), 5000, 1]);

test('limits are local until the node that failed answers, whatever the other nodes do', async () => {
  let isLost = true;
  const limiter = limiterOn(async (...commands) => {
    if (isLost && commands.some((command) => command.join(' ').includes(`{${lost}}`))) throw new Error('CLUSTERDOWN');
    return answers(commands);
  });
  await limiter.decide('another', 'calls', drawn);
  expect(limiter.local()).toBe(false);
  await limiter.decide(lost, 'calls', drawn);
  await vi.advanceTimersByTimeAsync(5000);
  expect(limiter.local()).toBe(true);
  isLost = false;
  await vi.advanceTimersByTimeAsync(200);
  expect(limiter.local()).toBe(false);
});

test('what was admitted is told again if the connection breaks while it is told, though nobody asks meanwhile', async () => {
  const settle = createHash('sha1').update('settle').digest('hex');
  let isAway = true;
  const told: string[] = [];
  const limiter = limiterOn(async (...commands) => {
    if (isAway) throw new Error('gone');
    const settled = commands.find((command) => command.includes(settle));
    if (settled) told.push(String(settled.at(-3)));
    if (settled && told.length === 1) throw new Error('gone again');
    return answers(commands);
  });
  await limiter.decide(lost, 'calls', drawn);
  await limiter.decide(lost, 'calls', drawn);
  isAway = false;
  await vi.advanceTimersByTimeAsync(1000);
  expect(limiter.local()).toBe(false);
  expect(told).toEqual(['2', '2']);
});
