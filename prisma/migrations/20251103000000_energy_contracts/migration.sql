-- What operators have bought of electricity, for figures by the market-based method beside those by location.
CREATE TABLE "energy_contracts" (
  "id" TEXT PRIMARY KEY,
  -- Of which calls: null stands for all, and not both are null.
  "provider" TEXT,
  "region" TEXT,
  "valid_from" TIMESTAMPTZ(3) NOT NULL CHECK ("valid_from" = date_trunc('hour', "valid_from", 'UTC')),
  "valid_to" TIMESTAMPTZ(3) NOT NULL CHECK ("valid_to" = date_trunc('hour', "valid_to", 'UTC')),
  "instrument" TEXT NOT NULL CHECK ("instrument" IN ('ppa', 'supplier', 'certificate', 'residual_mix')),
  -- Of the energy that it covers; null for a residual mix, which is for what nothing else covers.
  "share" NUMERIC CHECK ("share" > 0 AND "share" <= 1),
  "g_per_kwh" NUMERIC NOT NULL CHECK ("g_per_kwh" >= 0),
  "evidence" TEXT NOT NULL,
  "changed_in" INTEGER,
  "changed_at" TIMESTAMPTZ(3),
  "changed_by" TEXT,
  CHECK ("provider" IS NOT NULL OR "region" IS NOT NULL),
  CHECK ("valid_from" < "valid_to"),
  CHECK (("share" IS NULL) = ("instrument" = 'residual_mix'))
);

CREATE TRIGGER "energy_contracts_noted" BEFORE INSERT OR UPDATE ON "energy_contracts"
  FOR EACH ROW EXECUTE FUNCTION note_catalogue_change();
CREATE TRIGGER "energy_contracts_changed" AFTER INSERT OR UPDATE OR DELETE ON "energy_contracts"
  FOR EACH ROW EXECUTE FUNCTION bump_catalogue_version();
