/**
 * What was used: sums over receipts, by time and by what a question names, and in total.
 *
 * Invariants: simulated calls are never in one sum with others, unless the total was asked for with them. Hours that are
 * summed already are read from their sums, all others from their receipts, in one snapshot: the answer is the same either way.
 */
import type { OperatorUsageGroup, UsageQuery, UsageRow, UsageTotal } from '@gw/contract/usage';
import { type DerivedAmount, derivedNames, usageAmountNames } from '@gw/contract/usage';
import { Prisma, type Queryable } from '@gw/prisma/client';
import { asSums, body, facetColumns, facetsAndAmounts, sumColumns, summed } from './calls.ts';
import { boughtFor, boughtJoin, marketColumns } from './market.ts';
import { costColumns, placesAndPrices, priceJoin } from './money.ts';

export interface UsageQuestion extends Pick<UsageQuery, 'interval' | 'simulated' | 'version'> {
  readonly group_by: readonly OperatorUsageGroup[];
  /** The time of the calls: from this one, until before that one. */
  readonly from: Date;
  readonly to: Date;
  /** Null: of all accounts. */
  readonly accountId: string | null;
  /** Of the prices. */
  readonly currency: string;
}

export interface Usage {
  readonly data: UsageRow[];
  readonly total: UsageTotal;
}

type Summed = (typeof summed)[number];
type Counts = Record<'requests' | (typeof kinds)[number]['name'], number> &
  Record<`known_${Summed | DerivedAmount}`, number>;
type Amounts = Record<(typeof usageAmountNames)[number] | DerivedAmount | 'energy_aborted_wh', number | null>;
interface Row extends Counts, Amounts {
  /** Of the sum over all rows, counted or not; its groups are null. */
  readonly is_total: boolean;
  readonly is_counted: boolean;
  readonly groups: Pick<UsageRow, 'date'> & Record<string, unknown>;
  readonly bases: UsageTotal['grid_basis'][];
  /** Decimal digits, since a double would round a sum beyond 2^53. */
  readonly prompt_tokens: string | null;
  readonly completion_tokens: string | null;
}

/** Counts of calls of one kind. */
const kinds = [
  { name: 'requests_measured', where: "tier = 'telemetry'" },
  { name: 'requests_modelled', where: "tier = 'parametric'" },
  { name: 'requests_estimated', where: "tier = 'proxy'" },
  { name: 'requests_degraded', where: "tier = 'degraded'" },
  { name: 'requests_aborted', where: "status <> 'complete'" },
] as const;

/** How many rows an answer has at most, since it is made in memory. */
export const mostRows = 10_000;

/**
 * Energy, carbon and water are summed in decimal by the database, and rounded to 12 significant digits at the end; null if no
 * receipt has a number. Receipts that were found not to be genuine are in no sum and no count. Returns null if there are more
 * than `mostRows` rows.
 */
export async function usageOf(db: Queryable, question: UsageQuestion): Promise<Usage | null> {
  const { group_by, interval, simulated } = question;
  const dates = { day: "'YYYY-MM-DD'", month: "'YYYY-MM'", total: null }[interval];
  const date = dates === null ? 'NULL' : `to_char(hour AT TIME ZONE 'UTC', ${dates})`;
  const groups = Prisma.raw(['date', ...group_by, 'simulated'].join());
  const shown = Prisma.raw(['date', ...group_by, 'simulated'].map((name) => `'${name}', ${name}`).join());
  const rows = await db.$queryRaw<Row[]>`
    WITH ${calls(question)}, ${placesAndPrices}, ${boughtFor}
    SELECT GROUPING(simulated) = 1 AS is_total, is_counted, json_build_object(${shown}) AS groups,
      ${countsAndSums}, coalesce(array_agg(DISTINCT grid_basis) FILTER (WHERE grid_basis IS NOT NULL), '{}') AS bases
    FROM (
      SELECT *, ${Prisma.raw(date)} AS date, NOT simulated OR ${simulated === 'include'} AS is_counted FROM (
        SELECT c.*, ${costColumns}, ${marketColumns} FROM calls c ${priceJoin} ${boughtJoin}) priced
    ) counted
    GROUP BY GROUPING SETS ((${groups}, is_counted), (is_counted)) ORDER BY is_total DESC, ${groups}
    LIMIT ${mostRows + 3}`;
  const data = rows.filter(({ is_total }) => !is_total);
  if (data.length > mostRows) return null;
  const total = rows.find(({ is_counted, is_total }) => is_total && is_counted);
  return {
    data: data.map(
      (row) => ({ object: 'gw.usage', ...rowGroups(row, interval), ...sumsOf(row, question) }) as UsageRow,
    ),
    total: total === undefined ? nothing(question) : sumsOf(total, question),
  };
}

