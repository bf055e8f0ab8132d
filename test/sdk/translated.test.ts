/** Clients of each API reach a model whose provider speaks another one. translated.slow.test.ts has all that this has to hold for. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addProviders, aliasOf, clients, codeOf, modelBehind, pairs, removeProviders } from './translated-clients.ts';

beforeAll(() => addProviders());
afterAll(() => removeProviders());

test.each(pairs)(
  'a client of %s has its tools called by a provider of %s, in a stream with its receipt',
  async (from, to) => {
    const client = clients[from];
    const model = modelBehind(to);
    const { calls, end, gw, trace, usage } = await client.stream({ model, tools: true });
    expect(calls[0]).toMatchObject({ name: 'get_weather', said: { city: 'simulated' } });
    expect([end, trace.translation?.api]).toEqual(['tools', to]);
    expect(gw).toMatchObject({ model, prompt_tokens: usage.prompt, completion_tokens: usage.completion });
    const failing = client.stream({ model, headers: { 'x-sim-fault': 'error-event' } });
    await expect(failing).rejects.toSatisfy((error: unknown) => String(codeOf(error)).startsWith('upstream_'));
    const headers = { 'x-sim-fault': `${from}:status-503` };
    expect((await client.ask({ model: aliasOf(from, to), headers })).gw).toMatchObject({ model, status: 'complete' });
  },
);
