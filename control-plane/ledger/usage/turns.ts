/**
 * When prices or contracts of electricity change, as SQL: between two such times nothing changes for any call.
 *
 * Invariant: whoever adds a table of what is in force for a time adds its times here.
 */
import { Prisma } from '@gw/prisma/client';

/** One row with all times, sorted. */
export const turns = Prisma.raw(`turns AS MATERIALIZED (
  SELECT coalesce(array_agg(at ORDER BY at), '{}') AS times FROM (
    SELECT valid_from AS at FROM prices
    UNION SELECT valid_from FROM energy_contracts
    UNION SELECT valid_to FROM energy_contracts) changes)`);

/** The last of them that is not after the hour of `c`. What is in force then is in force in the hour. */
export const sinceTurn = Prisma.raw(`coalesce(times[width_bucket(c.hour, times)], '-infinity')`);