interface Span {
  readonly from: Date;
  readonly to: Date;
}

/** A period in whole hours, whose sums there may be, and the parts of hours at its ends. */
export function partsOf({ from, to }: Span): { readonly whole: Span; readonly edges: readonly Span[] } {
  const whole = { from: new Date(Math.ceil(from.getTime() / hourMs) * hourMs), to: hourOf(to) };
  if (whole.from > whole.to) return { whole: { from, to: from }, edges: [{ from, to }] };
  const edges = [
    { from, to: whole.from },
    { from: whole.to, to },
  ];
  return { whole, edges: edges.filter((edge) => edge.from < edge.to) };
}

/**
 * Common table expressions, of which `calls` has a row per hour and facets from sums, and one per receipt from the others. Every read of
 * receipts states its times as values: joined ones would have Postgres look through the months of all receipts.
 */
function calls({ accountId, from, to, version }: UsageQuestion): Prisma.Sql {
  const own = (table: string): Prisma.Sql =>
    accountId === null ? Prisma.sql`TRUE` : Prisma.sql`${Prisma.raw(table)}.account_id = ${accountId}`;
  const { edges, whole } = partsOf({ from, to });
  const isFault = Prisma.sql`f.kind = 'receipt' AND f.name = r.id AND f.number = r.version AND f.mended_at IS NULL`;
  const columns = Prisma.sql`hour, 1, ${facetColumns}, ${asSums}`;
  const sound = (span: Span): Prisma.Sql => Prisma.sql`
    r.created_at >= ${span.from} AND r.created_at < ${span.to} AND ${countedIn(version, span)}
    AND NOT EXISTS (SELECT 1 FROM integrity_faults f WHERE ${isFault})`;
  const edgeCalls = edges.map(
    (edge) => Prisma.sql`
      UNION ALL
      SELECT account_id, ${columns} FROM (
        SELECT r.account_id, ${hourOf(edge.from)}::timestamptz AS hour, ${facetsAndAmounts}
        FROM receipts r CROSS JOIN LATERAL ${body}
        WHERE ${own('r')} AND ${sound(edge)}) receipts_of_edge`,
  );
  return Prisma.sql`
    unsummed AS (
      SELECT account_id, hour FROM usage_changes c WHERE ${own('c')} AND hour >= ${whole.from} AND hour < ${whole.to}
      UNION
      SELECT r.account_id, date_trunc('hour', r.created_at, 'UTC') FROM integrity_faults f JOIN receipts r ON ${isFault}
      WHERE ${own('r')} AND r.created_at >= ${whole.from} AND r.created_at < ${whole.to}),
    calls AS (
      SELECT account_id, hour, requests, ${facetColumns}, ${sumColumns} FROM usage_hours u
      WHERE ${own('u')} AND issued = ${version === 'issued'} AND hour >= ${whole.from} AND hour < ${whole.to}
        AND NOT EXISTS (SELECT 1 FROM unsummed n WHERE (n.account_id, n.hour) = (u.account_id, u.hour))
      UNION ALL
      SELECT account_id, ${columns} FROM (
        SELECT n.account_id, n.hour, ${facetsAndAmounts}
        FROM unsummed n
        JOIN receipts r ON r.account_id = n.account_id AND r.created_at >= n.hour
          AND r.created_at < n.hour + INTERVAL '1 hour'
        CROSS JOIN LATERAL ${body}
        WHERE ${sound(whole)}) receipts_of_hours
      ${edges.length === 0 ? Prisma.empty : Prisma.join(edgeCalls, ' ')})`;
}

