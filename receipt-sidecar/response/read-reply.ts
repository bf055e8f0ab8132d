/**
 * Reads one JSON reply of a provider: from its bytes to what it says of tokens and energy and to the bytes that may
 * reach the client; or to our error. The same on the main thread, for small replies, and on the threads, for all
 * others.
 *
 * Invariant: what is left of a reply that was read holds nothing that only we may say (see json-body.ts).
 */
import { type ApiError, apiError } from '@gw/contract/errors';
import type { TelemetryResult } from '@gw/methodology/telemetry/reading';
import type { ParsedRequest } from '../request/parsed-request.ts';
import { contextError } from './context-error.ts';
import { createEnergyReader } from './energy-reader.ts';
import { decodeUtf8, holdsMoreThan, isEmptyWithoutOurs, parseObject, withoutForgery } from './json-body.ts';
import { providerError } from './provider-error.ts';
import { wordsOf } from './provider-words.ts';
import { ReplyCounts, type SaidSoFar } from './usage.ts';

/** What reading depends on besides the body. It is plain data, since it is sent to a thread. */
export interface ReplyFacts {
  readonly status: number;
  readonly request: ParsedRequest;
  /** What the provider calls the model. */
  readonly providerModel: string;
  /** The shape in which the deployment reports energy; null if it reports none. */
  readonly telemetryShape: string | null;
}

/** A JSON object as bytes, to which keys can be added. */
export interface CleanObject {
  readonly bytes: Uint8Array;
  /** The index of its last brace, before which another key goes. */
  readonly end: number;
  readonly isEmpty: boolean;
}

export type ReplyReading =
  /** Null if the reply holds more than can be read: it can be a completion all the same. */
  | { readonly ok: false; readonly error: ApiError | null }
  | {
      readonly ok: true;
      readonly clean: CleanObject;
      readonly said: SaidSoFar;
      /** The energy that the body reports; null if it says nothing. */
      readonly telemetry: TelemetryResult;
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
export function readReply(
  bytes: Uint8Array,
  { providerModel, request, status, telemetryShape }: ReplyFacts,
): ReplyReading {
  if (bytes.length > maxReplyBytes) return failed(apiError('upstream_invalid_response'));
  const text = decodeUtf8(bytes);
  if (status !== 200) return failed(providerError(status, text ?? '', request, providerModel));
  if (text !== null && holdsMoreThan(mostParts, text)) return failed(null);
  const value = text === null ? null : parseObject(text);
  if (text === null || !value) return failed(apiError('upstream_invalid_response'));
  if (value.error) return failed(contextError(wordsOf(value), request, false) ?? apiError('upstream_error'));
  const { answerBytes, claim, isStale, otherBytes, reasoningBytes } = countsOf(value);
  const energyReader = createEnergyReader(telemetryShape, () => ({}));
  energyReader?.takeObject(value);
  const clean = withoutForgery(text, value);
  return {
    ok: true,
    clean: placeIn(clean === text ? bytes : encoder.encode(clean), isEmptyWithoutOurs(value)),
    said: { answerBytes, claim, isStale, otherBytes, reasoningBytes },
    telemetry: energyReader?.said ?? null,
  };
}

function countsOf(value: Record<string, unknown>): ReplyCounts {
  const counts = new ReplyCounts();
  counts.take(value);
  return counts;
}

const closingBrace = 0x7d;
const placeIn = (bytes: Uint8Array, isEmpty: boolean): CleanObject => ({
  ...{ bytes, isEmpty },
  end: bytes.lastIndexOf(closingBrace),
});

/** Returns the object with `added` (JSON without braces) at its end, in parts, so that nothing is copied. */
export function withAdded({ bytes, end, isEmpty }: CleanObject, added: string): readonly Buffer[] {
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  return [whole.subarray(0, end), Buffer.from(added && `${isEmpty ? '' : ','}${added}`), whole.subarray(end)];
}
