/**
 * Energy in reply headers: `X-Energy-Joules`, and `X-Energy-Method` for how it was found.
 * Read from the published shape, not yet tried against a live service.
 *
 * Invariant: only a plain decimal is read; a header given twice, in hexadecimal or with a unit is refused.
 */
import { boundedCopy, own, readingOf, refusal, type TelemetryResult, textOrNull } from './reading.ts';

const decimalText = /^[+-]?\d{1,40}(\.\d{1,40})?([eE][+-]?\d{1,3})?$/;

/** `headers`: name in lower case → value. */
export function readEnergyHeader(headers: unknown): TelemetryResult {
  const joules = own(headers, 'x-energy-joules');
  if (joules === undefined) return null;
  const method = own(headers, 'x-energy-method');
  const raw = boundedCopy({ 'x-energy-joules': joules, 'x-energy-method': method ?? null });
  const text = typeof joules === 'string' ? joules.trim() : '';
  if (!decimalText.test(text)) return refusal('energy_header', raw)('not_a_number');
  return readingOf(
    {
      source: 'energy_header',
      includesPue: null,
      scope: 'total',
      durationS: null,
      attribution: textOrNull(method),
      intervalS: null,
      raw,
    },
    { field: 'x-energy-joules', value: Number(text), unit: 'J', tokens: null, range: null },
  );
}
