import fc from 'fast-check';
import protobuf from 'protobufjs';
import { expect, it } from 'vitest';
import json from './generated/protocols.json' with { type: 'json' };
import { codec } from './messages.ts';
import { MessageWriter } from './writer.ts';

const root = protobuf.Root.fromJSON(json);
root.resolveAll();

const answers = [
  ['envoy.service.auth.v3', 'CheckRequest', 'CheckResponse'],
  ['envoy.service.ratelimit.v3', 'RateLimitRequest', 'RateLimitResponse'],
  ['envoy.service.ext_proc.v3', 'ProcessingRequest', 'ProcessingResponse'],
  ['envoy.service.accesslog.v3', 'StreamAccessLogsMessage', 'StreamAccessLogsResponse'],
] as const;

/** Lengths about those where the length of a length changes, and where a message no longer fits into the memory of others. */
const lengths = fc.oneof(fc.nat(200), fc.constantFrom(127, 128, 16_383, 16_384, 70_000));
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  lengths.map((length) => 'x'.repeat(length)),
  fc.tuple(lengths, fc.constantFrom('é', '漢', '😀')).map(([length, letter]) => letter.repeat(length)),
);

const scalars: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  string: text,
  bytes: fc.oneof(
    fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
    lengths.map((length) => Buffer.alloc(length, 7)),
  ),
  bool: fc.boolean(),
  double: fc.double(),
  uint32: fc.nat(0xffffffff),
  int32: fc.integer(),
  int64: fc.maxSafeInteger(),
};

function valueFor({ resolvedType, type }: protobuf.Field, depth: number): fc.Arbitrary<unknown> | null {
  if (resolvedType instanceof protobuf.Enum) return fc.constantFrom(...Object.values(resolvedType.values));
  if (resolvedType instanceof protobuf.Type) return depth === 0 ? null : messageOf(resolvedType, depth - 1);
  return scalars[type] ?? null;
}

/** Any message of the type, with no more than `depth` others in each other. A type of a field that this test does not know fails it. */
function messageOf(type: protobuf.Type, depth: number): fc.Arbitrary<object> {
  const fields: Record<string, fc.Arbitrary<unknown>> = {};
  for (const field of type.fieldsArray) {
    field.resolve();
    const value = valueFor(field, depth);
    if (value === null && !(field.resolvedType instanceof protobuf.Type)) throw new Error(`What is ${field.type}?`);
    if (value === null) continue;
    const key = fc.string({ maxLength: 12 }).filter((name) => name !== '__proto__');
    if (field instanceof protobuf.MapField) fields[field.name] = fc.dictionary(key, value, { maxKeys: 3 });
    else fields[field.name] = field.repeated ? fc.array(value, { maxLength: 4 }) : value;
  }
  return fc.record(fields, { requiredKeys: [] });
}

it.each(answers)('%s: each %s is answered byte for byte as protobufjs writes it', (name, request, response) => {
  const type = root.lookupType(`${name}.${response}`);
  const { encode } = codec<unknown, object>(name, request, response);
  fc.assert(
    fc.property(messageOf(type, 6), (message) => {
      expect(Buffer.compare(encode(message), type.encode(message).finish())).toBe(0);
    }),
  );
});

it('a message that cannot be written leaves nothing to the next one', () => {
  const { encode } = codec<unknown, object>('envoy.service.auth.v3', 'CheckRequest', 'CheckResponse');
  const denied = { deniedResponse: { body: 'no' } };
  const expected = Buffer.from(encode(denied));
  const broken = { status: { code: 7 }, deniedResponse: { body: Symbol('no text') } };
  expect(() => encode(broken)).toThrow();
  expect(Buffer.compare(encode(denied), expected)).toBe(0);
});

/** Messages in messages that end in each kind of thing; the outer one is longer than a byte can say. */
const endings: Readonly<Record<string, (writer: MessageWriter) => MessageWriter>> = {
  'a bool': (writer) => writer.uint32(8).bool(true),
  'a number': (writer) => writer.uint32(16).uint32(300),
  'a double': (writer) => writer.uint32(17).double(1.5),
  bytes: (writer) => writer.uint32(10).bytes(Buffer.from('ab')),
  'a long text': (writer) => writer.uint32(10).string('z'.repeat(130)),
  'an empty text': (writer) => writer.uint32(10).string(''),
};

it.each(Object.entries(endings))(
  'a message that ends in %s is the same wherever the memory of others ends',
  (_, end) => {
    const write = (writer: MessageWriter): Buffer => {
      // Each end moves what is longer than a byte can say, and so uses up what the last field has left.
      for (let depth = 0; depth < 8; depth += 1) writer.uint32(10).fork();
      for (let at = 0; at < 12; at += 1) writer.uint32(10).fork().uint32(10).string(`name-${at}`).ldelim();
      end(writer);
      for (let depth = 0; depth < 8; depth += 1) writer.ldelim();
      return writer.finish();
    };
    const expected = Buffer.from(write(new MessageWriter()));
    expect(expected.length).toBeGreaterThan(128);
    // What is left, from all of the message and some more to nothing. A message before leaves no room that others do not need.
    for (let left = expected.length + 20; left >= 0; left -= 1) {
      const writer = new MessageWriter();
      for (let used = 0; used < 65_536 - left; used += 1) writer.bool(true);
      writer.finish();
      for (let again = 0; again < 3; again += 1) expect(Buffer.compare(write(writer), expected), `${left}`).toBe(0);
    }
  },
);

it('after a large message small ones keep no more than their own memory', () => {
  const writer = new MessageWriter();
  expect(writer.string('x'.repeat(1_000_000)).finish()).toHaveLength(1_000_003);
  expect(writer.bool(true).finish().buffer.byteLength).toBe(65_536);
});

it.each([126, 127, 128, 16_382, 16_383, 16_384, 2_097_151, 2_097_152])(
  'a message of %i bytes in another one',
  (size) => {
    const writer = new MessageWriter();
    const bytes = Buffer.alloc(size - new MessageWriter().uint32(size).finish().length, 7);
    const written = writer.uint32(10).fork().bytes(bytes).ldelim().uint32(16).uint32(5).finish();
    const own = protobuf.Writer.create().uint32(10).fork().bytes(bytes).ldelim().uint32(16).uint32(5).finish();
    expect(Buffer.compare(written, own)).toBe(0);
  },
);

it('messages stay as they are while others are written', () => {
  const writer = new MessageWriter();
  const made = Array.from({ length: 3000 }, (_, index) => {
    const wanted = `${index} ${'y'.repeat(index % 500)}`;
    return { wanted, bytes: writer.string(wanted).finish() };
  });
  for (const { bytes, wanted } of made) {
    const { length } = wanted;
    expect(bytes.subarray(length < 128 ? 1 : 2).toString()).toBe(wanted);
  }
});
