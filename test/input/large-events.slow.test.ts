/** One event of a stream can be as large as a whole reply, and not larger. */
import { expect, it } from 'vitest';
import { call } from './ask.ts';

const most = 64 * 1024 * 1024;
const streamWith = (bytes: number) => call({ stream: true }, { 'x-sim-fault': 'big', 'x-sim-bytes': String(bytes) });
const lastData = (text: string) => JSON.parse(text.trimEnd().split('\n\n').at(-1)?.slice('data: '.length) ?? '');

it('an event of almost 64 MiB reaches the client whole, and the stream has a receipt', async () => {
  const { broken, status, text } = await streamWith(most - 1024);
  expect([status, broken]).toEqual([200, false]);
  const [large = ''] = text.split('\n\n').filter((event) => event.length > 1024 * 1024);
  expect(large.match(/"sim_padding":"x+"/)?.[0].length).toBeGreaterThan(most - 2048);
  expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
  expect(text.slice(-32 * 1024)).toMatch(/"gw":\{.*"status":"complete"/);
});

it('a larger one is an error event, and nothing after it', async () => {
  const { status, text } = await streamWith(most + 64 * 1024);
  expect(status).toBe(200);
  expect(text.length).toBeLessThan(1024 * 1024);
  expect(lastData(text)).toMatchObject({ error: { type: 'inference_error', code: 'upstream_invalid_response' } });
  expect(text).not.toContain('[DONE]');
});
