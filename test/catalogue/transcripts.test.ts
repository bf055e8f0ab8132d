/**
 * Replies of every known provider in its own shape, sent byte by byte as `simulator/transcripts` has them, by providers that are
 * called as the list says: what their words become for a client of the official SDK, and what the receipts count.
 */
import { chunksOf, type Transcript, transcripts } from '@gw/testing/transcripts';
import type OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { apiOf, removeEntries } from '../operator-api.ts';
import { collect, eventually, get, openAi, receiptOf, stack } from '../sdk/gateway.ts';
import { credential, embeddingsOf, entriesOf, known, modelOf, startTranscriptProvider } from './transcript-provider.ts';

const documentSchema = z.looseObject({
  models: z.array(z.unknown()),
  providers: z.array(z.unknown()),
  deployments: z.array(z.unknown()),
});
let provider: Awaited<ReturnType<typeof startTranscriptProvider>>;
let original: z.infer<typeof documentSchema> | null = null;

const operator = apiOf(stack);
const client = openAi(stack.keys.enterprise);
type Fields = Partial<OpenAI.ChatCompletionCreateParamsStreaming>;
const requestOf = (transcript: Transcript, content: string) => ({
  model: modelOf(transcript),
  messages: [{ role: 'user' as const, content }],
  max_completion_tokens: 1000,
});
const chat = (transcript: Transcript, content = 'Name a river.') =>
  client.chat.completions.create(requestOf(transcript, content));
const streamed = async (transcript: Transcript, fields: Fields = {}) =>
  collect(
    await client.chat.completions.create({
      ...requestOf(transcript, 'Name a river.'),
      ...fields,
      stream: true as const,
    }),
  );

beforeAll(async () => {
  provider = await startTranscriptProvider();
  const { origin } = provider;
  await operator.send('PUT', `/operator/v1/credentials/${credential}`, { value: 'secret', base_url: origin });
  original = documentSchema.parse(await operator.get('/operator/v1/catalogue'));
  // All at once, since Envoy takes its time for each new chain.
  const entries = transcripts.map((each) => entriesOf(each, origin));
  await operator.send('PUT', '/operator/v1/catalogue', {
    ...original,
    models: [...original.models, ...entries.flatMap(({ models }) => models)],
    providers: [...original.providers, ...entries.map((each) => each.provider)],
    deployments: [...original.deployments, ...entries.map(({ deployment }) => deployment)],
  });
  await eventually('all to answer', async () => {
    const tried = await Promise.allSettled(transcripts.map((each) => chat(each)));
    return tried.every(({ status }) => status === 'fulfilled') || null;
  });
});
afterAll(async () => {
  if (original) await operator.send('PUT', '/operator/v1/catalogue', original);
  await removeEntries(operator, `credentials/${credential}`);
  provider?.stop();
});

/** Without what is ours. */
function theirs(reply: object): object {
  const { gw: _receipt, routing_trace: _trace, usage, ...rest } = reply as Record<string, unknown>;
  if (usage === undefined) return rest;
  const { gw: _short, ...counts } = usage as Record<string, unknown>;
  return { ...rest, usage: counts };
}

function expectCounts(reply: unknown, { completion, prompt }: Transcript['json']['counts']): void {
  const { completion_tokens, prompt_tokens, status, tier, usage_source } = receiptOf(reply);
  expect({ completion_tokens, status, tier }).toEqual({
    completion_tokens: completion,
    status: 'complete',
    tier: 'parametric',
  });
  expect(usage_source).toBe(prompt === null ? 'estimated' : 'provider');
  if (prompt !== null) expect(prompt_tokens).toBe(prompt);
}

const chunkShape = z.looseObject({
  choices: z.array(z.looseObject({ delta: z.looseObject({}).optional(), finish_reason: z.string().nullish() })),
  usage: z.looseObject({}).nullish(),
});
/** The content of a stream's choices; a chunk that exists only for its usage repeats at most an empty choice. */
const saidBy = (chunks: readonly unknown[]) =>
  chunks
    .flatMap((chunk) => chunkShape.parse(chunk).choices)
    .filter(({ delta, finish_reason }) => {
      const { content, role: _role, ...more } = delta ?? { content: 'of the filter' };
      return Boolean(finish_reason) || Boolean(content) || Object.values(more).some((value) => value !== null);
    });
const usagesOf = (chunks: readonly unknown[]) => chunks.flatMap((chunk) => chunkShape.parse(chunk).usage ?? []);

/** Texts of a reply, however deep they stand. */
const textsOf = (value: unknown): string[] =>
  typeof value === 'string'
    ? [value]
    : value !== null && typeof value === 'object'
      ? Object.values(value).flatMap(textsOf)
      : [];

