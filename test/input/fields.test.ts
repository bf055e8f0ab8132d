/**
 * The rules for fields have their tests beside the parser, value by value; here they hold through Envoy, one value of each
 * kind, and what passes reaches the provider as it was sent.
 */
import { contradictions, fields, harmonies, leastBody } from '@gw/testing/receipt-sidecar/request-fields/all';
import type { Endpoint } from '@gw/testing/receipt-sidecar/request-fields/field';
import { badMessages, goodMessages } from '@gw/testing/receipt-sidecar/request-fields/messages';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { expectRefusal, invalid, newMarker, quick, reachedProvider, send } from './ask.ts';

const paths: Readonly<Record<Endpoint, string>> = {
  chat: '/v1/chat/completions',
  completions: '/v1/completions',
  embeddings: '/v1/embeddings',
  responses: '/v1/responses',
  messages: '/v1/messages',
};

const ask = (endpoint: Endpoint, body: object, headers: Record<string, string> = {}) =>
  send({ path: paths[endpoint], body: JSON.stringify(body), headers: { ...quick, ...headers } });

const echoed = z.looseObject({ sim_body: z.string() });
/** The body that the provider got. */
const sentOn = (text: string) => JSON.parse(echoed.parse(JSON.parse(text)).sim_body);

it('a wrong value of each field is refused with its code and path, and no provider is asked', async () => {
  const marker = newMarker();
  for (const [field, { bad, beside = {}, endpoints }] of fields) {
    const [value, code, param = field] = bad[0] ?? [];
    for (const endpoint of endpoints) {
      const reply = await ask(
        endpoint,
        { ...leastBody[endpoint], ...beside, [field]: value },
        { 'x-sim-marker': marker },
      );
      expectRefusal(reply, invalid(String(code), param));
    }
  }
  for (const [message, code, path] of badMessages) {
    const reply = await ask('chat', { ...leastBody.chat, messages: [message] }, { 'x-sim-marker': marker });
    expectRefusal(reply, invalid(code, `messages[0]${path}`));
  }
  for (const [endpoint, together, param] of contradictions) {
    const reply = await ask(endpoint, { ...leastBody[endpoint], ...together }, { 'x-sim-marker': marker });
    expectRefusal(reply, invalid(`invalid_${param}`, param));
  }
  expect(await reachedProvider(marker)).toBe(0);
});

/** The simulator is asked to say back what it got; a stream would hide that. */
const isStreamed = (body: Record<string, unknown>) => body.stream === true;

it('every right value reaches the provider as it was sent', async () => {
  for (const [field, { good, beside = {}, endpoints }] of fields) {
    for (const endpoint of endpoints) {
      for (const value of good.slice(0, 2)) {
        const body = { ...leastBody[endpoint], ...beside, [field]: value };
        const reply = await ask(endpoint, body, { 'x-sim-echo-body': '1' });
        expect(reply.status, `${endpoint} ${field}: ${reply.text.slice(0, 300)}`).toBe(200);
        if (isStreamed(body)) continue;
        expect(sentOn(reply.text)[field]).toEqual(value);
      }
    }
  }
  for (const [endpoint, together] of harmonies)
    expect((await ask(endpoint, { ...leastBody[endpoint], ...together })).status, JSON.stringify(together)).toBe(200);
  const reply = await ask('chat', { ...leastBody.chat, messages: goodMessages }, { 'x-sim-echo-body': '1' });
  expect(sentOn(reply.text).messages).toEqual(goodMessages);
});
