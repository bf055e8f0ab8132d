/**
 * Clients leave streams of any age, and calls in the middle of everything else, and Envoy goes on, even while its
 * configuration changes under open streams.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { forFile } from '@gw/testing/for-file';
import { beforeAll, expect, test } from 'vitest';
import { type CallPlace, callNames, calls, type Leave } from '../cancel/calls.ts';
import { apiOf } from '../operator-api.ts';
import { startOwnGateway } from '../outage/own-gateway.ts';

const gateway = forFile(startOwnGateway);
let place: CallPlace;
beforeAll(() => {
  const { publicUrl, simulatorUrl, keys } = gateway.stack;
  place = { publicUrl, simulatorUrl, key: keys.enterprise };
});

const pid = () => gateway.stack.part('envoy').pid;
const agesS = [3, 30, 61, 65, 130];
/** Calls that are left in mid-reply, and one that is left before its reply. */
const kinds = [
  'a stream',
  'a stream over HTTP/2',
  'a stream of completions',
  'a stream before its first event',
] as const;

test('streams that are left after 3, 30, 61, 65 and 130 s with nothing beside them', async () => {
  const envoy = pid();
  const beganAt = performance.now();
  const streams = new Map<number, readonly Leave[]>();
  for (const age of agesS) streams.set(age, await Promise.all([...kinds, ...kinds].map((kind) => calls[kind](place))));
  for (const [age, leaving] of streams) {
    await delay(Math.max(1, age * 1000 - (performance.now() - beganAt)));
    for (const leave of leaving) leave();
    // Calls that end a second late are over as well.
    await delay(1500);
    expect(pid(), `after ${age} s`).toBe(envoy);
  }
  expect((await gateway.client.chat()).status).toBe(200);
});

test('everything else is left in its middle two thousand times, and no other call fails', async () => {
  const envoy = pid();
  let others = 0;
  let going = true;
  const beside = Array.from({ length: 4 }, async () => {
    for (; going; others += 1) expect((await gateway.client.chat()).status).toBe(200);
  });
  const names = callNames.filter((name) => name !== 'a stream whose end the sidecar waits for');
  for (let round = 0; round < 25; round += 1)
    await Promise.all(names.flatMap((name) => Array.from({ length: 9 }, async () => (await calls[name](place))())));
  going = false;
  await Promise.all(beside);
  expect(others).toBeGreaterThan(100);
  expect(pid()).toBe(envoy);
});

test.each(['control-plane', 'receipt-sidecar'] as const)('calls are left while %s stands still', async (part) => {
  const envoy = pid();
  const names =
    part === 'control-plane'
      ? (['a route of the control plane'] as const)
      : (['a call as soon as it is sent'] as const);
  const streams = await Promise.all([calls['a stream'](place), calls['a stream over HTTP/2'](place)]);
  const goOn = gateway.pause(part);
  try {
    for (let round = 0; round < 20; round += 1)
      for (const name of names) {
        const leave = await calls[name](place);
        await delay(25);
        leave();
      }
    for (const leave of streams) leave();
    await delay(1500);
  } finally {
    goOn();
  }
  await gateway.whole();
  expect(pid()).toBe(envoy);
});

test('a deployment is changed again and again under streams that last, which drains its listener', async () => {
  const envoy = pid();
  const streams = await Promise.all(Array.from({ length: 6 }, () => calls['a stream'](place)));
  const change = (body: object) => apiOf(gateway.stack).send('PATCH', '/operator/v1/providers/simulator', body);
  const { simulatorUrl } = gateway.stack;
  for (let round = 0; round < 8; round += 1) {
    await change({ base_url: round % 2 === 0 ? `${simulatorUrl}/site${round}/v1` : `${simulatorUrl}/v1` });
    await delay(9000);
    expect((await gateway.client.chat()).status).toBe(200);
  }
  for (const leave of streams) leave();
  await delay(1500);
  expect(pid()).toBe(envoy);
  await gateway.whole();
});