describe.each(transcripts.map((each) => [each.provider, each] as const))('%s', (name, transcript) => {
  test('is called by its own path, credential and fields', async () => {
    await chat(transcript);
    const { auth_header = 'authorization', auth_scheme = 'Bearer', path, request_fields = {} } = known(name);
    const endpoint = (path ?? '{endpoint}')
      .replace('{model}', transcript.model)
      .replace('{endpoint}', 'chat/completions');
    const asked = provider.asked.at(-1);
    expect(asked?.path).toBe(`/${name}/${endpoint}`);
    expect(asked?.headers[auth_header]).toBe(auth_scheme === null ? 'secret' : `${auth_scheme} secret`);
    expect(asked?.body).toMatchObject({
      model: transcript.model,
      [request_fields.max_completion_tokens ?? 'max_completion_tokens']: 1000,
    });
  });

  test('its reply arrives as it is, with a receipt of its counts', async () => {
    const reply = await chat(transcript);
    expect(theirs(reply)).toEqual(transcript.json.body);
    expectCounts(reply, transcript.json.counts);
    const { body } = await get(`/v1/gw/lineage/${receiptOf(reply).id}`, stack.keys.enterprise);
    const cached = expect.objectContaining({ name: 'T_cached', value: transcript.json.counts.cached ?? 0 });
    expect(body).toMatchObject({ lineage: { inputs: expect.arrayContaining([cached]) } });
  });

  test('its stream says the same, with one receipt, and no usage that nobody asked for', async () => {
    const chunks = await streamed(transcript);
    expect(saidBy(chunks)).toEqual(saidBy(chunksOf(transcript)));
    expect(usagesOf(chunks)).toEqual([]);
    const [receipt, ...more] = chunks.filter((chunk) => 'gw' in chunk);
    expectCounts(receipt, transcript.stream.counts);
    expect(more).toEqual([]);
    expect(receipt?.choices).not.toEqual([]);
  });

  test('its usage comes with the stream where it is asked for', async () => {
    const chunks = await streamed(transcript, { stream_options: { include_usage: true } });
    expect(saidBy(chunks)).toEqual(saidBy(chunksOf(transcript)));
    const [told, sent] = [chunks, chunksOf(transcript)].map(usagesOf);
    expect(told?.at(-1)).toMatchObject(sent?.at(-1) ?? {});
    expectCounts(
      chunks.findLast((chunk) => 'gw' in chunk),
      transcript.stream.counts,
    );
  });

  test.each(transcript.errors.map((error, at) => [error.status, error, at] as const))(
    'its error of %d becomes ours, and says no more than it may',
    async (_status, error, at) => {
      // Its own temperature, since one that the gateway adds is left out where it is refused.
      const asked = { ...requestOf(transcript, `error ${at}`), temperature: 0.5 };
      const thrown = await client.chat.completions.create(asked).catch((cause) => cause);
      const { code, message, param, status } = error.told;
      expect(thrown).toMatchObject({ status, code, error: { code, param } });
      if (message !== null) expect(thrown.error.message).toBe(message);
      const shown = JSON.stringify([thrown.error.message, code, param]);
      const body = typeof error.body === 'string' ? JSON.parse(error.body) : error.body;
      const kept = textsOf(body).filter(
        (text) => text.length > 7 && text !== param && text !== code && !(message ?? '').includes(text),
      );
      for (const text of [transcript.model, ...kept]) expect(shown).not.toContain(text);
    },
  );
});

/** The transcripts that have it, each with its name. */
const having = <T>(pick: (transcript: Transcript) => T | undefined) =>
  transcripts.flatMap((each) => {
    const value = pick(each);
    return value === undefined ? [] : [[each.provider, each, value] as const];
  });

test.each(having(({ stream }) => stream.failing))(
  'a failure in the middle of a stream of %s is told in our words',
  async (_name, transcript) => {
    const thrown = await streamed(transcript, { messages: [{ role: 'user', content: 'fail' }] }).catch(
      (cause) => cause,
    );
    expect(thrown.error).toMatchObject({ code: 'upstream_error', message: expect.stringContaining('in the middle') });
  },
);

test.each(having(({ embeddings }) => embeddings))(
  'embeddings of %s arrive as they are, with a receipt',
  async (_name, transcript, { body, counts }) => {
    const request = { model: embeddingsOf(transcript), input: 'A river.', encoding_format: 'float' as const };
    const reply = await client.embeddings.create(request);
    expect(theirs(reply)).toEqual(body);
    expectCounts(reply, counts);
  },
);
