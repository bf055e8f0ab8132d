/** Deltas of a response that are known by their bytes, against the same deltas read one by one. */
import { cases } from '@gw/testing/cases';
import { eventBounds } from '@gw/testing/receipt-sidecar/event-bounds';
import { responseReader } from '@gw/testing/receipt-sidecar/response-reader';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { EventStream } from '../../reply/event-stream.ts';

const addresses = { baseUrl: 'http://gw.test', statusUrl: '', auditEmail: '', securityEmail: '' };
const receipt = { gw: '{"id":"r"}', routingTrace: '{}', usageGw: '{}', counts: null };

/** Returns what comes out of each event, and what is counted behind it. With other line ends each is read by itself. */
function seen(events: readonly string[], lineEnd: string) {
  const reader = responseReader();
  const options = {
    reader,
    addresses,
    energyReader: null,
    ...eventBounds,
    refusalFor: () => null,
    receipt: () => receipt,
  };
  const stream = new EventStream(options);
  const each = events.map((event) => {
    stream.push(Buffer.from(event.replaceAll('\n', lineEnd)));
    const { answerBytes, isStale, otherBytes, reasoningBytes } = stream.facts.said;
    return { out: stream.take().toString(), answerBytes, isStale, otherBytes, reasoningBytes, over: stream.over };
  });
  stream.end();
  return [...each, { out: stream.take().toString() }];
}

const word = fc.oneof(
  { weight: 6, arbitrary: fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 6 }) },
  fc.constantFrom('', '"', '\\', 'ä', '😀', '\n', '","delta":"', '"sequence_number":7', '\u2028'),
);
const fields = fc.record(
  {
    delta: word,
    obfuscation: word,
    logprobs: fc.constantFrom([], [{ token: 'x' }]),
    output_index: fc.constantFrom(0, 1),
    gw: fc.constant('forged'),
  },
  { requiredKeys: ['delta'] },
);
const usual = fc.record({ delta: word, logprobs: fc.constant([]), output_index: fc.constant(0) });
const type = fc.oneof(
  { weight: 8, arbitrary: fc.constant('response.output_text.delta') },
  fc.constantFrom('response.reasoning_text.delta', 'response.output_text.done', 'error'),
);
const number = fc.oneof(fc.nat(120), fc.constantFrom(-1, 1.5, 1e15, 1e21));

test('are read alike, whatever they hold and however they are named', () => {
  const one = fc.tuple(type, number, fc.oneof({ weight: 4, arbitrary: usual }, fields), fc.boolean());
  fc.assert(
    fc.property(fc.array(one, { minLength: 1, maxLength: 30 }), (list) => {
      const events = list.map(([name, sequence_number, each, isNamed]) => {
        const data = JSON.stringify({ type: name, sequence_number, ...each });
        return `${isNamed ? `event: ${name}\n` : ''}data: ${data}\n\n`;
      });
      const known = seen(events, '\n');
      const read = seen(events, '\r\n');
      const withoutNumber = (text: string) => text.replace(/"type":"error","sequence_number":-?\d+/, '');
      expect(known.map((each) => ({ ...each, out: withoutNumber(each.out) }))).toEqual(
        read.map((each) => ({ ...each, out: withoutNumber(each.out) })),
      );
    }),
    { numRuns: cases(500) },
  );
});
