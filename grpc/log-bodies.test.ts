import { cases } from '@gw/testing/cases';
import fc from 'fast-check';
import protobuf from 'protobufjs';
import { expect, test } from 'vitest';
import { logBodies } from './log-bodies.ts';

/** As in opentelemetry/proto/logs/v1/logs.proto, with fields that are to be skipped. */
const { root } = protobuf.parse(`syntax = "proto3";
  message Value { oneof value { string string_value = 1; int64 int_value = 3; } }
  message Attribute { string key = 1; Value value = 2; }
  message Record { fixed64 time = 1; Value body = 5; repeated Attribute attributes = 6; bytes trace = 9; }
  message Scope { string name = 1; }
  message ScopeLogs { Scope scope = 1; repeated Record log_records = 2; }
  message Resource { repeated Attribute attributes = 1; }
  message ResourceLogs { Resource resource = 1; repeated ScopeLogs scope_logs = 2; }
  message Export { repeated ResourceLogs resource_logs = 1; }`);
const type = root.lookupType('Export');
const attribute = { key: 'k', value: { stringValue: 'not a body' } };
const exported = (batches: readonly (readonly string[])[]) =>
  type
    .encode({
      resourceLogs: batches.map((texts) => ({
        resource: { attributes: [attribute] },
        scopeLogs: [
          {
            scope: { name: 'envoy' },
            logRecords: texts.map((text) => ({
              time: 1,
              body: { stringValue: text },
              attributes: [attribute],
              trace: new Uint8Array(16),
            })),
          },
        ],
      })),
    })
    .finish();

test('all bodies of a message are read in their order, and nothing else', () => {
  fc.assert(
    fc.property(fc.array(fc.array(fc.string({ unit: 'grapheme' }))), (batches) => {
      expect(logBodies(exported(batches))).toEqual(batches.flat());
    }),
    { numRuns: cases(200) },
  );
});

test('a body that is no text is left out, and a message that was cut is refused', () => {
  const number = { resourceLogs: [{ scopeLogs: [{ logRecords: [{ body: { intValue: 5 } }] }] }] };
  expect(logBodies(type.encode(number).finish())).toEqual([]);
  expect(logBodies(new Uint8Array(0))).toEqual([]);
  const bytes = exported([['acct_a rcpt_1']]);
  expect(() => logBodies(bytes.subarray(0, bytes.length - 20))).toThrow();
});
