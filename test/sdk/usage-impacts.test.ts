/** `usage.impacts`, which an account asks for, by the official clients: in each API, whole and streamed. */
import Anthropic from '@anthropic-ai/sdk';
import { usageImpactsSchema } from '@gw/contract/usage-impacts';
import { usageImpacts } from '@gw/receipt-sidecar/internals/receipt/usage-impacts';
import { receiptInReply } from '@gw/testing/receipt-in-reply';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { accountOf } from '../limits/limited-call.ts';
import { apiOf } from '../operator-api.ts';
import { collect, eventually, messages, openAi, quick, stack } from './gateway.ts';
import { accountsForFile } from './test-account.ts';

const accounts = accountsForFile();
const model = 'sim-small';

const carrierSchema = z.looseObject({
  gw: receiptInReply,
  usage: z.looseObject({ gw: z.looseObject({}), impacts: usageImpactsSchema.optional() }),
});

/** Returns the part of each kind of reply that carries both the receipt and the counts. */
function callsOf(key: string): readonly (() => Promise<unknown>)[] {
  const openai = openAi(key);
  const anthropic = new Anthropic({ apiKey: key, baseURL: stack.publicUrl, maxRetries: 0, defaultHeaders: quick });
  const asked = { model, max_tokens: 20, messages };
  const streamed = { model, messages, stream: true, stream_options: { include_usage: true } } as const;
  return [
    () => openai.chat.completions.create({ model, messages }),
    async () => (await collect(await openai.chat.completions.create(streamed))).at(-1),
    () => openai.responses.create({ model, input: 'Hello' }),
    async () => {
      const events = await collect(await openai.responses.create({ model, input: 'Hello', stream: true }));
      return z.looseObject({ response: z.unknown() }).parse(events.at(-1)).response;
    },
    () => anthropic.messages.create(asked),
    async () => (await collect(anthropic.messages.stream(asked))).find(({ type }) => type === 'message_delta'),
    () => openai.embeddings.create({ model: 'sim-embed', input: 'Hello' }),
  ];
}

const usageOf = async (call: () => Promise<unknown>) => {
  const { gw, usage } = carrierSchema.parse(await call());
  return { gw, usage };
};

test('replies state the impacts of their receipt once their account has asked for it, and not before', async () => {
  const key = await accounts.create();
  const calls = callsOf(key);
  for (const call of calls) expect((await usageOf(call)).usage).not.toHaveProperty('impacts');
  const set = (usage_impacts: boolean) =>
    apiOf(stack).send('PATCH', `/operator/v1/accounts/${accountOf(key)}`, { usage_impacts });
  await set(true);
  const [chat] = calls;
  await eventually('impacts', async () => chat && (await usageOf(chat)).usage.impacts);
  for (const call of calls) {
    const { gw, usage } = await usageOf(call);
    expect(usage.impacts).toEqual(usageImpacts(gw));
    expect(usage.impacts).toMatchObject({ kWh: expect.any(Number), gwp: { unit: 'kgCO2eq' } });
  }
});
