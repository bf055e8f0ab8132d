/**
 * Reads ENTSO-E's generation document (A75) as series of megawatts.
 *
 * Invariant: entities are not expanded and nothing outside the document is looked at; periods whose values are held
 * (A03) are bounded together, so that a hostile document costs no more than its length. A document of any other kind,
 * or without the fields used here, is a refusal.
 */
import { minuteMs } from '@gw/contract/internal/durations';
import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { z } from 'zod';
import { type GridRefusal, timeText } from './reading.ts';

/** One period of the generation of one type in one bidding zone. */
export interface GenerationSeries {
  readonly domain: string;
  /** ENTSO-E's code of the type of generation. */
  readonly type: string;
  /** True for what a pump or a power station takes from the grid. */
  readonly isConsumption: boolean;
  /** Start of each interval, ms since 1970 → megawatts. */
  readonly megawatts: ReadonlyMap<number, number>;
  readonly intervalMs: number;
}

const minutes: Readonly<Record<string, number>> = { PT15M: 15, PT30M: 30, PT60M: 60, PT1H: 60 };
/** A day has some 50 series of at most 100 quarters of an hour; both bounds are several times that. */
const mostPeriods = 500;
const mostIntervals = 20_000;
const lists = new Set(['TimeSeries', 'Period', 'Point', 'Reason']);
const parser = new XMLParser({
  ignoreAttributes: true,
  removeNSPrefix: true,
  processEntities: false,
  parseTagValue: false,
  isArray: (name) => lists.has(name),
});

const wholeNumber = z
  .string()
  .regex(/^\d{1,9}$/)
  .transform(Number);
const quantity = z
  .string()
  .regex(/^-?\d{1,9}(\.\d{1,9})?$/)
  .transform(Number);
const periodSchema = z.object({
  timeInterval: z.object({ start: timeText, end: timeText }),
  resolution: z.string(),
  Point: z.array(z.object({ position: wholeNumber, quantity })),
});
const seriesSchema = z.object({
  'inBiddingZone_Domain.mRID': z.string().optional(),
  'outBiddingZone_Domain.mRID': z.string().optional(),
  curveType: z.string().optional(),
  MktPSRType: z.object({ psrType: z.string() }),
  Period: z.array(periodSchema),
});
const documentSchema = z.union([
  z.object({ GL_MarketDocument: z.object({ TimeSeries: z.array(seriesSchema).default([]) }) }),
  z.object({ Acknowledgement_MarketDocument: z.object({ Reason: z.array(z.object({ code: z.string() })) }) }),
]);

/** Never throws: what cannot be read is a refusal. An acknowledgement in place of the document is `no_data`. */
export function readGeneration(raw: string): { readonly series: readonly GenerationSeries[] } | GridRefusal {
  const malformed = (detail: string): GridRefusal => ({ refused: 'malformed', detail });
  let json: unknown;
  try {
    if (XMLValidator.validate(raw) !== true) return malformed('not XML');
    json = parser.parse(raw);
  } catch {
    return malformed('not XML');
  }
  const parsed = documentSchema.safeParse(json);
  if (!parsed.success) return malformed('not a generation document');
  if ('Acknowledgement_MarketDocument' in parsed.data) {
    const codes = parsed.data.Acknowledgement_MarketDocument.Reason.map(({ code }) => code);
    // 999 stands for every fault; in practice it says that there are no data for the period.
    return { refused: 'no_data', detail: `acknowledgement with reason ${codes.join(', ').slice(0, 40)}` };
  }
  const series: GenerationSeries[] = [];
  let intervals = 0;
  for (const each of parsed.data.GL_MarketDocument.TimeSeries) {
    const domain = each['inBiddingZone_Domain.mRID'] ?? each['outBiddingZone_Domain.mRID'];
    if (domain === undefined) return malformed('a series without a bidding zone');
    const isConsumption = each['inBiddingZone_Domain.mRID'] === undefined;
    for (const period of each.Period) {
      const lengthMin = minutes[period.resolution];
      if (lengthMin === undefined) return malformed('an unknown resolution');
      const intervalMs = lengthMin * minuteMs;
      const { start, end } = period.timeInterval;
      intervals += (end - start) / intervalMs;
      if (series.length === mostPeriods || intervals > mostIntervals) return malformed('more than a day has');
      const megawatts = points(period, intervalMs, each.curveType === 'A03');
      if (megawatts === null) return malformed('points outside of their period');
      series.push({ domain, type: each.MktPSRType.psrType, isConsumption, megawatts, intervalMs });
    }
  }
  return { series };
}

/**
 * Returns megawatts by the start of their interval (ms since 1970), or null if points lie outside of the period.
 * `holds` is true for curve type A03, in which a value holds until the next point.
 */
function points(period: z.infer<typeof periodSchema>, intervalMs: number, holds: boolean): Map<number, number> | null {
  const { start, end } = period.timeInterval;
  const count = (end - start) / intervalMs;
  if (!Number.isInteger(count) || count < 0) return null;
  const given = new Map(period.Point.map((point) => [point.position, point.quantity]));
  if ([...given.keys()].some((position) => position < 1 || position > count)) return null;
  const megawatts = new Map<number, number>();
  let last: number | undefined;
  for (let position = 1; position <= count; position++) {
    const value = given.get(position) ?? (holds ? last : undefined);
    if (value !== undefined) megawatts.set(start + (position - 1) * intervalMs, value);
    last = value;
  }
  return megawatts;
}
