/**
 * Sums receipts by time, by the groups that a question names, and in total.
 *
 * Invariant: simulated calls are never in one sum with others, unless the total was asked for with them.
 */
import type { UsageRow, UsageTotal } from '@gw/contract/usage';
import { type DerivedAmount, derivedNames, usageAmountNames, usageRatioNames } from '@gw/contract/usage';
import { Prisma, type Queryable } from '@gw/prisma/client';
import { summed } from '../receipts/summed-names.ts';
import { lastSums, startOf } from './calls.ts';
import { boughtFor, boughtJoin, marketColumns } from './market.ts';
import { costColumns, placesAndPrices, priceJoin } from './money.ts';
import { calls } from './parts.ts';
import type { UsageQuestion } from './question.ts';
import { quotient, rounded } from './rounded.ts';
import { sinceTurn, turns } from './turns.ts';

export interface Usage {
  readonly data: UsageRow[];
  readonly total: UsageTotal;
}

type Summed = (typeof summed)[number];
type Counts = Record<'requests' | (typeof kinds)[number]['name'], number> &
  Record<`known_${Summed | DerivedAmount}`, number>;
/** Decimal digits. */
type Amounts = Record<(typeof usageAmountNames)[number] | DerivedAmount | 'energy_aborted_wh', string | null>;
interface SummedRow extends Counts, Amounts, RatioParts {
  /** True of the sum over all rows, counted or not; its groups are null. */
  readonly is_total: boolean;
  readonly is_counted: boolean;
  readonly groups: Pick<UsageRow, 'date'> & Record<string, unknown>;
  readonly bases: UsageTotal['grid_basis'][];
  /** Decimal digits, since a double would round a sum beyond 2^53. */
  readonly prompt_tokens: string | null;
  readonly completion_tokens: string | null;
}

/** Decimal digits of what is divided; the first of each is null where the quotient is not known. */
interface RatioParts {
  readonly written_energy_wh: string | null;
  readonly written_tokens: string | null;
  readonly sci_g: string | null;
  readonly sci_tokens: string | null;
}

/** Counts of calls of one kind. */
const kinds = [
  { name: 'requests_measured', where: "tier = 'telemetry'" },
  { name: 'requests_metered', where: "measured_by = 'counters'" },
  { name: 'requests_reported', where: "measured_by = 'provider'" },
  { name: 'requests_doubtful', where: "measured_by = 'provider_doubtful'" },
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
  const form = { day: 'YYYY-MM-DD', month: 'YYYY-MM', total: '' }[interval];
  const groups = Prisma.raw(['date', ...group_by, 'simulated'].join());
  const shown = Prisma.raw(['date', ...group_by, 'simulated'].map((name) => `'${name}', ${name}`).join());
  const rows = await db.$queryRaw<SummedRow[]>`
    WITH ${turns}, ${calls(question)}, ${merged(question)}, ${placesAndPrices}, ${boughtFor}
    SELECT GROUPING(simulated) = 1 AS is_total, is_counted, json_build_object(${shown}) AS groups,
      ${countsAndSums}, coalesce(array_agg(DISTINCT grid_basis) FILTER (WHERE grid_basis IS NOT NULL), '{}') AS bases
    FROM (
      SELECT *, to_char(begun AT TIME ZONE 'UTC', ${form}) AS date, NOT simulated OR ${simulated === 'include'} AS is_counted FROM (
        SELECT c.*, ${costColumns}, ${marketColumns} FROM merged c ${priceJoin} ${boughtJoin}) priced
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

/** Rows are kept apart by these until the end, for their prices and contracts, for the counts of kinds, and for the total. */
const keptApart = ['model', 'provider', 'region', 'tier', 'status', 'grid_basis', 'measured_by', 'simulated'];

const beginnings = {
  day: startOf('day', 'hour'),
  month: Prisma.sql`date_trunc('month', hour, 'UTC')`,
  total: Prisma.sql`NULL::timestamptz`,
};

/**
 * The rows of `calls` of an interval in one, as far as nothing tells them apart: what follows is done for thousands of rows and not for
 * hundreds of thousands. Sums stay what they are, since decimals are added exactly in any order. Of facets whose calls were all taken away by
 * new versions with others nothing is left.
 */
function merged({ group_by, interval }: UsageQuestion): Prisma.Sql {
  const columns = Prisma.raw([...new Set([...group_by, ...keptApart])].join());
  return Prisma.sql`merged AS MATERIALIZED (
    SELECT ${beginnings[interval]} AS begun, ${sinceTurn} AS since, ${columns}, sum(requests) AS requests, ${lastSums}
    FROM calls c, turns GROUP BY begun, since, ${columns} HAVING sum(requests) <> 0)`;
}

/** The sum over calls with numbers, as digits; null if one of them lacks one of `known`. */
function ofAssessed(amount: string, known: readonly Summed[] = []): string {
  const sum = (of: string): string => `sum(${of}) FILTER (WHERE tier <> 'degraded')`;
  const lacks = known.map((name) => `${sum('requests')} <> ${sum(`known_${name}`)}`);
  return `(CASE WHEN ${['FALSE', ...lacks].join(' OR ')} THEN NULL ELSE ${sum(amount)} END)::text`;
}

const countsAndSums = Prisma.raw(
  [
    'sum(requests)::float8 AS requests',
    ...kinds.map(({ name, where }) => `coalesce(sum(requests) FILTER (WHERE ${where}), 0)::float8 AS ${name}`),
    ...['prompt_tokens', 'completion_tokens'].map((name) => `sum(${name})::text AS ${name}`),
    ...[...usageAmountNames, ...derivedNames].map((name) => `sum(${name})::text AS ${name}`),
    "sum(energy_wh) FILTER (WHERE status <> 'complete')::text AS energy_aborted_wh",
    ...[...summed, ...derivedNames].map((name) => `sum(known_${name})::float8 AS known_${name}`),
    `${ofAssessed('energy_wh', ['energy_wh', 'completion_tokens'])} AS written_energy_wh`,
    `${ofAssessed('completion_tokens')} AS written_tokens`,
    `${ofAssessed('carbon_g', ['carbon_g', 'carbon_embodied_g', 'prompt_tokens', 'completion_tokens'])} AS sci_g`,
    `${ofAssessed('prompt_tokens + completion_tokens')} AS sci_tokens`,
  ].join(),
);

function rowGroups({ groups }: SummedRow, interval: UsageQuestion['interval']): SummedRow['groups'] {
  const { date, ...others } = groups;
  return interval === 'total' ? others : { date, ...others };
}

function sumsOf(row: SummedRow, { currency }: UsageQuestion): UsageTotal {
  const amounts = usageAmountNames.map((name) => [name, amountOf(row[name])]);
  const derived = derivedNames.map((name) => [name, row[`known_${name}`] > 0 ? amountOf(row[name]) : null]);
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
    energy_wh_per_output_token: ratioOf(row.written_energy_wh, row.written_tokens),
    sci_g_per_token: ratioOf(row.sci_g, row.sci_tokens),
    energy_aborted_wh: amountOf(row.energy_aborted_wh),
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
    ...Object.fromEntries(
      [...usageAmountNames, ...derivedNames, ...usageRatioNames, 'energy_aborted_wh'].map((name) => [name, null]),
    ),
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

const ratioOf = (above: string | null, below: string | null): number | null =>
  above === null || below === null || Number(below) === 0 ? null : quotient(above, below);

const amountOf = (sum: string | null): number | null => (sum === null ? null : rounded(sum));
