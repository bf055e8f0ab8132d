/**
 * Reads one JSON reply of a provider: from its bytes to what it says of tokens and energy and to the bytes that may
 * reach the client; or to our error. The same on the main thread, for small replies, and on the threads, for all
 * others.
 *
 * Invariant: what is left of a reply that was read holds nothing that only we may say (see json-body.ts), and no text that could not be
 * sent back: NUL and halves of surrogate pairs are U+FFFD.
 */
import { type ApiError, apiError } from '@gw/contract/errors';
import type { OperatorFault } from '@gw/contract/internal/operator-faults';
import { type JsonObject, withoutMark } from '@gw/contract/internal/strict-json';
import { wellFormed } from '@gw/contract/internal/well-formed';
import type { TelemetryResult } from '@gw/methodology/telemetry/reading';
import { type Returning, replyFrom } from '../api/behind.ts';
import type { ParsedRequest } from '../api/port/parsed-request.ts';
import type { SaidSoFar, Written } from '../api/port/shape.ts';
import { faultError, type ProviderNames, providerError, toldError } from '../api/provider-errors/provider-error.ts';
import { wordsOf } from '../api/provider-errors/provider-words.ts';
import { shapeOf } from '../api/shapes.ts';
import { decompressed, type Encoding } from '../wire/compressed.ts';
import {
  type Additions,
  additionsText,
  addsToUsage,
  decodeUtf8,
  holdsMoreThan,
  parseObject,
  placeForUsage,
  type UsagePlace,
  usageAddition,
  withoutForgery,
  withoutImpacts,
} from '../wire/json-body.ts';
import { boundAnswer } from './bound-answer.ts';
import { createEnergyReader } from './energy-reader.ts';

/** The inputs of reading besides the body. It is plain data, since it is sent to a thread. */
export interface ReplyFacts {
  readonly status: number;
  /** Why the deployment needs its operator; null if it does not. */
  readonly fault: OperatorFault | null;
  readonly request: ParsedRequest;
  readonly provider: ProviderNames;
  /** The shape in which the deployment reports energy; null if it reports none. */
  readonly telemetryShape: string | null;
  /** How it is translated; null: it is in the API of the client. */
  readonly returning: Returning | null;
  /** How the body is compressed; null: it is not. */
  readonly encoding: Encoding | null;
  /** Whether the gateway states `usage.impacts`, so that a provider's goes; absent: it does not. */
  readonly usageImpacts?: boolean;
}

/** A job of the threads that read replies. */
export interface ReplyJob {
  readonly kind: 'reply';
  readonly bytes: Uint8Array;
  readonly facts: ReplyFacts;
}

/** A JSON object as bytes, with a key at least, to which keys can be added. */
export interface CleanObject {
  readonly bytes: Uint8Array;
  /** The index of its last brace, before which another key goes. */
  readonly end: number;
  /** Where a key of its `usage` goes, as an index of a byte; null if it has none. */
  readonly usage: UsagePlace | null;
}

export type ReplyReading =
  /** Null if the reply holds more than can be read: it can be a completion all the same. */
  | { readonly ok: false; readonly error: ApiError | null }
  | {
      readonly ok: true;
      /** Whether `clean` holds the events of a stream, which the client asked for and the provider did not send. */
      readonly isStream: boolean;
      readonly clean: CleanObject;
      readonly said: SaidSoFar;
      /** The energy that the body reports; null if it says nothing. */
      readonly telemetry: TelemetryResult;
      /** The digest of the answer that the client gets; null for a stream, whose events are read again, and for a call that is bound to nothing. */
      readonly answerDigest: string | null;
    };

/** Envoy buffers a little more, so that the receipt fits behind the largest reply. */
export const maxReplyBytes = 64 * 1024 * 1024;

/**
 * Texts, lists and objects. Twenty alternatives for each of sixteen thousand tokens have as many; read, they take at
 * most 320 MB, which a thread has (body-threads.ts). Where it runs out, it spends minutes on finding room.
 */
const mostParts = 2_000_000;

/** Unlike a small Buffer, what it makes shares its memory with nothing else. */
const encoder = new TextEncoder();

const failed = (error: ApiError | null): ReplyReading => ({ ok: false, error });

