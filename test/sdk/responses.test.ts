/** `POST /v1/responses` by the official client for Node, with its own types. */
import { responseSchema } from '@gw/contract/responses';
import { usageSchema } from '@gw/contract/usage';
import type OpenAI from 'openai';
import { zodResponsesFunction, zodTextFormat } from 'openai/helpers/zod';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { collect, eventually, finishedReceipt, get, openAi, quick, receiptOf } from './gateway.ts';

const client = openAi();
const model = 'sim-small';
const ask = { model, input: 'What is the weather?', gw: { region: 'eu-north' } };
const withFault = (fault: string) => ({ headers: { ...quick, 'x-sim-fault': fault } });

const getWeather = zodResponsesFunction({
  name: 'get_weather',
  parameters: z.object({ city: z.string(), days: z.number() }),
});
const getTime = zodResponsesFunction({ name: 'get_time', parameters: z.object({ zone: z.enum(['UTC', 'CET']) }) });

test('a response has the receipt at its top and in its usage, and says that it is not stored', async () => {
  const { data, response } = await client.responses.create({ ...ask, store: true }).withResponse();
  expect(data.output_text).toContain('simulated');
  const { gw, store, usage } = responseSchema.parse(data);
  expect(gw).toMatchObject({
    region: 'eu-north',
    prompt_tokens: usage?.input_tokens,
    completion_tokens: usage?.output_tokens,
    usage_source: 'provider',
  });
  expect([store, response.headers.get('x-gw-receipt-id')]).toEqual([false, gw.id]);
  expect(usage?.gw).toEqual({ receipt_id: gw.id, energy_wh: gw.energy_wh, carbon_g: gw.carbon_g });
});

test('a stream has the words of the JSON reply, each event by its name, and the receipt in the last one', async () => {
  const whole = await client.responses.create(ask);
  const events = await collect(await client.responses.create({ ...ask, stream: true }));
  const deltas = events.flatMap((event) => (event.type === 'response.output_text.delta' ? [event.delta] : []));
  expect(deltas.join('')).toBe(whole.output_text);
  expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_, at) => at));
  const last = events.at(-1);
  expect(last?.type).toBe('response.completed');
  expect(events.filter((event) => 'response' in event && 'gw' in event.response)).toEqual([last]);
  const { response } = z.looseObject({ response: responseSchema }).parse(last);
  expect(response.usage?.gw?.receipt_id).toBe(response.gw.id);
  expect(response.gw.completion_tokens).toBe(whole.usage?.output_tokens);
  expect(await finishedReceipt(response.gw.id)).toMatchObject({ status: 'complete' });
});

test('tools that run at the client are called in parallel, and their results go into the next turn', async () => {
  const stream = client.responses.stream({ ...ask, tools: [getWeather, getTime], tool_choice: 'required' });
  const first = await stream.finalResponse();
  const calls = first.output.flatMap((item) => (item.type === 'function_call' ? [item] : []));
  expect(calls.map(({ name, parsed_arguments: said }) => [name, said])).toEqual([
    ['get_weather', { city: 'simulated', days: 1 }],
    ['get_time', { zone: 'UTC' }],
  ]);
  const input = [
    { role: 'user' as const, content: ask.input },
    ...calls.map(({ parsed_arguments: _, ...call }) => call),
    ...calls.map(({ call_id }) => ({ type: 'function_call_output' as const, call_id, output: 'Sunny' })),
  ];
  const second = await client.responses.create({ ...ask, input, tools: [getWeather, getTime] });
  expect(second.output_text).toContain('simulated');
  expect(receiptOf(second).prompt_tokens).toBeGreaterThan(receiptOf(first).prompt_tokens ?? 0);
});

