/**
 * The calls of a period, as SQL: whole days, hours and minutes from their sums, the parts of minutes at its ends from their receipts.
 *
 * Invariant: the sums of these rows are the same whichever way they are read, in one snapshot. A day or an hour is read from its sums only
 * while nothing says that its hours or minutes have changed since; a day also only if no price and no contract begins or ends within it. A
 * minute that has a receipt which is not genuine is read from its receipts.
 */
import { dayMs, hourMs, minuteMs } from '@gw/contract/internal/durations';
import { Prisma } from '@gw/prisma/client';
import { asSums, body, byItself, facetColumns, facetsAndAmounts, startOf, sumColumns } from './calls.ts';
import type { UsageQuestion } from './question.ts';

interface Span {
  readonly from: Date;
  readonly to: Date;
}
interface Parts {
  readonly whole: Span;
  readonly edges: readonly Span[];
}

/** A period in whole minutes, hours or days, whose sums there may be, and the parts of such at its ends. */
export function partsOf({ from, to }: Span, ms: number): Parts {
  const whole = { from: new Date(Math.ceil(from.getTime() / ms) * ms), to: new Date(floor(to, ms)) };
  if (whole.from > whole.to) return { whole: { from, to: from }, edges: [{ from, to }] };
  const edges = [
    { from, to: whole.from },
    { from: whole.to, to },
  ];
  return { whole, edges: edges.filter((edge) => edge.from < edge.to) };
}

const floor = (time: Date, ms: number): number => Math.floor(time.getTime() / ms) * ms;

/**
 * Common table expressions, of which `calls` has a row per time and facets from sums, and one per receipt from the others; `hour` is when that
 * began, in an hour that all its calls are in, or a day. `turns` has to stand before them.
 */
export function calls(question: UsageQuestion): Prisma.Sql {
  const minutes = partsOf(question, minuteMs);
  const hours = partsOf(minutes.whole, hourMs);
  const days = partsOf(hours.whole, dayMs);
  return Prisma.sql`${changed(question, minutes.whole, hours.whole, days.whole)},
    calls AS (${Prisma.join(
      [
        ...fromDays(question, days.whole),
        ...fromHours(question, days.edges),
        ...fromMinutes(question, minutes.whole, hours.edges),
        ...fromReceipts(question, minutes),
      ],
      ' UNION ALL ',
    )})`;
}

const ownOf = ({ accountId }: UsageQuestion, table: string): Prisma.Sql =>
  accountId === null ? Prisma.sql`TRUE` : Prisma.sql`${Prisma.raw(table)}.account_id = ${accountId}`;
const within = (column: string, { from, to }: Span): Prisma.Sql =>
  Prisma.sql`${Prisma.raw(column)} >= ${from} AND ${Prisma.raw(column)} < ${to}`;

const isFault = Prisma.sql`f.kind = 'receipt' AND f.name = r.id AND f.number = r.version AND f.mended_at IS NULL`;

/** Minutes that are read from their receipts, hours from their minutes, and days from their hours. */
const changed = (question: UsageQuestion, minutes: Span, hours: Span, days: Span): Prisma.Sql => Prisma.sql`
  faulty AS MATERIALIZED (
    SELECT DISTINCT r.account_id, ${startOf('minute', 'r.created_at')} AS minute
    FROM integrity_faults f JOIN receipts r ON ${isFault}
    WHERE ${ownOf(question, 'r')} AND ${within('r.created_at', minutes)}),
  hours_by_minutes AS (
    SELECT account_id, hour FROM usage_hour_changes c WHERE ${ownOf(question, 'c')} AND ${within('hour', hours)}
    UNION
    SELECT account_id, ${startOf('hour', 'minute')} FROM faulty WHERE ${within('minute', hours)}),
  days_by_hours AS (
    SELECT account_id, day FROM usage_day_changes c WHERE ${ownOf(question, 'c')} AND ${within('day', days)}
    UNION
    SELECT account_id, ${startOf('day', 'hour')} FROM hours_by_minutes WHERE ${within('hour', days)}
    UNION
    SELECT d.account_id, d.day
    FROM turns CROSS JOIN LATERAL unnest(times) AS t(at) JOIN usage_days d ON d.day = ${startOf('day', 't.at')} AND d.day < t.at
    WHERE ${ownOf(question, 'd')} AND ${within('d.day', days)})`;

const columns = Prisma.sql`requests, ${facetColumns}, ${sumColumns}`;
/** A row that belongs to the sums of both versions names neither. */
const counts = ({ version }: UsageQuestion): Prisma.Sql =>
  Prisma.sql`(issued IS NULL OR issued = ${version === 'issued'})`;

