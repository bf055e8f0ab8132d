/**
 * `/operator/v1/grid`: the carbon intensity that calls of this moment get in each grid zone, and what its sources last said.
 *
 * Invariant: the value is chosen as for a call, so nobody looks at another one than receipts have. No key of a source is shown.
 */
import { apiError } from '@gw/contract/errors';
import { dayMs } from '@gw/contract/internal/durations';
import { fits, gridReadingFor, liveWindow } from '@gw/contract/internal/grid-reading';
import type { SnapshotGridReading } from '@gw/contract/internal/snapshot';
import { pageOf, pageSchema } from '@gw/contract/list';
import { gridBases, temporalMatches } from '@gw/contract/receipt';
import { gridProvenance, isEstimate, statedBasis, vintageOf } from '@gw/methodology/grid';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { CatalogueView } from '../../catalogue/snapshot/keeper.ts';
import type { Context } from '../../shared/context.ts';
import { refuse } from '../../shared/replies.ts';
import { isFrom } from './choice.ts';
import type { ZoneSource } from './config.ts';
import { type SourceName, sourceNames } from './reading.ts';
import { pausesOf } from './refresh.ts';
import { recentReadings, type StoredReading } from './store.ts';

const time = z.iso.datetime();
const readingSchema = z.strictObject({
  g_per_kwh: z.number(),
  source: z.string(),
  edition: z.string().nullable().describe('Of a yearly average: the package that it is from, with its checksum'),
  vintage: z.int().nullable().describe('The year of a yearly average'),
  basis: z.enum(gridBases).describe('Whether it counts the whole life cycle of power stations, or combustion alone'),
  is_estimated: z.boolean().describe('Whether its source calls it an estimate'),
  temporal_match: z.enum(temporalMatches).describe('How it fits this moment, as receipts say it'),
  period_start: time,
  period_end: time,
  observed_at: time,
  age_minutes: z.number().nullable().describe('Null: it is a forecast'),
  fetched_at: time.nullable().describe('When a live source said it'),
});
const saidSchema = z.strictObject({
  g_per_kwh: z.number(),
  signal: z.enum(['average', 'marginal', 'forecast']),
  period_start: time,
  period_end: time,
  observed_at: time,
  fetched_at: time.describe('When it said this for the first time'),
});
const sourceSchema = z.strictObject({
  source: z.enum(sourceNames),
  place: z.string().describe('Its own name for the zone'),
  newest: saidSchema.nullable().describe('Null: nothing of the last 24 hours'),
  paused: z.string().nullable().describe('Why it is not asked for a while, such as `unauthorized`'),
});
const zoneSchema = z.strictObject({
  id: z.string(),
  object: z.literal('grid_zone'),
  regions: z
    .array(z.string())
    .describe('Codes of those that are in it; none: a source is configured, and no call is there'),
  reading: readingSchema.nullable().describe('Null: nothing is known, and receipts of these regions are degraded'),
  too_old: z
    .boolean()
    .describe(
      'Sources of averages are configured, and none has a value for this moment, so another one stands in for it',
    ),
  sources: z.array(sourceSchema).describe('Those that this control plane is configured to ask, in order of preference'),
});
type Reading = z.infer<typeof readingSchema>;
type Said = z.infer<typeof saidSchema>;
type Zone = z.infer<typeof zoneSchema>;

/** It has marginal values alone, and no receipt gets these. */
const signalsOnly: SourceName = 'watttime';

export function gridOperatorRoutes(
  app: FastifyInstance,
  { addresses, db, now, redis }: Context,
  sources: readonly ZoneSource[],
  catalogue: CatalogueView,
): void {
  const config = { access: { kind: 'operator', role: 'viewer' }, reply: pageSchema(zoneSchema) } as const;
  app.get('/operator/v1/grid', { config }, async (_request, reply) => {
    const held = catalogue.current();
    if (held === null) return refuse(reply, apiError('overloaded'), addresses);
    const at = now();
    const { snapshot } = held;
    const configured = sources.map(({ zone }) => zone);
    const said = configured.length > 0 ? await recentReadings(db, [...new Set(configured)], at) : [];
    const pauses = await pausesOf(redis, sources);
    const zoneOf = (id: string): Zone => {
      const regions = snapshot.regions.filter(({ gridZone }) => gridZone === id).map(({ code }) => code);
      const own = sources.filter(({ zone }) => zone === id);
      const reading = regions.length > 0 ? gridReadingFor(snapshot, id, at) : null;
      return {
        id,
        object: 'grid_zone' as const,
        regions,
        reading: reading && shownReading(reading, at),
        too_old: regions.length > 0 && own.some(({ source }) => source !== signalsOnly) && !isLive(reading, at),
        sources: own.map((each) => ({
          source: each.source,
          place: each.place,
          newest: newestOf(each, said, at),
          paused: pauses.get(each.source) ?? null,
        })),
      };
    };
    const zones = new Set([...snapshot.regions.map(({ gridZone }) => gridZone), ...configured]);
    return pageOf([...zones].sort().map(zoneOf), ({ id }) => id);
  });
}

const isLive = (reading: SnapshotGridReading | null, at: Date): boolean =>
  reading !== null && liveWindow(reading) !== null && fits(reading, at.getTime());

function shownReading(reading: SnapshotGridReading, at: Date): Reading {
  const { edition = null, fetchedAt = null, gPerKwh, observedAt, periodEnd, periodStart, source } = reading;
  const provenance = gridProvenance(reading, at.toISOString());
  return {
    g_per_kwh: gPerKwh,
    source,
    edition,
    vintage: vintageOf(reading),
    basis: statedBasis(reading),
    is_estimated: isEstimate(reading),
    temporal_match: provenance?.temporalMatch ?? 'none',
    period_start: periodStart,
    period_end: periodEnd,
    observed_at: provenance?.observedAt ?? observedAt,
    age_minutes: provenance?.ageMinutes ?? null,
    fetched_at: fetchedAt,
  };
}

/** A reading for a week ago says nothing new about its source. */
function newestOf(source: ZoneSource, said: readonly StoredReading[], at: Date): Said | null {
  const own = said.filter((each) => isFrom(source, each) && each.periodEnd.getTime() > at.getTime() - dayMs);
  const [newest] = own.toSorted((a, b) => b.periodStart.getTime() - a.periodStart.getTime());
  if (newest === undefined) return null;
  const { fetchedAt, gPerKwh, observedAt, periodEnd, periodStart, signal } = newest;
  return {
    g_per_kwh: gPerKwh,
    signal,
    observed_at: observedAt.toISOString(),
    fetched_at: fetchedAt.toISOString(),
    period_start: periodStart.toISOString(),
    period_end: periodEnd.toISOString(),
  };
}
