/**
 * The calls of a period, as SQL: days and hours that are summed already from their sums, all others from their receipts.
 *
 * Invariant: the sums of these rows are the same whichever way they are read, in one snapshot. A day or an hour is read from its
 * sums only while nothing says that it has changed since; a day also only if no price and no contract begins or ends within it.
 */
import { dayMs, hourMs } from '@gw/contract/internal/durations';
import { Prisma } from '@gw/prisma/client';
import { asSums, body, byItself, dayOf, facetColumns, facetsAndAmounts, sumColumns } from './calls.ts';
import type { UsageQuestion } from './question.ts';

interface Span {
  readonly from: Date;
  readonly to: Date;
}
interface Parts {
  readonly whole: Span;
  readonly edges: readonly Span[];
}

/** A period in whole hours or days, whose sums there may be, and the parts of such at its ends. */
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
 * Common table expressions, of which `calls` has a row per day or hour and facets from sums, and one per receipt from the others. `turns`
 * has to stand before them.
 */
export function calls(question: UsageQuestion): Prisma.Sql {
  const hours = partsOf(question, hourMs);
  const days = partsOf(hours.whole, dayMs);
  return Prisma.sql`${changed(question, hours.whole, days.whole)},
    calls AS (${Prisma.join([...fromSums(question, days), ...fromReceipts(question, hours)], ' UNION ALL ')})`;
}

const ownOf = ({ accountId }: UsageQuestion, table: string): Prisma.Sql =>
  accountId === null ? Prisma.sql`TRUE` : Prisma.sql`${Prisma.raw(table)}.account_id = ${accountId}`;
const within = (column: string, { from, to }: Span): Prisma.Sql =>
  Prisma.sql`${Prisma.raw(column)} >= ${from} AND ${Prisma.raw(column)} < ${to}`;

const isFault = Prisma.sql`f.kind = 'receipt' AND f.name = r.id AND f.number = r.version AND f.mended_at IS NULL`;

/** Hours that are read from their receipts, and days that are read from their hours. */
const changed = (question: UsageQuestion, hours: Span, days: Span): Prisma.Sql => Prisma.sql`
  unsummed AS (
    SELECT account_id, hour FROM usage_changes c WHERE ${ownOf(question, 'c')} AND ${within('hour', hours)}
    UNION
    SELECT r.account_id, date_trunc('hour', r.created_at, 'UTC') FROM integrity_faults f JOIN receipts r ON ${isFault}
    WHERE ${ownOf(question, 'r')} AND ${within('r.created_at', hours)}),
  days_by_hours AS (
    SELECT account_id, day FROM usage_day_changes c WHERE ${ownOf(question, 'c')} AND ${within('day', days)}
    UNION
    SELECT account_id, ${dayOf('hour')} FROM unsummed WHERE ${within('hour', days)}
    UNION
    SELECT d.account_id, d.day
    FROM turns CROSS JOIN LATERAL unnest(times) AS t(at) JOIN usage_days d ON d.day = ${dayOf('t.at')} AND d.day < t.at
    WHERE ${ownOf(question, 'd')} AND ${within('d.day', days)})`;

function fromSums(question: UsageQuestion, { edges, whole }: Parts): Prisma.Sql[] {
  const columns = Prisma.sql`requests, ${facetColumns}, ${sumColumns}`;
  const issued = Prisma.sql`issued = ${question.version === 'issued'}`;
  const isSummed = Prisma.sql`NOT EXISTS (SELECT 1 FROM unsummed n WHERE (n.account_id, n.hour) = (u.account_id, u.hour))`;
  return [
    Prisma.sql`
      SELECT account_id, day AS hour, ${columns} FROM usage_days u
      WHERE ${ownOf(question, 'u')} AND ${issued} AND ${within('day', whole)}
        AND NOT EXISTS (SELECT 1 FROM days_by_hours n WHERE (n.account_id, n.day) = (u.account_id, u.day))`,
    Prisma.sql`
      SELECT u.account_id, u.hour, ${columns} FROM days_by_hours d CROSS JOIN LATERAL (
        SELECT * FROM usage_hours u
        WHERE u.account_id = d.account_id AND u.hour >= d.day AND u.hour < d.day + INTERVAL '24 hours' AND ${issued} ${byItself}) u
      WHERE ${isSummed}`,
    ...edges.map(
      (edge) => Prisma.sql`
      SELECT account_id, hour, ${columns} FROM usage_hours u
      WHERE ${ownOf(question, 'u')} AND ${issued} AND ${within('hour', edge)} AND ${isSummed}`,
    ),
  ];
}

/** Each read states its times as values: joined ones would have Postgres look through the months of all receipts. `hour` of a row is when it began. */
function fromReceipts(question: UsageQuestion, { edges, whole }: Parts): Prisma.Sql[] {
  const columns = Prisma.sql`hour, 1, ${facetColumns}, ${asSums}`;
  const sound = (span: Span): Prisma.Sql => Prisma.sql`
    ${within('r.created_at', span)} AND ${countedIn(question.version, span)}
    AND NOT EXISTS (SELECT 1 FROM integrity_faults f WHERE ${isFault})`;
  return [
    Prisma.sql`
      SELECT account_id, ${columns} FROM (
        SELECT n.account_id, n.hour, ${facetsAndAmounts}
        FROM unsummed n CROSS JOIN LATERAL (
          SELECT * FROM receipts r WHERE r.account_id = n.account_id AND r.created_at >= n.hour
            AND r.created_at < n.hour + INTERVAL '1 hour' AND ${sound(whole)} ${byItself}) r
        CROSS JOIN LATERAL ${body}) receipts_of_hours`,
    ...edges.map(
      (edge) => Prisma.sql`
      SELECT account_id, ${columns} FROM (
        SELECT r.account_id, ${new Date(floor(edge.from, hourMs))}::timestamptz AS hour, ${facetsAndAmounts}
        FROM receipts r CROSS JOIN LATERAL ${body}
        WHERE ${ownOf(question, 'r')} AND ${sound(edge)}) receipts_of_edge`,
    ),
  ];
}

/** As `counted`, of a span of time. */
const countedIn = (version: UsageQuestion['version'], { from, to }: Span): Prisma.Sql =>
  version === 'issued'
    ? Prisma.sql`r.version = 1`
    : Prisma.sql`NOT EXISTS (
        SELECT 1 FROM receipts n WHERE n.id = r.id AND n.created_at = r.created_at AND n.version > r.version
          AND n.created_at >= ${from} AND n.created_at < ${to})`;
