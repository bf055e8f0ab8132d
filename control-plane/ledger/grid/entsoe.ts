/**
 * ENTSO-E: intensity computed from the generation by type (document A75, process A16). Not yet tried against the live
 * service.
 *
 *   intensity = Σ (MW · factor) / Σ MW, over the types that have a factor
 *
 * Invariant: a value is only given for an interval in which every type of the reply has a value, since a type that is
 * published later than the others would otherwise count as zero. It is based on production and ignores imports; the
 * version of the factors is part of the source's name.
 */
import { hourMs } from '@gw/contract/internal/durations';
import { type GenerationSeries, readGeneration } from './entsoe-xml.ts';
import { factorVersion, gPerKwhByType, uncoveredShare } from './generation-factors.ts';
import { get, type Http } from './http.ts';
import {
  type GridAdapter,
  type GridReply,
  isRefusal,
  observations,
  type Statement,
  type ZonePlace,
} from './reading.ts';

const source = `entsoe (production, ${factorVersion})`;

export interface EntsoeSettings {
  readonly baseUrl: string;
  readonly token: string;
}

export function entsoe(http: Http, { baseUrl, token }: EntsoeSettings): GridAdapter {
  return {
    read: async (asked, span) => {
      const hour = Math.floor(http.now().getTime() / hourMs) * hourMs;
      const text = (ms: number): string => new Date(ms).toISOString().replace(/[-:T]/g, '').slice(0, 12);
      const query = new URLSearchParams({
        securityToken: token,
        documentType: 'A75',
        processType: 'A16',
        in_Domain: asked.place,
        // Published an hour or more after the fact.
        periodStart: text(hour - (span === 'latest' ? 4 : 24) * hourMs),
        periodEnd: text(hour + hourMs),
      });
      // "No data" comes with status 200 or 400.
      const reply = await get(http, `${baseUrl}/api?${query}`, {}, [400]);
      return isRefusal(reply) ? reply : parseEntsoe(reply.body, asked, reply.fetchedAt);
    },
  };
}

/** Computes the intensity of each complete interval, gCO2e/kWh, by the formula in the head of this file. */
export function parseEntsoe(raw: string, asked: ZonePlace, fetchedAt: Date): GridReply {
  const document = readGeneration(raw);
  if (isRefusal(document)) return document;
  const { series } = document;
  if (series.some(({ domain }) => domain !== asked.place))
    return { refused: 'wrong_zone', detail: 'the reply is for another bidding zone' };
  const intervalMs = Math.max(0, ...series.map((each) => each.intervalMs));
  const mixes = completeMixes(series, intervalMs);
  const statements: Statement[] = [];
  for (const [start, mix] of mixes) {
    const gPerKwh = intensityOf(mix);
    if (gPerKwh === null) continue;
    statements.push({
      gPerKwh,
      start,
      end: start + intervalMs,
      kind: 'average',
      isForecast: false,
      basis: 'lifecycle',
      isEstimated: false,
    });
  }
  if (statements.length === 0 && mixes.size > 0)
    return { refused: 'uncovered_generation', detail: 'too much of the generation has no factor' };
  return observations({ source, asked, fetchedAt, raw }, statements);
}

/** Megawatts by type. */
type Mix = ReadonlyMap<string, number>;

/** Returns the mean mix of each interval in which every type is complete, by its start (ms since 1970). */
function completeMixes(series: readonly GenerationSeries[], intervalMs: number): Map<number, Mix> {
  const generated = meansByType(
    series.filter((each) => !each.isConsumption),
    intervalMs,
  );
  const taken = meansByType(
    series.filter((each) => each.isConsumption),
    intervalMs,
  );
  const starts = new Set([...generated.values()].flatMap((means) => [...means.keys()]));
  const mixes = new Map<number, Mix>();
  for (const start of [...starts].sort((a, b) => a - b)) {
    const mix = new Map<string, number>();
    for (const [type, means] of generated) {
      const megawatts = means.get(start);
      if (megawatts === undefined) break;
      mix.set(type, Math.max(0, megawatts - (taken.get(type)?.get(start) ?? 0)));
    }
    if (mix.size === generated.size) mixes.set(start, mix);
  }
  return mixes;
}

/** Returns the mean megawatts by type and by start of the interval; intervals with gaps are left out. */
function meansByType(series: readonly GenerationSeries[], intervalMs: number): Map<string, Map<number, number>> {
  const byType = new Map<string, GenerationSeries[]>();
  for (const each of series) {
    const ofType = byType.get(each.type);
    if (ofType) ofType.push(each);
    else byType.set(each.type, [each]);
  }
  const means = new Map<string, Map<number, number>>();
  for (const [type, ofType] of byType) {
    const sums = new Map<number, { readonly megawattMs: number; readonly ms: number }>();
    for (const each of ofType) {
      for (const [at, megawatts] of each.megawatts) {
        const start = Math.floor(at / intervalMs) * intervalMs;
        const sum = sums.get(start) ?? { megawattMs: 0, ms: 0 };
        sums.set(start, { megawattMs: sum.megawattMs + megawatts * each.intervalMs, ms: sum.ms + each.intervalMs });
      }
    }
    const whole = [...sums].filter(([, { ms }]) => ms === intervalMs);
    means.set(type, new Map(whole.map(([start, { megawattMs }]) => [start, megawattMs / intervalMs])));
  }
  return means;
}

/** Returns gCO2e/kWh; null if nothing is generated, or if too much of it has no factor. */
function intensityOf(mix: Mix): number | null {
  let covered = 0;
  let uncovered = 0;
  let emissions = 0;
  for (const [type, megawatts] of mix) {
    const factor = gPerKwhByType[type];
    if (factor === undefined) uncovered += megawatts;
    else {
      covered += megawatts;
      emissions += megawatts * factor;
    }
  }
  if (covered <= 0 || uncovered > uncoveredShare * (covered + uncovered)) return null;
  return emissions / covered;
}