/** Reads a reply. Whatever is wrong with it is the error of the result. */
export function readReply(sent: Uint8Array, facts: ReplyFacts): ReplyReading {
  const { encoding, fault, provider, request, returning, status, telemetryShape } = facts;
  const bytes = encoding === null ? sent : decompressed(sent, encoding, maxReplyBytes);
  if (fault !== null) return failed(faultError(fault));
  if (bytes === null && status !== 200) return failed(providerError(status, '', request, provider));
  if (bytes === null || bytes.length > maxReplyBytes) return failed(apiError('upstream_invalid_response'));
  const unmarked = withoutMark(bytes);
  const original = decodeUtf8(unmarked);
  const text = original === null ? null : wellFormed(original);
  if (status !== 200) return failed(providerError(status, text ?? '', request, provider));
  if (text !== null && holdsMoreThan(mostParts, text)) return failed(null);
  const said = text === null ? null : parseObject(text);
  if (text === null || !said) return failed(apiError('upstream_invalid_response'));
  if (shapeOf(returning?.api ?? request.endpoint).reply.isFailure(said))
    return failed(toldError(wordsOf(said), request, false) ?? apiError('upstream_error'));
  const energyReader = createEnergyReader(telemetryShape, () => ({}));
  energyReader?.takeObject(said);
  const telemetry = energyReader?.said ?? null;
  if (returning === null)
    return readAs(facts, { text, value: said, bytes: text === original ? unmarked : null, telemetry });
  const translated = replyFrom(returning, request.endpoint, text);
  const value = translated === null ? null : parseObject(translated);
  if (translated === null || !value) return failed(apiError('upstream_invalid_response'));
  return readAs(facts, { text: translated, value, bytes: null, telemetry });
}

interface ClientReply {
  /** In the API of the client. */
  readonly text: string;
  readonly value: JsonObject;
  /** The bytes of `text`; null if there are none yet. */
  readonly bytes: Uint8Array | null;
  readonly telemetry: TelemetryResult;
}

function readAs(
  { request, usageImpacts = false }: ReplyFacts,
  { bytes, telemetry, text, value }: ClientReply,
): ReplyReading {
  const { endpoint, stream: wantsStream } = request;
  const { reply } = shapeOf(endpoint);
  const tally = reply.tally();
  tally.take(value);
  const { answerBytes, claim, isFiltered, isStale, otherBytes, reasoningBytes } = tally;
  const { stream } = reply;
  const isStream = wantsStream && stream !== null;
  const mended = isStream ? { text, value } : reply.mended(text, value);
  const whole = mended.text === text && bytes !== null ? bytes : encoder.encode(mended.text);
  return {
    ok: true,
    isStream,
    clean: isStream ? cleanEvents(stream.whole(text)) : cleanObject(whole, mended, usageImpacts),
    said: { answerBytes, claim, isFiltered, isStale, otherBytes, reasoningBytes },
    telemetry,
    answerDigest: isStream ? null : answerDigest(request, mended.value),
  };
}

function answerDigest(request: ParsedRequest, reply: JsonObject): string | null {
  const answer = boundAnswer(request);
  answer?.take(reply);
  return answer?.bound() ?? null;
}

/** Nothing is added to events here: each is read again, like those of a provider. They get memory of their own, which a thread can give away. */
const cleanEvents = (events: Buffer): CleanObject => {
  const bytes = new Uint8Array(events);
  return { bytes, end: bytes.length, usage: null };
};

const closingBrace = 0x7d;
function cleanObject(bytes: Uint8Array, { text: original, value }: Written, usageImpacts: boolean): CleanObject {
  const unforged = withoutForgery(original, value);
  const text = usageImpacts ? withoutImpacts(unforged) : unforged;
  const place = placeForUsage(text, value);
  const clean = text === original ? bytes : encoder.encode(text);
  // Counted from the end: the usage stands there, and the text in front of it can be long.
  const usage = place && { ...place, at: clean.length - Buffer.byteLength(text.slice(place.at)) };
  return { bytes: clean, end: clean.lastIndexOf(closingBrace), usage };
}

/** Returns the object with the additions, in parts, so that nothing is copied. */
export function withAdded({ bytes, end, usage }: CleanObject, additions: Additions): readonly Buffer[] {
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const added = additionsText(additions);
  const last = [Buffer.from(added && `,${added}`), whole.subarray(end)];
  if (usage === null || !addsToUsage(additions)) return [whole.subarray(0, end), ...last];
  const inUsage = Buffer.from(usageAddition(usage, additions));
  return [whole.subarray(0, usage.at), inUsage, whole.subarray(usage.at, end), ...last];
}
