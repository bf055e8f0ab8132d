/**
 * GreenPT: `impact` in the body, in a stream on the last event, whose `choices` are empty. Energy in watt-milliseconds.
 * Read from the published shape, not yet tried against the live service.
 *
 * Invariant: a unit that is not the documented one is refused, never guessed.
 */
import { amountOrNull, boundedCopy, own, readingOf, refusal, type TelemetryResult, textOrNull } from './reading.ts';

/** `body`: the parsed reply or chunk. */
export function readGreenpt(body: unknown): TelemetryResult {
  const impact = own(body, 'impact');
  const energy = own(impact, 'energy');
  if (typeof energy !== 'object' || energy === null) return null;
  const raw = boundedCopy(impact);
  if (own(energy, 'unit') !== 'Wms') return refusal('greenpt', raw)('unknown_unit');
  const time = own(impact, 'inferenceTime');
  const version = textOrNull(own(impact, 'version'));
  return readingOf(
    {
      source: 'greenpt',
      includesPue: null,
      scope: 'total',
      durationS: own(time, 'unit') === 'ms' ? secondsOf(own(time, 'total')) : null,
      attribution: version === null ? null : `impact version ${version}`,
      intervalS: null,
      raw,
    },
    { field: 'impact.energy.total', value: own(energy, 'total'), unit: 'Wms', tokens: null, range: null },
  );
}

function secondsOf(ms: unknown): number | null {
  const amount = amountOrNull(ms);
  return amount === null ? null : amount / 1000;
}
