/** Transcripts of each known provider, in its own shape, are read the same in any pieces and counted as the provider says. */

import { knownProviders } from '@gw/contract/internal/catalogue/known-providers';
import { cases } from '@gw/testing/cases';
import { countedForTests } from '@gw/testing/receipt-sidecar/asked';
import { chatReader } from '@gw/testing/receipt-sidecar/chat-reader';
import { eventBounds } from '@gw/testing/receipt-sidecar/event-bounds';
import {
  errorTextOf,
  type NamedTranscript,
  namedStreamOf,
  namedTranscripts,
  streamTextOf,
  type Transcript,
  textOf,
  transcripts,
} from '@gw/testing/transcripts';
import { eventsOf, jsonOf, usageShapes } from '@gw/testing/usage-shapes';
import { describe, expect, it } from 'vitest';
import { parseRequest } from '../api/parse.ts';
import type { ParsedRequest } from '../api/port/parsed-request.ts';
import type { SaidSoFar } from '../api/port/shape.ts';
import { shapeOf } from '../api/shapes.ts';
import { countCall } from '../receipt/count.ts';
import { EventStream } from './event-stream.ts';
import { readReply, withAdded } from './read-reply.ts';

function requestOf(endpoint: string, fields: object) {
  const parsed = parseRequest(endpoint, Buffer.from(JSON.stringify(fields)));
  if (!parsed.ok) throw new Error(parsed.error.message);
  return parsed.value.request;
}
const content = 'Name a river of Europe, in a few words.';
const chatOf = ({ provider }: Transcript) =>
  requestOf('chat', { model: `transcripts/${provider}`, messages: [{ role: 'user', content }] });
const embeddingsOf = ({ provider }: Transcript) =>
  requestOf('embeddings', { model: `transcripts/${provider}/embed`, input: content });

/** Compares what is charged and what was said of a cache and of reasoning. */
function expectCounted(said: SaidSoFar | null, wanted: Transcript['json']['counts'], request: ParsedRequest) {
  if (said === null) throw new Error('Nothing was read.');
  const counted = countCall(said, countedForTests(request));
  const { completion, prompt } = wanted;
  expect(counted).toMatchObject({
    ok: true,
    value: { completionTokens: completion, cachedPromptTokens: wanted.cached ?? 0 },
  });
  if (prompt !== null) expect(counted).toMatchObject({ value: { promptTokens: prompt } });
  if (counted.ok) expect(counted.value?.estimated).toBe(prompt === null ? 'prompt' : undefined);
  expect(said.claim?.reasoning ?? null).toBe(wanted.reasoning);
}

it('there is one of each known provider that speaks chat completions', () => {
  const speaking = Object.entries(knownProviders).flatMap(([id, { apis }]) => (apis.includes('chat') ? id : []));
  expect(transcripts.map(({ provider }) => provider).sort()).toEqual(speaking.sort());
});

/** Sends the pieces and returns what comes out for the client, and what was read. */
function passed(pieces: readonly Buffer[], wantsUsage: boolean, reader = chatReader(wantsUsage)) {
  let said: SaidSoFar | null = null;
  const stream = new EventStream({
    reader,
    energyReader: null,
    addresses: { baseUrl: '', statusUrl: '', auditEmail: '', securityEmail: '' },
    ...eventBounds,
    refusalFor: () => null,
    receipt: (facts) => {
      said = facts.said;
      return { gw: '{"id":"r"}', routingTrace: '{}', usageGw: '{}', counts: null };
    },
  });
  const out: Buffer[] = [];
  for (const piece of pieces) {
    stream.push(piece);
    out.push(stream.take());
  }
  stream.end();
  out.push(stream.take());
  return { text: Buffer.concat(out).toString().replaceAll(':\n\n', ''), said: said as SaidSoFar | null };
}

