/**
 * Encodes and decodes the messages of Envoy's services, which `generate.mjs` takes from their `.proto` files.
 *
 * Messages are encoded without a prior conversion: enums are numbers, bytes are Buffers.
 */
import protobuf from 'protobufjs';
import json from './generated/protocols.json' with { type: 'json' };
import { writeByOwn } from './own-types.ts';
import { MessageWriter } from './writer.ts';

export interface Codec<Request, Response> {
  decode(bytes: Buffer): Request;
  /** Returns bytes that may share memory with other messages, so copy them to keep them. */
  encode(message: Response): Uint8Array;
}

let loaded: protobuf.Root | null = null;
function protocols(): protobuf.Root {
  if (!loaded) {
    loaded = protobuf.Root.fromJSON(json);
    loaded.resolveAll();
  }
  return loaded;
}

/**
 * Makes protobufjs generate the code of a type and all nested types now, because on the first message it would take some milliseconds
 * per type.
 */
function setUp(type: protobuf.Type): void {
  if (ready.has(type)) return;
  ready.add(type);
  type.setup();
  writeByOwn(type);
  for (const { resolvedType } of type.fieldsArray) if (resolvedType instanceof protobuf.Type) setUp(resolvedType);
}
const ready = new Set<protobuf.Type>();

/** Returns the codec of a method, e.g. for `CheckRequest` and `CheckResponse` in `envoy.service.auth.v3`. */
export function codec<Request, Response>(
  packageName: string,
  request: string,
  response: string,
): Codec<Request, Response> {
  const requestType = protocols().lookupType(`${packageName}.${request}`);
  const responseType = protocols().lookupType(`${packageName}.${response}`);
  for (const type of [requestType, responseType]) setUp(type);
  return {
    decode: (bytes) => requestType.decode(bytes) as unknown as Request,
    encode: (message) => encoded(responseType, message as object),
  };
}

const writer = new MessageWriter();
function encoded(type: protobuf.Type, message: object): Buffer {
  try {
    // It has all methods that the generated code of these types calls.
    type.encode(message, writer as unknown as protobuf.Writer);
    return writer.finish();
  } catch (error) {
    writer.drop();
    throw error;
  }
}

/** An ext_proc response that replaces a body or ends the call with one. */
interface WithBody {
  readonly immediateResponse?: object | null;
  readonly requestBody?: object | null;
  readonly responseBody?: object | null;
}

/** Field numbers in ProcessingResponse, BodyResponse, CommonResponse and BodyMutation; each field is a message or bytes. */
const fieldNumber = { requestBody: 3, responseBody: 4, response: 1, bodyMutation: 3, body: 1 } as const;
/** Field numbers in ProcessingResponse and ImmediateResponse. */
const immediateNumber = { immediateResponse: 7, body: 3 } as const;
const lengthDelimited = 2;

function opening(field: number, length: number): number[] {
  const bytes = [(field << 3) | lengthDelimited];
  let left = length;
  for (; left > 0x7f; left = Math.floor(left / 0x80)) bytes.push((left % 0x80) | 0x80);
  bytes.push(left);
  return bytes;
}

/**
 * Returns the bytes between the encoded answer and its body, so that the body is never copied. Protobuf merges repeated occurrences of a
 * message field: the answer comes first, without its body, and then the same fields again with only the body.
 */
export function bodyOpening(answer: WithBody, length: number): Buffer {
  const { immediateResponse, requestBody } = answer;
  const outer = requestBody ? fieldNumber.requestBody : fieldNumber.responseBody;
  const [inner, ...around] = immediateResponse
    ? ([immediateNumber.body, immediateNumber.immediateResponse] as const)
    : ([fieldNumber.body, fieldNumber.bodyMutation, fieldNumber.response, outer] as const);
  let bytes = opening(inner, length);
  for (const field of around) bytes = [...opening(field, bytes.length + length), ...bytes];
  return Buffer.from(bytes);
}
