/** One call as a client sees it: the request, the reply and the stream, put together by the code that serves them. */

import { defined } from '@gw/contract/internal/defined';
import { exampleAddresses } from '@gw/contract/internals/example-addresses';
import { ReplyCounts } from '@gw/receipt-sidecar/internals/api/openai/reply-counts';
import { openaiChat } from '@gw/receipt-sidecar/internals/api/openai-chat/shape';
import { parseRequest } from '@gw/receipt-sidecar/internals/api/parse';
import type { SaidSoFar } from '@gw/receipt-sidecar/internals/api/port/shape';
import { countCall } from '@gw/receipt-sidecar/internals/receipt/count';
import { EventStream } from '@gw/receipt-sidecar/internals/reply/event-stream';
import { addToObject } from '@gw/receipt-sidecar/internals/wire/json-body';
import { chatReply as simulated } from '@gw/simulator/internals/chat';
import { plainDirectives } from '@gw/simulator/internals/directives';
import { slice } from '@gw/simulator/internals/text';
import { countedForTests } from '@gw/testing/receipt-sidecar/asked';
import { eventBounds } from '@gw/testing/receipt-sidecar/event-bounds';
import { type Call, type MadeCall, madeCall, salt } from './calls.ts';

export const chatRequest = {
  model: 'sim-small',
  messages: [{ role: 'user', content: 'Hello' }],
  max_tokens: 4,
  gw: { tier: 'auto', boundary: 'comprehensive' },
};

/** The simulated provider's answer. It always gives the same words to the same question. */
function providerReply(fields: object) {
  const { gw: _, ...body } = chatRequest;
  return simulated(Buffer.from(JSON.stringify({ ...body, ...fields })), plainDirectives, {});
}

const additions = ({ receipt, trace }: MadeCall) => ({
  gw: JSON.stringify({ ...receipt, salt }),
  routingTrace: JSON.stringify(trace),
  usageGw: JSON.stringify({ receipt_id: receipt.id, energy_wh: receipt.energy_wh, carbon_g: receipt.carbon_g }),
});

const called = (usage: Exclude<Call['usage'], undefined>): MadeCall =>
  madeCall(20, { model: chatRequest.model, usage, latencyS: 0.45 });

export function chatReply(): unknown {
  const reply = providerReply({});
  if (reply.kind !== 'json') throw new Error('The simulated provider answered with a stream.');
  const value: { usage?: unknown } & Record<string, unknown> = JSON.parse(reply.body);
  const said = new ReplyCounts();
  said.take(value);
  return JSON.parse(addToObject(reply.body, value, additions(called(countedIn(said)))));
}

/** Counts a reply as the sidecar does. */
function countedIn(said: SaidSoFar) {
  const parsed = parseRequest('chat', Buffer.from(JSON.stringify(chatRequest)));
  if (!parsed.ok) throw new Error(parsed.error.message);
  const { request } = parsed.value;
  const counted = countCall(said, countedForTests(request, { elapsedS: 0.45 }));
  if (!counted.ok) throw new Error(counted.error);
  return counted.value;
}

/** The events of the same call as a stream. */
export function chatEvents(): string {
  const reply = providerReply({ stream: true, stream_options: { include_usage: true } });
  if (reply.kind !== 'stream') throw new Error('The simulated provider answered without a stream.');
  const events = new EventStream({
    reader: defined(openaiChat.reply.stream, 'The stream of chats').open({ wantsUsage: false, answers: 1 }),
    addresses: exampleAddresses,
    energyReader: null,
    ...eventBounds,
    refusalFor: () => null,
    receipt: ({ said }) => ({ ...additions(called(countedIn(said))), counts: null }),
  });
  for (const event of [...reply.head, ...slice(reply.tokens), ...reply.tail]) events.push(Buffer.from(event));
  events.end();
  return events.take().toString('utf8');
}

/** Returns the stream for the page. It shortens the receipt and the trace, which the JSON reply shows in full. */
export function chatStream(): string {
  return chatEvents()
    .replace(/"gw":\{.*?\},"routing_trace":\{.*\}\}\n/, '"gw":{…},"routing_trace":{…}}\n')
    .trimEnd();
}
