import { forFile } from '@gw/testing/for-file';
import { expect, test } from 'vitest';
import { ask, HELLO, readJson, startSimulator } from './start-for-test.ts';

const simulator = forFile(startSimulator);

const json = { model: 'sim-small', messages: HELLO };
const stream = { ...json, stream: true };
const release = (marker: string) => fetch(`${simulator.url}/sim/release?marker=${marker}`);
const openCalls = async (marker: string) => (await readJson(fetch(`${simulator.url}/sim/count?marker=${marker}`))).open;

test.each([
  ['JSON', json, {}],
  ['JSON in pieces', json, { 'x-sim-fault': 'split' }],
  ['a stream', stream, {}],
  ['a stream at its pace', stream, { 'x-sim-tokens-per-second': '5000' }],
  ['a stream in pieces', stream, { 'x-sim-fault': 'split' }],
])(
  'a reply that is held in its middle sends its half, and the rest once it is released: %s',
  async (name, body, more) => {
    const marker = name.replaceAll(' ', '-');
    const headers = { ...more, 'x-sim-tokens': '40' };
    const whole = await (await ask(simulator.url, { body, headers })).text();
    const held = { ...headers, 'x-sim-hold': 'middle', 'x-sim-marker': marker };
    const reply = await ask(simulator.url, { body, headers: held });
    let text = '';
    const read = async () => {
      for await (const bytes of reply.body ?? []) text += Buffer.from(bytes).toString();
    };
    const reading = read();
    await expect.poll(() => text.length).toBeGreaterThan(whole.length * 0.4);
    // Meanwhile it answers others.
    for (let times = 0; times < 10; times += 1) await openCalls(marker);
    expect(text.length).toBeLessThan(whole.length * 0.6);
    await release(marker);
    await reading;
    expect(text).toBe(whole);
  },
);

test('a reply that is held at its start sends no header before; once released, none with its marker is held', async () => {
  const headers = { 'x-sim-hold': 'start', 'x-sim-marker': 'held-at-start' };
  let isThere = false;
  const reply = ask(simulator.url, { body: json, headers }).then((there) => {
    isThere = true;
    return there;
  });
  await expect.poll(() => openCalls('held-at-start')).toBe(1);
  await release('another');
  // Another call goes through the simulator meanwhile.
  expect((await ask(simulator.url, { body: json })).status).toBe(200);
  expect(isThere).toBe(false);
  await release('held-at-start');
  expect((await reply).status).toBe(200);
  expect((await ask(simulator.url, { body: stream, headers })).status).toBe(200);
});

test('a hold that nobody could release is refused', async () => {
  for (const headers of [{ 'x-sim-hold': 'start' }, { 'x-sim-hold': 'end', 'x-sim-marker': 'm' }]) {
    const reply = await ask(simulator.url, { body: json, headers });
    expect([reply.status, (await readJson(reply)).error.param]).toEqual([400, 'x-sim-hold']);
  }
});
