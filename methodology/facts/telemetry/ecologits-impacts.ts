/**
 * EcoLogits' own `impacts` object: `energy` in kWh as a value or as {min, max}. It is an estimate of the provider's
 * EcoLogits with its own PUE inside, not a measurement, and is marked so wherever it shows.
 *
 * Invariant: of a range the value is the mean, and its ends stay the bounds.
 */
import { boundedCopy, own, readingOf, refusal, type TelemetryReading, type TelemetryResult } from './reading.ts';

/** `body`: the parsed reply or chunk. */
export function readEcologitsImpacts(body: unknown): TelemetryResult {
  const energy = own(own(body, 'impacts'), 'energy');
  if (typeof energy !== 'object' || energy === null) return null;
  const raw = boundedCopy({ energy });
  const refuse = refusal('ecologits_impacts', raw);
  const unit = own(energy, 'unit');
  if (unit !== undefined && unit !== 'kWh') return refuse('unknown_unit');
  const value = own(energy, 'value') ?? energy;
  if (typeof value === 'number') return readingOf(about(raw), { ...field, value, range: null });
  const min = own(value, 'min');
  const max = own(value, 'max');
  if (typeof min !== 'number' || typeof max !== 'number') return refuse('not_a_number');
  if (min < 0) return refuse('negative');
  if (!(min <= max)) return refuse('inconsistent');
  return readingOf(about(raw), { ...field, value: min * 0.5 + max * 0.5, range: { min: min + 0, max: max + 0 } });
}

const field = { field: 'impacts.energy', unit: 'kWh', tokens: null } as const;

const about = (raw: unknown): Omit<TelemetryReading, 'energyWh' | 'stated'> => ({
  source: 'ecologits_impacts',
  includesPue: true,
  scope: 'total',
  durationS: null,
  attribution: 'estimated by EcoLogits at the provider',
  intervalS: null,
  raw,
});