/** As `counted`, of a span of time. */
const countedIn = (version: UsageQuestion['version'], { from, to }: Span): Prisma.Sql =>
  version === 'issued'
    ? Prisma.sql`r.version = 1`
    : Prisma.sql`NOT EXISTS (
        SELECT 1 FROM receipts n WHERE n.id = r.id AND n.created_at = r.created_at AND n.version > r.version
          AND n.created_at >= ${from} AND n.created_at < ${to})`;

const countsAndSums = Prisma.raw(
  [
    'sum(requests)::float8 AS requests',
    ...kinds.map(({ name, where }) => `coalesce(sum(requests) FILTER (WHERE ${where}), 0)::float8 AS ${name}`),
    ...['prompt_tokens', 'completion_tokens'].map((name) => `sum(${name})::text AS ${name}`),
    ...[...usageAmountNames, ...derivedNames].map((name) => `sum(${name})::float8 AS ${name}`),
    "sum(energy_wh) FILTER (WHERE status <> 'complete')::float8 AS energy_aborted_wh",
    ...[...summed, ...derivedNames].map((name) => `sum(known_${name})::float8 AS known_${name}`),
  ].join(),
);

const hourMs = 3_600_000;
const hourOf = (time: Date): Date => new Date(Math.floor(time.getTime() / hourMs) * hourMs);

function rowGroups({ groups }: Row, interval: UsageQuestion['interval']): Row['groups'] {
  const { date, ...others } = groups;
  return interval === 'total' ? others : { date, ...others };
}

function sumsOf(row: Row, { currency }: UsageQuestion): UsageTotal {
  const amounts = usageAmountNames.map((name) => [name, rounded(row[name])]);
  const derived = derivedNames.map((name) => [name, row[`known_${name}`] > 0 ? rounded(row[name]) : null]);
  const missing = [...summed, ...derivedNames].flatMap((name) => {
    const unknown = row.requests - row[`known_${name}`];
    return unknown > 0 ? [[name, unknown]] : [];
  });
  return {
    requests: row.requests,
    ...Object.fromEntries(kinds.map(({ name }) => [name, row[name]])),
    prompt_tokens: exact(row.prompt_tokens ?? '0'),
    completion_tokens: exact(row.completion_tokens ?? '0'),
    ...Object.fromEntries([...amounts, ...derived]),
    currency,
    energy_aborted_wh: rounded(row.energy_aborted_wh),
    grid_basis: row.bases.length > 1 ? 'mixed' : (row.bases[0] ?? null),
    missing: Object.fromEntries(missing),
  } as UsageTotal;
}

const nothing = ({ currency }: UsageQuestion): UsageTotal =>
  ({
    requests: 0,
    ...Object.fromEntries(kinds.map(({ name }) => [name, 0])),
    prompt_tokens: 0,
    completion_tokens: 0,
    ...Object.fromEntries([...usageAmountNames, ...derivedNames, 'energy_aborted_wh'].map((name) => [name, null])),
    currency,
    grid_basis: null,
    missing: {},
  }) as UsageTotal;

/**
 * Returns null beyond 2^53, where a number would be inexact. Only counts that a provider made up can add up to that.
 */
function exact(digits: string): number | null {
  const sum = Number(digits);
  return Number.isSafeInteger(sum) ? sum : null;
}

const rounded = (value: number | null): number | null => (value === null ? null : Number(value.toPrecision(12)));