const fromDays = (question: UsageQuestion, days: Span): Prisma.Sql[] => [
  Prisma.sql`
  SELECT account_id, day AS hour, ${columns} FROM usage_days u
  WHERE ${ownOf(question, 'u')} AND ${counts(question)} AND ${within('day', days)}
    AND NOT EXISTS (SELECT 1 FROM days_by_hours n WHERE (n.account_id, n.day) = (u.account_id, u.day))`,
];

/** Hours of days that are read by them, and at the ends of the period. */
function fromHours(question: UsageQuestion, edges: readonly Span[]): Prisma.Sql[] {
  const isSummed = Prisma.sql`NOT EXISTS (SELECT 1 FROM hours_by_minutes n WHERE (n.account_id, n.hour) = (u.account_id, u.hour))`;
  return [
    Prisma.sql`
    SELECT u.account_id, u.hour, ${columns} FROM days_by_hours d CROSS JOIN LATERAL (
      SELECT * FROM usage_hours u
      WHERE u.account_id = d.account_id AND u.hour >= d.day AND u.hour < d.day + INTERVAL '24 hours' AND ${counts(question)} ${byItself}) u
    WHERE ${isSummed}`,
    ...edges.map(
      (edge) => Prisma.sql`
    SELECT account_id, hour, ${columns} FROM usage_hours u
    WHERE ${ownOf(question, 'u')} AND ${counts(question)} AND ${within('hour', edge)} AND ${isSummed}`,
    ),
  ];
}

/** Minutes of hours that are read by them, and at the ends of the period; and what receipts have added since their minutes were summed. */
function fromMinutes(question: UsageQuestion, whole: Span, edges: readonly Span[]): Prisma.Sql[] {
  const isSound = Prisma.sql`NOT EXISTS (SELECT 1 FROM faulty n WHERE (n.account_id, n.minute) = (u.account_id, u.minute))`;
  const minutesIn = (table: string, span: Span): Prisma.Sql => Prisma.sql`
    SELECT account_id, minute, ${columns} FROM ${Prisma.raw(table)} u
    WHERE ${ownOf(question, 'u')} AND ${counts(question)} AND ${within('minute', span)} AND ${isSound}`;
  return [
    Prisma.sql`
    SELECT u.account_id, u.minute, ${columns} FROM hours_by_minutes h CROSS JOIN LATERAL (
      SELECT * FROM usage_minutes u
      WHERE u.account_id = h.account_id AND u.minute >= h.hour AND u.minute < h.hour + INTERVAL '1 hour' AND ${counts(question)} ${byItself}) u
    WHERE ${isSound}`,
    ...edges.map((edge) => minutesIn('usage_minutes', edge)),
    minutesIn('usage_changes', whole),
  ];
}

/** Each read states its times as values: joined ones would have Postgres look through the months of all receipts. */
function fromReceipts(question: UsageQuestion, { edges, whole }: Parts): Prisma.Sql[] {
  const sound = (span: Span): Prisma.Sql => Prisma.sql`
    ${within('r.created_at', span)} AND ${countedIn(question.version, span)}
    AND NOT EXISTS (SELECT 1 FROM integrity_faults f WHERE ${isFault})`;
  const ofReceipts = Prisma.sql`1, ${facetColumns}, ${asSums}`;
  return [
    Prisma.sql`
      SELECT account_id, minute, ${ofReceipts} FROM (
        SELECT n.account_id, n.minute, ${facetsAndAmounts}
        FROM faulty n CROSS JOIN LATERAL (
          SELECT * FROM receipts r WHERE r.account_id = n.account_id AND r.created_at >= n.minute
            AND r.created_at < n.minute + INTERVAL '1 minute' AND ${sound(whole)} ${byItself}) r
        CROSS JOIN LATERAL ${body}) receipts_of_minutes`,
    ...edges.map(
      (edge) => Prisma.sql`
      SELECT account_id, minute, ${ofReceipts} FROM (
        SELECT r.account_id, ${new Date(floor(edge.from, minuteMs))}::timestamptz AS minute, ${facetsAndAmounts}
        FROM receipts r CROSS JOIN LATERAL ${body}
        WHERE ${ownOf(question, 'r')} AND ${sound(edge)}) receipts_of_edge`,
    ),
  ];
}

/** Selects what `counted` does, in a span of time. */
const countedIn = (version: UsageQuestion['version'], { from, to }: Span): Prisma.Sql =>
  version === 'issued'
    ? Prisma.sql`r.version = 1`
    : Prisma.sql`NOT EXISTS (
        SELECT 1 FROM receipts n WHERE n.id = r.id AND n.created_at = r.created_at AND n.version > r.version
          AND n.created_at >= ${from} AND n.created_at < ${to})`;
