/**
 * Computes the cost of calls, as SQL: their tokens at the price in force in their hour (decision 39).
 *
 * Invariant: the cost of rows follows from the sums of their tokens alone, so it is the same whether rows are sums of many or single
 * calls. Of a call both counts of tokens are known, or neither is.
 */
import { Prisma } from '@gw/prisma/client';

const inForce = (alias: string, region: string): string => `
  LEFT JOIN price_periods ${alias} ON ${alias}.provider = c.provider AND ${alias}.model = c.model AND ${alias}.region ${region}
    AND c.since >= ${alias}.valid_from AND (${alias}.valid_to IS NULL OR c.since < ${alias}.valid_to)`;

/** To be joined to `places c`: at most one row of each. */
const priceJoins = `${inForce('own_price', '= c.region')}${inForce('general_price', 'IS NULL')}`;

/** A price of the region takes precedence. */
const priced = (column: string): string =>
  `CASE WHEN own_price.model IS NULL THEN general_price.${column} ELSE own_price.${column} END AS ${column}`;

/** The price in force for the calls of a model at a provider in a region since a turn. `merged` has to stand before it. */
export const placesAndPrices = Prisma.raw(`
  places AS (SELECT DISTINCT since, provider, model, region FROM merged),
  price_periods AS (
    SELECT provider, model, region, valid_from, input_per_mtok, output_per_mtok,
      lead(valid_from) OVER (PARTITION BY provider, model, region ORDER BY valid_from) AS valid_to
    FROM prices),
  place_prices AS MATERIALIZED (SELECT c.*, ${priced('input_per_mtok')}, ${priced('output_per_mtok')} FROM places c ${priceJoins})`);

/** To be joined to `merged c`: one row of each. No provider and no region has an empty name. */
export const priceJoin = Prisma.raw(`
  JOIN place_prices price ON price.since = c.since AND price.model = c.model AND coalesce(price.provider, '') = coalesce(c.provider, '')
    AND coalesce(price.region, '') = coalesce(c.region, '')`);

/** Columns of what is joined so. Nothing is lost: a price has at most 12 decimal places, and so has a millionth of a token 6. */
export const costColumns = Prisma.raw(`
  (coalesce(c.prompt_tokens, 0) * price.input_per_mtok + coalesce(c.completion_tokens, 0) * price.output_per_mtok) * 0.000001 AS cost,
  CASE WHEN price.input_per_mtok IS NULL THEN 0 ELSE c.known_prompt_tokens END AS known_cost`);
