/** Whatever is sent to the endpoints, the answer is a completion or an error object of ours, and every part lives on. */
import { errorCatalogue } from '@gw/contract/error-catalogue';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { chatBody, processIds, quick, type Reply, send } from './ask.ts';

const endpoints = ['/v1/chat/completions', '/v1/completions', '/v1/embeddings'] as const;
const valid = [
  chatBody({ temperature: 0.5, stream: true, gw: { tier: 'auto' } }),
  JSON.stringify({ model: 'sim-small', prompt: ['once', 'twice'], max_tokens: 5 }),
  JSON.stringify({ model: 'sim-embed', input: [[1, 2, 3]], encoding_format: 'base64' }),
];

/** A valid body with a few bytes changed, taken away, doubled or put in. */
const mutated = fc
  .tuple(
    fc.constantFrom(...valid),
    fc.array(fc.tuple(fc.nat(), fc.constantFrom('change', 'remove', 'double', 'add'), fc.nat({ max: 255 })), {
      minLength: 1,
      maxLength: 4,
    }),
  )
  .map(([text, changes]) => {
    const bytes = [...Buffer.from(text)];
    for (const [place, kind, byte] of changes) {
      const at = place % bytes.length;
      if (kind === 'change') bytes[at] = byte;
      if (kind === 'remove') bytes.splice(at, 1);
      if (kind === 'double') bytes.splice(at, 0, ...bytes.slice(at, at + 8));
      if (kind === 'add') bytes.splice(at, 0, byte);
    }
    return Buffer.from(bytes);
  });

const json = fc.jsonValue({ maxDepth: 4, stringUnit: 'binary' });
/** The right names with any values, on a model that exists, so that many of them pass our checks and the provider's. */
const namedFields = fc
  .tuple(
    fc.record(
      {
        messages: fc.oneof(
          json,
          fc.array(fc.record({ role: fc.constantFrom('user', 'system', 'tool'), content: json })),
        ),
        prompt: json,
        input: json,
        stream: fc.oneof(fc.boolean(), json),
        stream_options: json,
        temperature: fc.oneof(fc.double(), json),
        max_tokens: fc.oneof(fc.integer(), json),
        stop: json,
        n: fc.oneof(fc.integer({ min: -1, max: 3 }), json),
        tools: json,
        tool_choice: json,
        response_format: json,
        logprobs: json,
        logit_bias: json,
        gw: json,
        extra_body: json,
      },
      { requiredKeys: [] },
    ),
    fc.constantFrom(...valid),
    fc.boolean(),
  )
  .map(([fields, base, whole]) => Buffer.from(JSON.stringify(whole ? { ...JSON.parse(base), ...fields } : fields)));

const bodies = fc.oneof(
  fc.uint8Array({ maxLength: 500 }).map((bytes) => Buffer.from(bytes)),
  json.map((value) => Buffer.from(JSON.stringify(value))),
  mutated,
  { arbitrary: namedFields, weight: 3 },
);

const errorObject = z.strictObject({
  error: z.strictObject({
    code: z.string(),
    type: z.string(),
    message: z.string(),
    param: z.string().nullable(),
    doc_url: z.string(),
  }),
});

function expectAnswer(reply: Reply): void {
  expect(reply.broken).toBe(false);
  if (reply.status === 200) {
    expect(reply.text).toContain('"gw":{"id":"rcpt_');
    return;
  }
  const { error } = errorObject.parse(JSON.parse(reply.text));
  const known = Object.entries(errorCatalogue).find(([code]) => code === error.code)?.[1];
  const status = known?.status ?? 400;
  if (!known) expect(error.code).toMatch(/^invalid_\w+$/);
  expect({ status: reply.status, type: error.type }).toEqual({ status, type: known?.type ?? 'validation_error' });
  expect(status).toBeGreaterThanOrEqual(400);
  expect(status).toBeLessThan(500);
}

it('random bodies, many at a time', async () => {
  const before = processIds();
  const calls = fc.array(fc.tuple(fc.constantFrom(...endpoints), bodies), { minLength: 12, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(calls, async (batch) => {
      const replies = await Promise.all(batch.map(([path, body]) => send({ path, body, headers: quick })));
      for (const reply of replies) expectAnswer(reply);
    }),
    { numRuns: 30 },
  );
  expect(processIds()).toEqual(before);
  expect((await send({ body: chatBody(), headers: quick })).status).toBe(200);
});
