-- Sums of usage without reading every receipt. An hour that is over is summed once, and again when one of its receipts
-- changes; any other hour is read from the receipts themselves.

-- A row says that receipts of that hour came or changed since it was last summed. Written with the receipts, in the same
-- transaction, and taken away by the statement that sums the hour: so whoever sees a receipt sees its mark too, or a sum with it.
-- Append-only marks, and not one per hour, so that no writer waits for another.
CREATE TABLE "usage_changes" (
  "seq" BIGSERIAL PRIMARY KEY,
  "account_id" TEXT NOT NULL,
  "hour" TIMESTAMPTZ(3) NOT NULL
);
CREATE INDEX "usage_changes_hour_idx" ON "usage_changes" ("hour", "account_id");
CREATE INDEX "usage_changes_account_id_hour_idx" ON "usage_changes" ("account_id", "hour");

CREATE TABLE "usage_hours" (
  "id" BIGSERIAL PRIMARY KEY,
  "account_id" TEXT NOT NULL,
  "hour" TIMESTAMPTZ(3) NOT NULL,
  -- True: sums of the first versions; false: of the newest.
  "issued" BOOLEAN NOT NULL,
  "key_id" TEXT NOT NULL,
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
CREATE INDEX "usage_hours_account_id_hour_idx" ON "usage_hours" ("account_id", "hour");
CREATE INDEX "usage_hours_hour_idx" ON "usage_hours" ("hour");

-- Once for each statement, however many rows it has.
CREATE FUNCTION note_usage_change() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO usage_changes (account_id, hour)
  SELECT DISTINCT account_id, date_trunc('hour', created_at, 'UTC') FROM changed;
  RETURN NULL;
END $$;
CREATE TRIGGER "receipts_counted" AFTER INSERT ON "receipts" REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION note_usage_change();
CREATE TRIGGER "receipts_recounted" AFTER UPDATE ON "receipts" REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION note_usage_change();

-- What an amount's text in a receipt says; null if it is no number, so that one altered row spoils no sum.
CREATE FUNCTION usage_amount(amount TEXT) RETURNS NUMERIC LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN $1 ~ '^-?[0-9]+([.][0-9]+)?([eE][-+]?[0-9][0-9]?[0-9]?)?$' THEN $1::numeric END;
$$;

INSERT INTO "usage_changes" ("account_id", "hour")
SELECT DISTINCT "account_id", date_trunc('hour', "created_at", 'UTC') FROM "receipts";
