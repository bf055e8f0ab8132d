import type { TelemetryResult } from '@gw/methodology/telemetry/reading';
import type { SaidSoFar } from '../api/port/shape.ts';

/** The facts of a stream so far. */
export interface StreamFacts {
  /** The counts and the text so far. */
  readonly said: SaidSoFar;
  /** The energy that the provider reported, or the refusal of what it said; null if it said nothing. */
  readonly telemetry: TelemetryResult;
  /** Whether each answer has come to its end, so that nothing more is generated. */
  readonly isWritten: boolean;
  /** Whether the provider itself said that it failed. */
  readonly failed: boolean;
}
