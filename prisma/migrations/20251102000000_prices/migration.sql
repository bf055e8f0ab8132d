-- What providers charge for tokens. Money is in no receipt: it is computed when somebody asks, from the price of the hour.
CREATE TABLE "prices" (
  -- Of the next four.
  "id" TEXT PRIMARY KEY,
  "provider" TEXT NOT NULL,
  "model" TEXT NOT NULL,
  -- Null: wherever no price of the region itself is in force.
  "region" TEXT,
  "valid_from" TIMESTAMPTZ(3) NOT NULL CHECK ("valid_from" = date_trunc('hour', "valid_from", 'UTC')),
  -- Per 1,000,000 tokens, in the currency of the gateway.
  "input_per_mtok" NUMERIC NOT NULL CHECK ("input_per_mtok" >= 0),
  "output_per_mtok" NUMERIC NOT NULL CHECK ("output_per_mtok" >= 0),
  "source" TEXT NOT NULL,
  "changed_in" INTEGER,
  "changed_at" TIMESTAMPTZ(3),
  "changed_by" TEXT
);
CREATE INDEX "prices_provider_model_idx" ON "prices" ("provider", "model", "valid_from");

CREATE TRIGGER "prices_noted" BEFORE INSERT OR UPDATE ON "prices"
  FOR EACH ROW EXECUTE FUNCTION note_catalogue_change();
CREATE TRIGGER "prices_changed" AFTER INSERT OR UPDATE OR DELETE ON "prices"
  FOR EACH ROW EXECUTE FUNCTION bump_catalogue_version();
