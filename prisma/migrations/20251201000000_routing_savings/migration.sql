-- What the choice of regions saved, summed with the rest of usage. It stands in the routing traces, so hours that are summed already
-- are summed again, some at a time (control-plane/ledger/usage/hours.ts): null as `known_…` marks them, and what a release from before sums.
SET LOCAL lock_timeout = '10s';

ALTER TABLE "usage_hours" ADD COLUMN "carbon_saved_g" NUMERIC, ADD COLUMN "known_carbon_saved_g" BIGINT;
ALTER TABLE "usage_days" ADD COLUMN "carbon_saved_g" NUMERIC, ADD COLUMN "known_carbon_saved_g" BIGINT;
CREATE INDEX "usage_hours_without_savings_idx" ON "usage_hours" ("hour") WHERE "known_carbon_saved_g" IS NULL;
