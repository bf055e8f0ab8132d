/**
 * Neuralwatt: `energy` in the body; in a stream an SSE comment `: energy {…}` before the end. Both hold the call's share
 * of the server's energy. Read from the published shape, not yet tried against the live service.
 *
 * Invariant: joules and kilowatt-hours that differ by more than a per cent are refused, not chosen between.
 */
import {
  amountOrNull,
  boundedCopy,
  own,
  readingOf,
  refusal,
  type StatedEnergy,
  type TelemetryResult,
  textOrNull,
} from './reading.ts';

const joulesPerKwh = 3.6e6;
const agreement = 0.01;
const longestComment = 16_384;

/** `body`: the parsed reply or chunk. */
export function readNeuralwatt(body: unknown): TelemetryResult {
  return readEnergy(own(body, 'energy'));
}

/** `comment`: one SSE line that begins with a colon, with or without the colon. */
export function readNeuralwattComment(comment: string): TelemetryResult {
  if (comment.length > longestComment) return tooLong(comment.slice(0, longestComment));
  const text = /^:?\s*energy\s+(\{.*\})\s*$/s.exec(comment)?.[1];
  if (text === undefined) return null;
  try {
    return readEnergy(JSON.parse(text));
  } catch {
    return refusal('neuralwatt', textOrNull(text))('not_a_number');
  }
}

/** Not parsed: a figure needs no such length. */
function tooLong(beginning: string): TelemetryResult {
  return /^:?\s*energy\s+\{/.test(beginning) ? refusal('neuralwatt', textOrNull(beginning))('not_a_number') : null;
}

function readEnergy(energy: unknown): TelemetryResult {
  if (typeof energy !== 'object' || energy === null) return null;
  const raw = boundedCopy(energy);
  const joules = own(energy, 'energy_joules');
  const kwh = own(energy, 'energy_kwh');
  if (joules === undefined && kwh === undefined) return null;
  if (typeof joules === 'number' && typeof kwh === 'number' && !agree(joules, kwh * joulesPerKwh)) {
    return refusal('neuralwatt', raw)('inconsistent');
  }
  const stated: Omit<StatedEnergy, 'value'> & { value: unknown } =
    joules === undefined
      ? { field: 'energy.energy_kwh', value: kwh, unit: 'kWh', tokens: null, range: null }
      : { field: 'energy.energy_joules', value: joules, unit: 'J', tokens: null, range: null };
  const method = textOrNull(own(energy, 'attribution_method'));
  const ratio = amountOrNull(own(energy, 'attribution_ratio'));
  return readingOf(
    {
      source: 'neuralwatt',
      includesPue: null,
      scope: 'total',
      durationS: amountOrNull(own(energy, 'duration_seconds')),
      attribution: ratio === null ? method : `${method ?? 'share of the server'}, ratio ${ratio}`,
      intervalS: null,
      raw,
    },
    stated,
  );
}

/** Two figures that are not comparable (one is not finite) agree here; the conversion refuses them afterwards. */
const agree = (a: number, b: number): boolean =>
  !Number.isFinite(a - b) || Math.abs(a - b) <= agreement * Math.max(Math.abs(a), Math.abs(b));
