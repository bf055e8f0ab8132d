import { forFile } from '@gw/testing/for-file';
import { describe, expect, test } from 'vitest';
import { ask, HELLO, startSimulator } from './start-for-test.ts';

const simulator = forFile(startSimulator);

const chat = (headers: Record<string, string>, stream: boolean, usage = true) =>
  ask(simulator.url, {
    headers: { 'x-sim-tokens': '3', ...headers },
    body: {
      model: 'sim-small',
      messages: HELLO,
      ...(stream && { stream: true, stream_options: { include_usage: usage } }),
    },
  });

async function json(headers: Record<string, string>): Promise<string> {
  return (await chat(headers, false)).text();
}

async function events(headers: Record<string, string>, usage = true): Promise<string[]> {
  return (await (await chat(headers, true, usage)).text()).split('\n\n').slice(0, -1);
}

const shapes = [
  ['neuralwatt', 'energy', -2],
  ['greenpt', 'impact', -2],
  ['melious', 'environment_impact', -2],
  ['ecologits_impacts', 'impacts', -3],
] as const;

describe('energy in each shape', () => {
  test.each(shapes)('%s: the same object in JSON and in its place in a stream', async (shape, field, place) => {
    const told = JSON.stringify(JSON.parse(await json({ 'x-sim-energy': shape }))[field]);
    expect(told).toMatch(/energy/);
    expect((await events({ 'x-sim-energy': shape })).at(place)).toContain(told);
    expect(await json({})).not.toContain(`"${field}"`);
  });

  test('a header in both', async () => {
    for (const stream of [false, true]) {
      const { headers } = await chat({ 'x-sim-energy': 'energy_header' }, stream);
      // 640 W × 1/8 for 3 tokens of 1/60 s and 3 prompt tokens of 1/3000 s.
      expect(Number(headers.get('x-energy-joules'))).toBeCloseTo(640 * (3 / 60 + 3 / 3000) * 0.125, 9);
    }
  });

  test('on the last chunk with choices where there is no usage chunk', async () => {
    const [end, done] = (await events({ 'x-sim-energy': 'melious' }, false)).slice(-2);
    expect(end).toMatch(/"finish_reason":"stop".*"environment_impact"/);
    expect(done).toBe('data: [DONE]');
  });

  test('several shapes at once, and none', async () => {
    const both = await json({ 'x-sim-energy': 'melious,greenpt' });
    expect(both).toMatch(/"environment_impact".*"impact"/);
    const none = { 'x-sim-energy': 'melious,greenpt', 'x-sim-fault': 'no-energy' };
    expect(await json(none)).not.toContain('impact');
  });
});

describe('energy that cannot be right', () => {
  test.each(['-1', '"NaN"', '1e308', '[1]', 'null', '{"a":1}'])('%s stands where the figure stood', async (value) => {
    const text = await json({ 'x-sim-energy': 'neuralwatt', 'x-sim-energy-value': value });
    expect(JSON.parse(text).energy.energy_joules).toEqual(JSON.parse(value));
  });

  test('a figure that is taken back comes first, under the same name', async () => {
    const headers = { 'x-sim-energy': 'neuralwatt', 'x-sim-fault': 'energy-twice' };
    const text = await json(headers);
    const [first, then] = [...text.matchAll(/"energy_joules":([\d.]+)/g)].map((match) => Number(match[1]));
    expect(first).toBe(2 * (then ?? Number.NaN));
    const said = (await events(headers)).filter((event) => event.includes('energy_joules'));
    expect(said.map((event) => event.slice(0, 6))).toEqual(['data: ', ': ener']);
    const reply = await chat({ 'x-sim-energy': 'energy_header', 'x-sim-fault': 'energy-twice' }, false);
    expect(reply.headers.get('x-energy-joules')).toMatch(/^[\d.]+, [\d.]+$/);
  });

  test('a stream can stand still between its usage and its energy', async () => {
    const reply = await chat({ 'x-sim-energy': 'neuralwatt', 'x-sim-fault': 'stall-energy' }, true);
    const decoder = new TextDecoder();
    let text = '';
    for await (const piece of reply.body ?? []) {
      text += decoder.decode(piece);
      if (text.includes('"usage":{')) break;
    }
    expect(text).not.toMatch(/: energy|\[DONE\]/);
  });

  test('an object is as large as it is asked to be', async () => {
    const headers = { 'x-sim-energy': 'greenpt', 'x-sim-fault': 'big-energy', 'x-sim-bytes': '1000000' };
    const text = await json(headers);
    expect(text.length).toBeGreaterThan(990_000);
    expect(JSON.parse(text).impact.energy.unit).toBe('Wms');
  });

  test('a directive that cannot be followed is refused', async () => {
    expect((await chat({ 'x-sim-energy': 'joulemeter' }, false)).status).toBe(400);
    expect((await chat({ 'x-sim-energy-value': '{' }, false)).status).toBe(400);
  });
});