describe.each(transcripts.map((each) => [each.provider, each] as const))('%s', (_provider, transcript) => {
  it.each([false, true])('its stream comes out the same however it was cut, usage asked for: %s', (wantsUsage) => {
    const bytes = Buffer.from(streamTextOf(transcript));
    const whole = passed([bytes], wantsUsage);
    expect(whole.text).toContain('"gw":{"id":"r"}');
    expect(whole.text.endsWith('data: [DONE]\n\n')).toBe(true);
    expectCounted(whole.said, transcript.stream.counts, chatOf(transcript));
    const single = Array.from(bytes, (byte) => Buffer.from([byte]));
    expect(passed(single, wantsUsage).text).toBe(whole.text);
    const step = Math.ceil(bytes.length / cases(bytes.length));
    for (let cut = 1; cut < bytes.length; cut += step)
      expect(passed([bytes.subarray(0, cut), bytes.subarray(cut)], wantsUsage).text).toBe(whole.text);
  });

  it('its tokens are counted as it says', () => {
    const { embeddings, json } = transcript;
    const read = (reply: typeof json, request = chatOf(transcript)) => {
      const provider = { model: transcript.model, fields: {}, added: [] };
      const facts = {
        status: 200,
        fault: null,
        request,
        provider,
        telemetryShape: null,
        returning: null,
        encoding: null,
      };
      const reading = readReply(Buffer.from(textOf(reply)), facts);
      if (!reading.ok) throw new Error('The reply was not read.');
      expectCounted(reading.said, reply.counts, request);
    };
    read(json);
    if (embeddings) read(embeddings, embeddingsOf(transcript));
  });

  it.each(transcript.errors)('its $status says $told.code', (error) => {
    const reading = readReply(Buffer.from(errorTextOf(error)), {
      status: error.status,
      fault: error.fault ?? null,
      request: chatOf(transcript),
      provider: { model: transcript.model, fields: {}, added: [] },
      telemetryShape: null,
      returning: null,
      encoding: null,
    });
    if (reading.ok || reading.error === null) throw new Error('It was read as a reply.');
    const { error: made } = reading;
    const { message, ...told } = error.told;
    expect(made).toMatchObject(told);
    if (message !== null) expect(made.message).toBe(message);
    else expect(errorTextOf(error)).not.toContain(made.message);
  });
});

