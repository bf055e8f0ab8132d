import fc from 'fast-check';
import protobuf from 'protobufjs';
import { expect, it } from 'vitest';
import json from './generated/protocols.json' with { type: 'json' };
import { codec } from './messages.ts';
import type { Metadata, MetadataValue } from './own-types.ts';
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

const name = fc.string({ maxLength: 12 }).filter((each) => each !== '__proto__');

/** Metadata as answers have it. */
const { metadata } = fc.letrec<{ metadata: Metadata; value: MetadataValue }>((tie) => ({
  metadata: fc.dictionary(name, tie('value'), { maxKeys: 4 }),
  value: fc.oneof(
    { depthSize: 'small' },
    ...[text, fc.double(), fc.boolean(), fc.constant(null)],
    ...[tie('metadata'), fc.array(tie('value'), { maxLength: 4 })],
  ),
}));

/** The same as protobufjs has it. */
function kindOf(value: MetadataValue): object {
  if (value === null) return { nullValue: 0 };
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'number') return { numberValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (Array.isArray(value)) return { listValue: { values: value.map(kindOf) } };
  return { structValue: structOf(value as Metadata) };
}
const structOf = (fields: Metadata) => ({
  fields: Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, kindOf(value)])),
});

/** A message of the type with its metadata in the form of protobufjs. */
function asProtobufjs(type: protobuf.Type, message: object): object {
  const each = (resolvedType: protobuf.Field['resolvedType'], value: unknown): unknown => {
    if (!(resolvedType instanceof protobuf.Type)) return value;
    return resolvedType.name === 'Struct' ? structOf(value as Metadata) : asProtobufjs(resolvedType, value as object);
  };
  const entries = Object.entries(message).map(([key, value]) => {
    const field = type.fields[key];
    if (field?.map)
      return [key, Object.fromEntries(Object.entries(value).map(([of, one]) => [of, each(field.resolvedType, one)]))];
    return [
      key,
      field?.repeated
        ? value.map((one: unknown) => each(field.resolvedType, one))
        : each(field?.resolvedType ?? null, value),
    ];
  });
  return Object.fromEntries(entries);
}

function valueFor({ resolvedType, type }: protobuf.Field, depth: number): fc.Arbitrary<unknown> | null {
  if (resolvedType instanceof protobuf.Enum) return fc.constantFrom(...Object.values(resolvedType.values));
  if (resolvedType?.fullName === '.google.protobuf.Struct') return metadata;
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
    if (field instanceof protobuf.MapField) fields[field.name] = fc.dictionary(name, value, { maxKeys: 3 });
    else fields[field.name] = field.repeated ? fc.array(value, { maxLength: 4 }) : value;
  }
  return fc.record(fields, { requiredKeys: [] });
}

it.each(answers)('%s: each %s is answered byte for byte as protobufjs writes it', (service, request, response) => {
  const type = root.lookupType(`${service}.${response}`);
  const { encode } = codec<unknown, object>(service, request, response);
  fc.assert(
    fc.property(messageOf(type, 6), (message) => {
      const expected = type.encode(asProtobufjs(type, message)).finish();
      expect(Buffer.compare(encode(message), expected)).toBe(0);
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
    // The space left shrinks from more than the message to nothing. An earlier message leaves no more room than others need.
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
