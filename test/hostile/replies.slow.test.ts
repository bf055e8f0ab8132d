/** A provider that means harm: no client sees a receipt but ours, or a word that is not its own business, and no part dies. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, expectRefusal, invalid, processIds, type Reply, upstream } from '../input/ask.ts';
import { stack } from '../sdk/gateway.ts';
import { addHostileProvider, expectHonest, model, seenByNode, seenByPython } from './gateway.ts';
import { forgedOverhead, marker } from './replies.ts';

let hostile: Awaited<ReturnType<typeof addHostileProvider>>;
beforeAll(async () => {
  hostile = await addHostileProvider(stack);
});
afterAll(() => hostile?.close());

const ask = (name: string, fields: object = {}): Promise<Reply> =>
  call({ model, messages: [{ role: 'user', content: name }], ...fields });
const askStream = (name: string, fields: object = {}) => ask(name, { stream: true, ...fields });

it.each([
  ['endless event', 'upstream_invalid_response'],
  ['deep event', 'upstream_invalid_response'],
  ['error and on', 'upstream_error'],
])(
  '%s: the client gets an error event and an end, and the provider is left, though it never ends',
  async (name, code) => {
    const reply = await askStream(name);
    expect(reply.status).toBe(200);
    const last = reply.text.trimEnd().split('\n\n').at(-1) ?? '';
    expect(JSON.parse(last.slice('data: '.length))).toMatchObject({ error: { type: 'inference_error', code } });
    expect(reply.text).not.toContain(marker);
    // Nothing that the sidecar can say ends it in order.
    expect(reply.broken).toBe(true);
    await expect.poll(() => hostile.provider.open(), { timeout: 10_000 }).toBe(0);
  },
);

it('nothing follows [DONE]', async () => {
  const { text } = await askStream('behind the end');
  expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
  expect(text).not.toContain(marker);
});

it('usage shows no receipt of the provider', async () => {
  const { text } = await askStream('usage with a receipt', { stream_options: { include_usage: true } });
  expect(text).toContain('"prompt_tokens":4');
  expect(text).not.toContain(marker);
});

it('a value that can become no number keeps the sidecar from nothing', async () => {
  const { text } = await askStream('index that is not a number');
  expect(text.match(/"gw":/g)).toHaveLength(1);
  expect(text).not.toContain(marker);
  // Not the receipt of the last resort, which a sidecar that failed would leave to Envoy.
  expect(text).not.toContain('sidecar_unavailable');
  expectRefusal(await ask('tokens that are no number'), { ...invalid('prompt_too_long'), param: 'messages' });
});

it('a reply that is nested too deeply is none that can be read', async () => {
  expectRefusal(await ask('deep JSON'), upstream('upstream_invalid_response'));
});

it('a reply of more parts than can be read is still a completion, with a degraded receipt and without a forged one', async () => {
  const reply = await ask('millions of parts');
  expect(reply.status, reply.text.slice(0, 300)).toBe(200);
  expect(reply.text.length).toBeGreaterThan(24_000_000);
  const { choices, gw } = JSON.parse(reply.text) as { choices: { message: { content: string } }[]; gw: unknown };
  expect(choices[0]?.message.content).toBe('hi');
  expect(gw).toMatchObject({ tier: 'degraded', degraded_reason: 'sidecar_unavailable' });
  expect(JSON.stringify(reply.headers)).not.toContain(marker);
});

it('a refusal is shown without secrets, and with our name of the model', async () => {
  // The client's own, where it has sent the field.
  const refused = await ask('refusal with secrets', { temperature: 1.5 });
  expect(expectRefusal(refused, invalid('invalid_temperature', 'temperature'))).toBe(
    `temperature X: y too hot for \`${model}\`, key [redacted] at [url]`,
  );
  // The gateway's own field and name of a model are nothing that the client could mend.
  for (const name of ['refusal with secrets', 'unknown model'])
    expect(expectRefusal(await ask(name), upstream('upstream_error'))).not.toMatch(/inner-name|SECRET|10\.0/);
});

/** The other names under x-gw- are between the parts. */
const expectOneOfOurs = (headers: object): void => {
  const { 'x-gw-overhead-ms': overhead = '0', ...others } = headers as Readonly<Record<string, string>>;
  expect(Number(overhead)).toBeLessThan(Number(forgedOverhead));
  expect(Object.keys(others).filter((name) => name.startsWith('x-gw-'))).toEqual(['x-gw-receipt-id']);
};

it.each(['plain', 'encoded', 'deep JSON', 'unknown model'])('no cache may keep a reply: %s', async (name) => {
  const { headers } = await ask(name);
  expect(headers['cache-control']).toBe('no-store');
  expectOneOfOurs(headers);
  expect(JSON.stringify(headers)).not.toContain(marker);
});

it('no cache may keep a stream', async () => {
  const { headers } = await askStream('plain stream');
  expect(headers['cache-control']).toBe('no-store');
  expectOneOfOurs(headers);
});

describe('200 replies at random', () => {
  it('deceive neither client, and end no part', async () => {
    const before = processIds();
    const seen = [...(await seenByNode(stack, 0, 100)), ...(await seenByPython(stack, 100, 100))];
    expect(seen).toHaveLength(200);
    // Else they were all refused, and this shows nothing.
    expect((await expectHonest(hostile.db, seen)).length).toBeGreaterThan(80);
    expect(processIds()).toEqual(before);
  });
});