const named = namedTranscripts.map((each) => [`${each.api} of ${each.provider}`, each] as const);
const askedOf = ({ api, provider }: NamedTranscript) => {
  const fields = api === 'messages' ? { max_tokens: 1000, messages: [{ role: 'user', content }] } : { input: content };
  return requestOf(api, { model: `transcripts/${provider}`, stream: true, ...fields });
};
/** A provider keeps nothing, since it is told so; not each of them says it. */
const stored = ({ api }: NamedTranscript) => api === 'responses' && { store: false };
const eventsIn = (text: string): { readonly type: string; readonly response?: object }[] =>
  [...text.matchAll(/^data: (\{.*)$/gm)].map(([, json]) => JSON.parse(String(json)));

describe.each(named)('the %s', (_, transcript) => {
  const { api, errors, json, model, stream } = transcript;
  const request = askedOf(transcript);
  const facts = {
    fault: null,
    request,
    provider: { model, fields: {}, added: [] },
    telemetryShape: null,
    returning: null,
    encoding: null,
  };

  it('are passed on as they are in a stream, however it was cut, with the receipt and its counts', () => {
    const open = () => {
      const { stream: shape } = shapeOf(api).reply;
      if (shape === null) throw new Error('This API has no streams.');
      return shape.open(request, 'req');
    };
    const bytes = Buffer.from(namedStreamOf(transcript));
    const whole = passed([bytes], true, open());
    expectCounted(whole.said, stream.counts, request);
    const carrier = api === 'messages' ? 'message_delta' : 'response.completed';
    const sent = eventsIn(bytes.toString()).map(({ response, ...event }) => ({
      ...event,
      ...(response && { response: { ...response, ...stored(transcript) } }),
    }));
    const got = eventsIn(whole.text);
    expect(got.map(({ type }) => type)).toEqual(sent.map(({ type }) => type));
    for (const [at, event] of got.entries())
      if (event.type === carrier) expect(event).toMatchObject(sent[at] as object);
      else if (event.type === 'message_stop') expect(event).toEqual({ type: 'message_stop' });
      else expect(event).toEqual(sent[at]);
    expect(whole.text.match(/"gw":\{"id":"r"\}/g)).toHaveLength(1);
    const step = Math.ceil(bytes.length / cases(bytes.length));
    for (let cut = 1; cut < bytes.length; cut += step)
      expect(passed([bytes.subarray(0, cut), bytes.subarray(cut)], true, open()).text).toBe(whole.text);
  });

  it('are passed on as they are in JSON, with the receipt and its counts', () => {
    const reading = readReply(Buffer.from(textOf(json)), {
      ...facts,
      status: 200,
      request: { ...request, stream: false },
    });
    if (!reading.ok) throw new Error('The reply was not read.');
    expectCounted(reading.said, json.counts, request);
    const shown = JSON.parse(Buffer.concat(withAdded(reading.clean, { gw: '{"id":"r"}', usageGw: '{}' })).toString());
    const { usage, ...body } = json.body;
    const counted = { usage: { ...(usage as object), gw: {} }, gw: { id: 'r' } };
    expect(shown).toEqual({ ...body, ...stored(transcript), ...counted });
  });

  it.each(errors)('say $told.code with $status', ({ body, fault = null, status, told }) => {
    const reading = readReply(Buffer.from(JSON.stringify(body)), { ...facts, status, fault });
    if (reading.ok || reading.error === null) throw new Error('It was read as a reply.');
    const { message, ...others } = told;
    expect(reading.error).toMatchObject(others);
    if (message !== null) expect(reading.error.message).toBe(message);
  });
});

it('there are some of both APIs', () => {
  const providers = (api: string) =>
    namedTranscripts.filter((each) => each.api === api).map(({ provider }) => provider);
  expect(providers('messages').sort()).toEqual(['anthropic', 'bedrock', 'ollama', 'sglang', 'vertex', 'vllm']);
  expect(providers('responses').sort()).toEqual(['azure-openai-v1', 'ollama', 'openai', 'sglang', 'vllm']);
});

const asked = {
  chat: { messages: [{ role: 'user', content }] },
  completions: { prompt: content },
  embeddings: { input: content },
};

describe.each(usageShapes.map((each) => [each.name, each] as const))('the usage of %s', (_name, shape) => {
  const request = requestOf(shape.endpoint, { model: 'm', ...asked[shape.endpoint] });

  it('is read in a JSON reply', () => {
    const reply = jsonOf(shape);
    if (reply === null) return;
    const provider = { model: 'm', fields: {}, added: [] };
    const facts = {
      status: 200,
      fault: null,
      request,
      provider,
      telemetryShape: null,
      returning: null,
      encoding: null,
    };
    const reading = readReply(Buffer.from(JSON.stringify(reply)), facts);
    if (!reading.ok) throw new Error('The reply was not read.');
    expectCounted(reading.said, shape.counts, request);
  });

  it.each([false, true])('is read in a stream, usage asked for: %s', (wantsUsage) => {
    const text = eventsOf(shape);
    const { stream } = shapeOf(shape.endpoint).reply;
    if (text === null || stream === null) return;
    const { said } = passed([Buffer.from(text)], wantsUsage, stream.open({ answers: 1, wantsUsage }));
    expectCounted(said, shape.counts, request);
  });
});

it('the counts of several choices that state their own are added up, and share one prompt', () => {
  const usage = (completion: number) => ({
    prompt_tokens: 84,
    completion_tokens: completion,
    total_tokens: 84 + completion,
  });
  const choice = (index: number, fields: object) => ({ choices: [{ index, ...fields }] });
  const events = [
    choice(0, { delta: { content: 'The Ebro.' } }),
    choice(1, { delta: { content: 'The Po, or another.' } }),
    choice(0, { delta: {}, finish_reason: 'stop', usage: usage(5) }),
    choice(1, { delta: {}, finish_reason: 'stop', usage: usage(7) }),
  ];
  const text = [...events.map((each) => JSON.stringify(each)), '[DONE]'].map((data) => `data: ${data}\n\n`).join('');
  const request = requestOf('chat', { model: 'm', n: 2, ...asked.chat });
  const { stream } = shapeOf('chat').reply;
  if (stream === null) throw new Error('Chats have no streams.');
  const { said } = passed([Buffer.from(text)], false, stream.open({ answers: 2, wantsUsage: false }));
  expectCounted(said, { prompt: 84, completion: 12, cached: null, reasoning: null }, request);
});
