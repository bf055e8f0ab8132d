/** Every pair of a client's API and a provider's: the official clients see their own API, whatever the provider speaks. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { apiOf } from '../operator-api.ts';
import { eventually, quick, stack } from './gateway.ts';
import {
  addProviders,
  aliasOf,
  clients,
  codeOf,
  modelBehind,
  pairs,
  picture,
  removeProviders,
  send,
} from './translated-clients.ts';

beforeAll(() => addProviders());
afterAll(() => removeProviders());

describe.each(pairs)('%s over a provider of %s', (from, to) => {
  const client = clients[from];
  const model = modelBehind(to);
  const ways = ['ask', 'stream'] as const;

  test('answers alike as JSON and as a stream, with a receipt of the same counts', async () => {
    const headers = { 'x-sim-tokens': '20' };
    const [whole, streamed] = [await client.ask({ model, headers }), await client.stream({ model, headers })];
    for (const answer of [whole, streamed]) {
      expect(answer).toMatchObject({ end: 'end', text: whole.text, calls: [], usage: whole.usage });
      expect(answer.gw).toMatchObject({ status: 'complete', model, usage_source: 'provider' });
      expect([answer.gw.prompt_tokens, answer.gw.completion_tokens]).toEqual([
        whole.usage.prompt,
        whole.usage.completion,
      ]);
      expect(answer.trace.translation).toMatchObject({ api: to });
    }
    expect(whole.text.length).toBeGreaterThan(20);
  });

  test.each(ways)('calls tools in parallel, arguments and all: %s', async (way) => {
    const { calls, end } = await client[way]({ model, tools: true });
    const both = [
      { name: 'get_weather', said: { city: 'simulated' } },
      { name: 'get_time', said: { zone: 'UTC' } },
    ];
    expect({ calls, end }).toMatchObject({ end: 'tools', calls: to === 'chat' ? both.slice(0, 1) : both });
    expect(new Set(calls.map(({ id }) => id)).size).toBe(calls.length);
  });

  test.each(ways)('takes pictures: %s', async (way) => {
    expect((await client[way]({ model, picture })).end).toBe('end');
  });

  test.each(ways)('answers by a schema: %s', async (way) => {
    const { text } = await client[way]({ model, schema: true });
    expect(JSON.parse(text)).toEqual({ city: 'simulated' });
  });

  test.each(ways)('stops at its bound, and where the model refuses: %s', async (way) => {
    const cut = await client[way]({ model, max: 3 });
    expect([cut.end, cut.usage.completion]).toEqual(['length', 3]);
    // The simulator's chat has no refusal.
    if (to === 'chat') return;
    const refused = await client[way]({ model, headers: { 'x-sim-fault': 'refusal' } });
    expect(refused.end).toBe('refusal');
    expect(refused.text).not.toBe('');
  });

  // The simulator's chat does not reason, and a client of chat cannot ask for the words of it.
  test.runIf(to !== 'chat' && from !== 'chat').each(ways)('shows what the model thinks: %s', async (way) => {
    const { text, thought, usage } = await client[way]({ model, thinks: true });
    expect([text, thought]).toEqual([expect.stringMatching(/./), expect.stringMatching(/./)]);
    expect(usage.reasoning).toBeGreaterThan(0);
  });

  test.each(ways)('counts cached tokens and those of reasoning: %s', async (way) => {
    const { gw, usage } = await client[way]({ model, headers: { 'x-sim-usage': JSON.stringify(counts[to]) } });
    expect(usage).toEqual({ prompt: 30, completion: 40, cached: 20, reasoning: 10 });
    expect(gw).toMatchObject({ prompt_tokens: 30, completion_tokens: 40 });
  });

  test.each(ways)('fails over from a provider of its own API, and to one: %s', async (way) => {
    const [there, back] = [aliasOf(from, to), aliasOf(to, from)];
    const first = await client[way]({ model: there, headers: { 'x-sim-fault': `${from}:status-503` } });
    expect(first).toMatchObject({ end: 'end', gw: { model }, trace: { translation: { api: to } } });
    const own = await client[way]({ model: back, headers: { 'x-sim-fault': `${to}:status-503` } });
    expect(own).toMatchObject({ end: 'end', gw: { model: modelBehind(from) } });
    expect(own.trace.translation ?? null).toBeNull();
  });

  test.each([
    ['status-400', 'BadRequestError'],
    ['status-429', 'InternalServerError'],
    ['status-500', 'InternalServerError'],
    ['status-529', 'InternalServerError'],
    ['html', 'InternalServerError'],
    ['empty', 'InternalServerError'],
    ['content-filter', 'BadRequestError'],
    ['too-long-openai', 'BadRequestError'],
  ])('throws what the client knows of its own API: %s is %s', async (fault, name) => {
    for (const way of ways) {
      const error = await client[way]({ model, headers: { 'x-sim-fault': fault } }).catch((caught: unknown) => caught);
      expect((error as Error).constructor.name, `${way}: ${error}`).toBe(name);
      expect(codeOf(error)).toEqual(expect.any(String));
    }
  });

  test.each(['error-event', 'malformed', 'no-done', 'failed-event'])(
    'ends by what its client throws: %s',
    async (fault) => {
      const asked = client.stream({ model, headers: { 'x-sim-fault': fault, 'x-sim-tokens': '30' } });
      // The end of an answer says that it is whole, whatever its provider leaves out behind it.
      if (fault === 'no-done') expect((await asked).end).toBe('end');
      else await expect(asked).rejects.toSatisfy((error: unknown) => String(codeOf(error)).startsWith('upstream_'));
    },
  );

  test('obeys the options of the gateway', async () => {
    const { gw } = await client.ask({ model, gw: { region: 'eu-north', boundary: 'narrow' } });
    expect(gw).toMatchObject({ region: 'eu-north', boundary: 'narrow' });
    await expect(client.ask({ model, gw: { region: 'us-east' } })).rejects.toMatchObject({ status: 400 });
  });
});

const counts = {
  chat: {
    prompt_tokens: 30,
    completion_tokens: 40,
    total_tokens: 70,
    prompt_tokens_details: { cached_tokens: 20 },
    completion_tokens_details: { reasoning_tokens: 10 },
  },
  messages: {
    input_tokens: 10,
    cache_read_input_tokens: 20,
    cache_creation_input_tokens: 0,
    output_tokens: 40,
    output_tokens_details: { thinking_tokens: 10 },
  },
  responses: {
    input_tokens: 30,
    input_tokens_details: { cached_tokens: 20 },
    output_tokens: 40,
    output_tokens_details: { reasoning_tokens: 10 },
    total_tokens: 70,
  },
};

test('tools that a provider runs are refused until the catalogue allows them, and the receipt says that nobody measures them', async () => {
  const hosted = {
    responses: { tools: [{ type: 'web_search' }] },
    messages: { tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
  } as const;
  for (const name of ['responses', 'messages'] as const) {
    const fields = hosted[name];
    const refused = await send(stack, name, { model: modelBehind(name) }, { fields });
    expect(await refused.json()).toMatchObject({ error: { code: 'unsupported_field', param: 'tools[0].type' } });
    await apiOf(stack).send('PATCH', `/operator/v1/providers/${modelBehind(name)}`, { hosted_tools: ['web_search'] });
    const reply = await eventually('leave', async () => {
      const allowed = await send(stack, name, { model: modelBehind(name), headers: quick }, { fields });
      return allowed.ok ? ((await allowed.json()) as { gw: { tier_reason: string } }) : null;
    });
    expect(reply.gw.tier_reason).toContain('the provider could run tools by itself');
    const translated = await send(stack, name, { model: modelBehind('chat') }, { fields });
    expect(await translated.json()).toMatchObject({ error: { code: 'unsupported_field', param: 'tools[0].type' } });
  }
});
