/** The inputs and results of reading a stream. */
import { type Addresses, type ApiError, apiError } from '@gw/contract/errors';
import type { JsonObject } from '@gw/contract/internal/strict-json';
import type { AnswerDigest } from '@gw/evidence/answer-digest';
import type { TokenUsage } from '@gw/methodology/assess';
import type { StreamReader } from '../api/port/shape.ts';
import { wordsOf } from '../api/provider-errors/provider-words.ts';
import type { StreamFacts } from '../receipt/reply-facts.ts';
import type { Additions, UsageAdditions } from '../wire/json-body.ts';
import type { Room } from '../wire/room.ts';
import type { EnergyReader } from './energy-reader.ts';

export type { StreamFacts };

/** The additions of the receipt to a stream. */
export interface StreamReceipt extends UsageAdditions, Required<Omit<Additions, keyof UsageAdditions>> {
  /** The counts of the receipt, perhaps estimated; null if it has none. */
  readonly counts: TokenUsage | null;
}

export interface EventStreamOptions {
  /** Knows the events of the API; for this stream alone. */
  readonly reader: StreamReader;
  readonly addresses: Addresses;
  /** Takes in what the client gets; null or absent: its receipt is bound to nothing. */
  readonly answer?: Pick<AnswerDigest, 'take' | 'takeLetters'> | null;
  /** Null if the provider reports no energy. */
  readonly energyReader: EnergyReader | null;
  /** Returns the error for a failure whose words are about the request; null for any other. `isEmpty`: nothing was generated before. */
  readonly refusalFor: (event: JsonObject, isEmpty: boolean) => ApiError | null;
  /** For large events that are not complete yet. */
  readonly room: Room;
  /** The most parts that an event may have (see wire/json-body.ts). */
  readonly mostParts: number;
  /** Makes the receipt, once, when everything that counts is known. */
  readonly receipt: (facts: StreamFacts) => StreamReceipt;
}

/** How a stream can fail. */
export const streamErrors = {
  unreadable: apiError('upstream_invalid_response', {
    message: 'The model provider sent an event that could not be read.',
  }),
  endedEarly: apiError('upstream_error', {
    message: 'The model provider ended the stream before the answer was complete.',
  }),
  saidNothing: apiError('upstream_error', { message: 'The model provider sent a stream without an answer.' }),
  failedMidway: apiError('upstream_error', { message: 'The model provider failed in the middle of the stream.' }),
  overloadedMidway: {
    ...apiError('upstream_error', { message: 'The model provider was overloaded in the middle of the stream.' }),
    isOverload: true,
  },
} as const;

/** Returns the error for an event by which the provider says that it has failed. */
export const failureOf = (event: JsonObject): ApiError =>
  wordsOf(event).type === 'overloaded_error' ? streamErrors.overloadedMidway : streamErrors.failedMidway;
