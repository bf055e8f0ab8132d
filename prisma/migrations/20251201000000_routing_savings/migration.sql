-- What the choice of regions saved, summed with the rest of usage. It stands in the routing traces, so hours that are summed already
-- are summed again, some at a time (control-plane/ledger/usage/savings.ts): null as `known_…` marks them, and what a release from
-- before sums. No index: it would be built over the whole table while nobody reads it.
SET LOCAL lock_timeout = '10s';

ALTER TABLE "usage_hours" ADD COLUMN "carbon_saved_g" NUMERIC, ADD COLUMN "known_carbon_saved_g" BIGINT;
ALTER TABLE "usage_days" ADD COLUMN "carbon_saved_g" NUMERIC, ADD COLUMN "known_carbon_saved_g" BIGINT;
