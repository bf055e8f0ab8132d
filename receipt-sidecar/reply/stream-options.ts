/** What a stream of chunks is read for, and what reading it needs. */
import type { Addresses, ApiError } from '@gw/contract/errors';
import type { TelemetryResult } from '@gw/methodology/telemetry/reading';
import type { StreamReceipt } from '../api/own-chunk.ts';
import type { SaidSoFar } from '../api/usage.ts';
import type { EnergyReader } from './energy-reader.ts';

/** What a stream has said so far. */
export interface StreamFacts {
  /** The counts and the text so far. */
  readonly said: SaidSoFar;
  /** The energy that the provider reported, or the refusal of what it said; null if it said nothing. */
  readonly telemetry: TelemetryResult;
  /** Whether each choice has come to its end, so that nothing more is generated. */
  readonly isWritten: boolean;
  /** Whether the provider itself said that it failed. */
  readonly failed: boolean;
}

export interface EventStreamOptions {
  readonly wantsUsage: boolean;
  /** How many choices the request asked for: the last one to finish carries the receipt. */
  readonly expectedChoices: number;
  /** `chat.completion.chunk` or `text_completion`, for a chunk of our own. */
  readonly chunkObject: string;
  readonly addresses: Addresses;
  /** Null if the provider reports no energy. */
  readonly energyReader: EnergyReader | null;
  /** Returns the error for a failure that says that the prompt is too long; null for any other. */
  readonly tooLong: (chunk: Readonly<Record<string, unknown>>) => ApiError | null;
  /** Makes the receipt, once, when everything that counts is known. */
  readonly receipt: (facts: StreamFacts) => StreamReceipt;
}