test('structured output is parsed, and reasoning goes out and comes back encrypted', async () => {
  const format = zodTextFormat(z.object({ city: z.string(), isSunny: z.boolean() }), 'weather');
  const parsed = await client.responses.parse({ ...ask, text: { format } });
  expect(parsed.output_parsed).toEqual({ city: 'simulated', isSunny: true });
  const reasoned = await client.responses.create({
    ...ask,
    include: ['reasoning.encrypted_content'],
    reasoning: { effort: 'low', summary: 'auto' },
  });
  expect(reasoned.output.map(({ type }) => type)).toEqual(['reasoning', 'message']);
  expect(receiptOf(reasoned).completion_tokens).toBe(reasoned.usage?.output_tokens);
  const input = [...(reasoned.output as OpenAI.Responses.ResponseInput), { role: 'user' as const, content: 'And?' }];
  const again = await client.responses.create({ ...ask, input });
  expect(again.status).toBe('completed');
});

test('an answer that is cut, and one that is refused, end as the client knows them', async () => {
  const cut = (await collect(await client.responses.create({ ...ask, stream: true, max_output_tokens: 3 }))).at(-1);
  expect(cut).toMatchObject({
    type: 'response.incomplete',
    response: { incomplete_details: { reason: 'max_output_tokens' }, gw: { completion_tokens: 3 } },
  });
  const refused = await client.responses.stream(ask, withFault('refusal')).finalResponse();
  expect(refused.output).toMatchObject([{ content: [{ type: 'refusal' }] }]);
  expect(receiptOf(refused).completion_tokens).toBe(refused.usage?.output_tokens);
});

test('a stream that its provider says has failed ends with that, with our words and the receipt', async () => {
  const last = (await collect(await client.responses.create({ ...ask, stream: true }, withFault('failed-event')))).at(
    -1,
  );
  expect(last).toMatchObject({
    type: 'response.failed',
    response: { error: { code: 'server_error', message: expect.stringContaining('model provider failed') } },
  });
  const { response } = z.looseObject({ response: z.unknown() }).parse(last);
  expect(receiptOf(response)).toMatchObject({ status: 'upstream_error' });
});

test('an error in mid-stream is one that the client throws', async () => {
  const stream = await client.responses.create({ ...ask, stream: true }, withFault('error-event'));
  await expect(collect(stream)).rejects.toMatchObject({ code: 'upstream_error' });
});

test('a provider forges no receipt in a response', async () => {
  const events = await collect(await client.responses.create({ ...ask, stream: true }, withFault('own-gw')));
  expect(JSON.stringify(events)).not.toContain('forged');
  const reply = await client.responses.create(ask, withFault('own-gw'));
  expect(JSON.stringify(reply)).not.toContain('forged');
});

test.each([
  [{ previous_response_id: 'resp_1' }, 'previous_response_id'],
  [{ conversation: 'conv_1' }, 'conversation'],
  [{ background: true }, 'background'],
  [{ prompt: { id: 'pmpt_1' } }, 'prompt'],
  [{ input: [{ type: 'item_reference' as const, id: 'msg_1' }] }, 'input[0]'],
  [{ tools: [{ type: 'web_search' as const }] }, 'tools[0].type'],
])('what is stored or called elsewhere is refused: %j', async (fields, param) => {
  const refused = client.responses.create({ ...ask, ...fields });
  await expect(refused).rejects.toMatchObject({ status: 400, code: 'unsupported_field', param });
});

test('the usage tells the calls of each API apart', async () => {
  await client.responses.create(ask);
  const row = await eventually('a row of responses', async () => {
    const { body } = await get('/v1/usage?group_by=api&simulated=include&interval=total');
    return usageSchema.parse(body).data.find(({ api }) => api === 'responses');
  });
  expect(row.requests).toBeGreaterThan(0);
});

test('there are no stored responses to read', async () => {
  await expect(client.responses.retrieve('resp_1')).rejects.toMatchObject({ status: 404, code: 'unknown_endpoint' });
  await expect(client.responses.delete('resp_1')).rejects.toMatchObject({ status: 404, code: 'unknown_endpoint' });
});
