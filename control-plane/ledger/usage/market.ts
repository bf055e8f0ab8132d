/**
 * Carbon by the market-based method, as SQL: what was bought of electricity in place of the average of the grid (docs/reporting.md).
 *
 * Invariant: the figures of rows follow from their sums of energy and carbon alone, so they are the same whether rows are sums of many
 * or single calls. Of a call energy and carbon are known together; where nothing was bought, both methods give the same.
 */
import { Prisma } from '@gw/prisma/client';

const covers = (what: string): string => `
  FROM energy_contracts e WHERE ${what} AND (e.provider IS NULL OR e.provider = p.provider) AND (e.region IS NULL OR e.region = p.region)
    AND p.since >= e.valid_from AND p.since < e.valid_to`;

/** The contract in force for the calls at a provider in a region since a turn; `places` has to stand before it. */
export const boughtFor = Prisma.raw(`bought AS MATERIALIZED (
  SELECT p.*, contract.share, contract.g_per_kwh, residual.g_per_kwh AS residual_g_per_kwh
  FROM (SELECT DISTINCT since, provider, region FROM places) p
  CROSS JOIN LATERAL (
    SELECT coalesce(sum(e.share), 0) AS share, coalesce(sum(e.share * e.g_per_kwh), 0) AS g_per_kwh
    ${covers("e.instrument <> 'residual_mix'")}) contract
  LEFT JOIN LATERAL (SELECT min(e.g_per_kwh) AS g_per_kwh ${covers("e.instrument = 'residual_mix'")}) residual ON TRUE)`);

/** To be joined to `merged c`: one row of each. No provider and no region has an empty name. */
export const boughtJoin = Prisma.raw(`
  JOIN bought ON bought.since = c.since AND coalesce(bought.provider, '') = coalesce(c.provider, '')
    AND coalesce(bought.region, '') = coalesce(c.region, '')`);

const kwh = 'coalesce(c.energy_wh, 0) * 0.001';

/** Columns of what is joined so: the operation by market in place of that by location, and the rest of the carbon as it is. */
export const marketColumns = Prisma.raw(`
  coalesce(c.carbon_g, 0) - coalesce(c.carbon_operation_g, 0) + ${kwh} * bought.g_per_kwh
    + (1 - bought.share) * coalesce(${kwh} * bought.residual_g_per_kwh, c.carbon_operation_g, 0) AS carbon_market_g,
  c.known_carbon_g AS known_carbon_market_g,
  coalesce(c.energy_wh, 0) * bought.share AS energy_contracted_wh, c.known_energy_wh AS known_energy_contracted_wh`);
