/**
 * Reads again what a source said of the energy of a call, as it is kept in `raw`.
 *
 * Invariant: what a reader kept gives what it read. Where only the beginning was kept (reading.ts bounds it), nothing is
 * said, so no true figure is ever called a contradiction.
 */
import { sameJson } from '../documents/digest.ts';
import { readEcologitsImpacts } from '../facts/telemetry/ecologits-impacts.ts';
import { readEnergyHeader } from '../facts/telemetry/energy-header.ts';
import {
  type CountedInterval,
  millijoulesIn,
  readGpuCounters,
  type SeenCounter,
} from '../facts/telemetry/gpu-counters.ts';
import { readGreenpt } from '../facts/telemetry/greenpt.ts';
import { readMelious } from '../facts/telemetry/melious.ts';
import { readNeuralwatt } from '../facts/telemetry/neuralwatt.ts';
import {
  isBounded,
  own,
  type TelemetryReading,
  type TelemetryRefusal,
  type TelemetryResult,
} from '../facts/telemetry/reading.ts';

type Telemetry = TelemetryReading | TelemetryRefusal;

const readers: Readonly<Record<Telemetry['source'], (raw: unknown) => TelemetryResult>> = {
  neuralwatt: (raw) => readNeuralwatt({ energy: raw }),
  greenpt: (raw) => readGreenpt({ impact: raw }),
  melious: (raw) => readMelious({ environment_impact: raw }),
  energy_header: readEnergyHeader,
  ecologits_impacts: (raw) => readEcologitsImpacts({ impacts: raw }),
  gpu_counters: readCounters,
};

/**
 * Returns what the source's words imply if it differs from what is stated; null if nothing contradicts it. measured.ts
 * checks the figure in Wh where it is used; whether that includes the overhead, a reply need not say.
 */
export function contradiction(stated: Telemetry | null): { readonly follows: TelemetryResult } | null {
  if (stated === null || (isSeen(stated.raw) ? isCutOff(stated.raw) : isBounded(stated.raw))) return null;
  const follows = readers[stated.source](stated.raw);
  const isReading = follows !== null && 'energyWh' in follows;
  // A refused figure keeps not all that it was refused for, but it gives no reading either.
  if (!('energyWh' in stated)) return isReading ? { follows } : null;
  // It came in Wh, not by a reader.
  if (!stated.stated) return null;
  return isReading && sameJson(said(follows), said(stated)) ? null : { follows };
}

const said = ({ attribution, durationS, intervalS, scope, stated }: TelemetryReading) => [
  ...[attribution, durationS, intervalS, scope],
  stated,
];

/** As many as the control plane keeps of one call at most, and of the name of one: there may have been more. */
const mostSeen = 128;
const longestSeries = 300;

const isSeen = (raw: unknown): raw is Counted => Array.isArray(own(raw, 'seen'));

interface Counted {
  readonly seen: readonly SeenCounter[];
  readonly callTokens: number;
  readonly allTokens: number;
}

const isCutOff = ({ seen }: Counted): boolean =>
  seen.length >= mostSeen || seen.some(({ series }) => series.length >= longestSeries);

/** Two samples, or the counters that they were put together from: those of tokens, and those of energy in their unit. */
function readCounters(raw: unknown): TelemetryResult {
  if (typeof raw !== 'object' || raw === null) return null;
  if (!isSeen(raw)) return readGpuCounters(raw as CountedInterval);
  const { callTokens, seen } = raw;
  const gpus = seen.filter(({ unit }) => unit !== 'token');
  const servers = seen.filter(({ unit }) => unit === 'token');
  const at = (end: 'before' | 'after') =>
    Object.fromEntries(gpus.map((each) => [each.series, each[end][1] * millijoulesIn[each.unit as 'mJ']]));
  return readGpuCounters({
    before: { atS: Math.min(...gpus.map(({ before }) => before[0])), energyMj: at('before') },
    after: { atS: Math.max(...gpus.map(({ after }) => after[0])), energyMj: at('after') },
    callTokens,
    allTokens: servers.reduce((sum, { before, after }) => sum + (after[1] - before[1]), 0),
    seen,
  });
}
