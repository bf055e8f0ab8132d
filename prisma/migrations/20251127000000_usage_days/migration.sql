-- Sums of the days that are over, made from the sums of their hours, so that a year of them is read from thousands of rows. The
-- job that sums hours waits while it runs: about a second per million sums of hours.
SET LOCAL lock_timeout = '10s';

-- A row says that sums of hours of that day came or went since the day was last summed. Written with them, in the same transaction.
CREATE TABLE "usage_day_changes" (
  "seq" BIGSERIAL PRIMARY KEY,
  "account_id" TEXT NOT NULL,
  "day" TIMESTAMPTZ(3) NOT NULL
);
CREATE INDEX "usage_day_changes_day_idx" ON "usage_day_changes" ("day", "account_id");
CREATE INDEX "usage_day_changes_account_id_day_idx" ON "usage_day_changes" ("account_id", "day");

CREATE TABLE "usage_days" (
  "id" BIGSERIAL PRIMARY KEY,
  "account_id" TEXT NOT NULL,
  -- Its first moment, in UTC.
  "day" TIMESTAMPTZ(3) NOT NULL,
  "issued" BOOLEAN NOT NULL,
  "key_id" TEXT NOT NULL,
  "project" TEXT,
  "model" TEXT NOT NULL,
  "provider" TEXT,
  "region" TEXT,
  "tier" TEXT NOT NULL,
  "status" TEXT NOT NULL,
  "grid_basis" TEXT,
  "simulated" BOOLEAN NOT NULL,
  "requests" BIGINT NOT NULL,
  -- The sum of each amount, and of how many calls it is known.
  "prompt_tokens" NUMERIC, "known_prompt_tokens" BIGINT NOT NULL,
  "completion_tokens" NUMERIC, "known_completion_tokens" BIGINT NOT NULL,
  "energy_wh" NUMERIC, "known_energy_wh" BIGINT NOT NULL,
  "energy_low_wh" NUMERIC, "known_energy_low_wh" BIGINT NOT NULL,
  "energy_high_wh" NUMERIC, "known_energy_high_wh" BIGINT NOT NULL,
  "carbon_g" NUMERIC, "known_carbon_g" BIGINT NOT NULL,
  "carbon_low_g" NUMERIC, "known_carbon_low_g" BIGINT NOT NULL,
  "carbon_high_g" NUMERIC, "known_carbon_high_g" BIGINT NOT NULL,
  "carbon_operation_g" NUMERIC, "known_carbon_operation_g" BIGINT NOT NULL,
  "carbon_embodied_g" NUMERIC, "known_carbon_embodied_g" BIGINT NOT NULL,
  "water_ml" NUMERIC, "known_water_ml" BIGINT NOT NULL,
  "water_low_ml" NUMERIC, "known_water_low_ml" BIGINT NOT NULL,
  "water_high_ml" NUMERIC, "known_water_high_ml" BIGINT NOT NULL
);
CREATE INDEX "usage_days_account_id_day_idx" ON "usage_days" ("account_id", "day");
CREATE INDEX "usage_days_day_idx" ON "usage_days" ("day");

-- Once for each statement, however many rows it has.
CREATE FUNCTION note_usage_day_change() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO usage_day_changes (account_id, day)
  SELECT DISTINCT account_id, date_trunc('day', hour, 'UTC') FROM changed;
  RETURN NULL;
END $$;
CREATE TRIGGER "usage_hours_summed" AFTER INSERT ON "usage_hours" REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION note_usage_day_change();
CREATE TRIGGER "usage_hours_outdated" AFTER DELETE ON "usage_hours" REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION note_usage_day_change();

INSERT INTO "usage_day_changes" ("account_id", "day")
SELECT DISTINCT "account_id", date_trunc('day', "hour", 'UTC') FROM "usage_hours";
