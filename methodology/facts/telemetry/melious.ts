/**
 * Melious: `environment_impact` in the body, in a stream on the final chunk. Energy in kWh.
 * Read from the published shape, not yet tried against the live service.
 *
 * Invariant: the PUE that the provider names is recorded; that it is in the figure is not assumed.
 */
import { amountOrNull, boundedCopy, own, readingOf, type TelemetryResult } from './reading.ts';

/** `body`: the parsed reply or chunk. */
export function readMelious(body: unknown): TelemetryResult {
  const impact = own(body, 'environment_impact');
  const energy = own(impact, 'energy_kwh');
  if (energy === undefined) return null;
  const pue = amountOrNull(own(impact, 'pue'));
  return readingOf(
    {
      source: 'melious',
      includesPue: null,
      scope: 'total',
      durationS: null,
      attribution: pue === null ? null : `the provider names a PUE of ${pue}`,
      intervalS: null,
      raw: boundedCopy(impact),
    },
    { field: 'environment_impact.energy_kwh', value: energy, unit: 'kWh', tokens: null, range: null },
  );
}
