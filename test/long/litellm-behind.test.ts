/**
 * LiteLLM's own server as a provider that speaks Responses and Messages: the official clients get its replies and streams as they are, with
 * the receipt, and a call of a tool comes back.
 */
import Anthropic from '@anthropic-ai/sdk';
import { messageResponseSchema } from '@gw/contract/messages';
import { responseSchema } from '@gw/contract/responses';
import type { Child } from '@gw/stack/child';
import { freePorts } from '@gw/stack/ports';
import OpenAI from 'openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { eventually, type OwnGateway, startOwnGateway } from '../outage/own-gateway.ts';
import { addProvider, masterKey, startLitellm } from './frameworks/backends.ts';
import { litellmServer } from './frameworks/packages.ts';

let gateway: OwnGateway;
let server: Child;
let openai: OpenAI;
let anthropic: Anthropic;

const apis = ['responses', 'messages'] as const;
const modelOf = (api: (typeof apis)[number]) => `litellm/${api}`;

beforeAll(async () => {
  const python = await litellmServer();
  gateway = await startOwnGateway();
  const [port = 0] = await freePorts(1);
  server = await startLitellm(gateway, python, port);
  const { keys, publicUrl } = gateway.stack;
  const client = { apiKey: keys.enterprise, maxRetries: 0 };
  openai = new OpenAI({ ...client, baseURL: `${publicUrl}/v1` });
  anthropic = new Anthropic({ ...client, baseURL: publicUrl });
  for (const api of apis)
    await addProvider(gateway, {
      id: `litellm-${api}`,
      url: `http://127.0.0.1:${port}/v1`,
      model: modelOf(api),
      inner: api,
      key: masterKey,
      apis: [api],
    });
  await eventually('the server to answer', answers, 180_000);
}, 1_200_000);
afterAll(async () => {
  await server?.stop();
  await gateway?.stop();
});

const answers = () =>
  openai.responses.create({ model: modelOf('responses'), input: 'Hello' }).then(
    () => true,
    () => false,
  );

const parameters = { type: 'object' as const, properties: { city: { type: 'string' } }, required: ['city'] };
const passed = (api: (typeof apis)[number]) => ({
  status: 'complete',
  provider: `litellm-${api}`,
  usage_source: 'provider',
});

test('Responses', async () => {
  const ask = { model: modelOf('responses'), input: 'Hello' };
  const whole = await openai.responses.create(ask);
  expect(whole.output_text).toContain('simulated');
  const { gw, routing_trace: trace, usage } = responseSchema.parse(whole);
  expect(gw).toMatchObject({ ...passed('responses'), completion_tokens: usage?.output_tokens });
  expect(trace).not.toHaveProperty('translation');
  const streamed = await openai.responses.stream(ask).finalResponse();
  expect(streamed.output_text).toBe(whole.output_text);
  expect(responseSchema.parse(streamed).gw).toMatchObject(passed('responses'));
  const tools = [{ type: 'function' as const, name: 'weather', strict: false, parameters }];
  const called = await openai.responses.stream({ ...ask, tools, tool_choice: 'required' }).finalResponse();
  expect(called.output).toMatchObject([{ type: 'function_call', name: 'weather', arguments: '{"city":"simulated"}' }]);
});

test('Messages', async () => {
  const ask = { model: modelOf('messages'), max_tokens: 200, messages: [{ role: 'user' as const, content: 'Hello' }] };
  const whole = await anthropic.messages.create(ask);
  const { gw, routing_trace: trace } = messageResponseSchema.parse(whole);
  expect(gw).toMatchObject({ ...passed('messages'), completion_tokens: whole.usage.output_tokens });
  expect(trace).not.toHaveProperty('translation');
  const stream = anthropic.messages.stream(ask);
  const receipts: unknown[] = [];
  stream.on('streamEvent', (event) => {
    if ('gw' in event) receipts.push(z.looseObject({}).parse(event.gw));
  });
  expect((await stream.finalMessage()).content).toMatchObject([{ type: 'text', text: expect.any(String) }]);
  expect(receipts).toMatchObject([passed('messages')]);
  const tools = [{ name: 'weather', input_schema: parameters }];
  const called = await anthropic.messages.stream({ ...ask, tools, tool_choice: { type: 'any' } }).finalMessage();
  expect(called.content).toMatchObject([{ type: 'tool_use', name: 'weather', input: { city: 'simulated' } }]);
});
