/**
 * A client that leaves harms nobody else, whenever and wherever in its call it leaves: even after a minute, which is what
 * users of long answers do all day.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { call, expectCompletion, processIds, stack } from '../input/ask.ts';
import { type CallPlace, callNames, calls, withoutSidecar } from './calls.ts';

const place: CallPlace = { publicUrl: stack.publicUrl, simulatorUrl: stack.simulatorUrl, key: stack.keys.enterprise };

/**
 * After 50 s without a new call Envoy forgets its client of the sidecar, which streams still hold. So a minute in which
 * nothing else asks the sidecar is another one than a busy minute, and only what does not ask it fills this one.
 */
const minuteMs = 61_000;

test('streams that are left after a quiet minute, and what is left meanwhile without the sidecar, harm no other', async () => {
  const { envoy } = processIds();
  const beganAt = performance.now();
  const streams = await Promise.all([
    ...Array.from({ length: 6 }, () => calls['a stream'](place)),
    ...Array.from({ length: 6 }, () => calls['a stream over HTTP/2'](place)),
  ]);
  while (performance.now() - beganAt < minuteMs) {
    for (const name of withoutSidecar) (await calls[name](place))();
    await delay(Math.max(1, Math.min(200, minuteMs - (performance.now() - beganAt))));
  }
  for (const leave of streams) leave();
  // Calls that end a second late are over as well.
  await delay(1500);
  expect(processIds().envoy).toBe(envoy);
  expectCompletion(await call());
}, 120_000);

test.each(callNames)('%s, left in its middle, harms no other', async (name) => {
  const { envoy } = processIds();
  for (let round = 0; round < 5; round += 1) {
    const leaving = await Promise.all(Array.from({ length: 4 }, () => calls[name](place)));
    const beside = call();
    for (const leave of leaving) leave();
    expectCompletion(await beside);
    expectCompletion(await call());
  }
  expect(processIds().envoy).toBe(envoy);
});
