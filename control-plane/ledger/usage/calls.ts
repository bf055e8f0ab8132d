/**
 * Says in SQL what of a receipt counts in usage, and how sums are added up. The triggers that count receipts as they are stored say the same
 * in the schema (`usage_changes`): tests hold the two together.
 */
import { usageGroups } from '@gw/contract/usage';
import { Prisma } from '@gw/prisma/client';
import { namesInBody, namesInColumns, savedName, summed } from '../receipts/summed-names.ts';

/** The columns of a call that can tell rows apart. */
const facets = [...usageGroups, 'simulated'] as const;

const fromBody = namesInBody.map((name) => `${name} text`).join();
const sqlOf = (name: string): string => {
  if (namesInColumns.includes(name)) return `r.${name}::numeric`;
  return `usage_amount(${name === savedName ? 't.estimated_saving_g' : `b.${name}`})`;
};
const amounts = summed.map((name) => `${sqlOf(name)} AS ${name}`);

/** Each text is read once. What is no object, as none of ours is, has nothing. */
const fieldsOf = (column: string, fields: string): string =>
  `json_to_record(CASE WHEN json_typeof(r.${column}) = 'object' THEN r.${column} ELSE '{}' END) AS ${fields}`;

/** To be joined laterally to `receipts r`: what is in the body alone, and in the routing trace. */
export const body = Prisma.raw(
  `${fieldsOf('body', `b(${fromBody})`)} CROSS JOIN LATERAL ${fieldsOf('routing_trace', 't(estimated_saving_g text)')}`,
);

/** Columns of `receipts r` and of what `body` joins to it. Methodologies before gw-1.4 did not say what the grid's value counts. */
export const facetsAndAmounts = Prisma.raw(
  `r.key_id, b.project, usage_api(r.endpoint) AS api, r.model, b.provider, r.region, r.tier, r.status,
   CASE WHEN r.carbon_g IS NULL THEN NULL WHEN b.grid_basis IN ('lifecycle', 'combustion') THEN b.grid_basis
     ELSE 'unknown' END AS grid_basis, b.measured_by,
   b.simulated IS NOT NULL AS simulated, ${amounts.join()}`,
);

const list = (columns: readonly string[]): Prisma.Sql => Prisma.raw(columns.join());

export const facetColumns = list(facets);
/** Names of the columns of sums, in the order of the next ones. */
export const sumColumns = list(summed.flatMap((name) => [name, `known_${name}`]));
/** Over calls. */
export const sumsOfCalls = list(summed.flatMap((name) => [`sum(${name})`, `count(${name})`]));
/** Columns of one call, as if it were a sum. */
export const asSums = list(summed.flatMap((name) => [name, `(${name} IS NOT NULL)::int`]));

const summing = (amount: (name: string) => string): Prisma.Sql =>
  list(summed.flatMap((name) => [`${amount(name)} AS ${name}`, `sum(known_${name}) AS known_${name}`]));
/** Over rows of sums, in their order. */
export const sumsOfSums = summing((name) => `sum(${name})`);
/** The same where nothing more is added: an amount that no call has is null, also where one was added and taken away again. */
export const lastSums = summing((name) => `CASE WHEN sum(known_${name}) <> 0 THEN sum(${name}) END`);

/**
 * At the end of a subquery that is joined laterally: Postgres looks up each by its index, and does not join whole tables by account, which
 * took 20 s for 20 hours of an account of 10^7 receipts.
 */
export const byItself = Prisma.raw('OFFSET 0');

/** The first moment of the UTC minute, hour or day that a time is in. */
export const startOf = (unit: 'minute' | 'hour' | 'day', time: string): Prisma.Sql =>
  Prisma.raw(`date_bin('1 ${unit}', ${time}, TIMESTAMPTZ '2000-01-01Z')`);
