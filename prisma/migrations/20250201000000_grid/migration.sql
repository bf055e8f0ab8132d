-- What grid sources said, for good: receipts are restated from it. The newest revision of a period is what holds; an
-- estimate or forecast and the measured value that replaces it are revisions of the same period.
CREATE TABLE "grid_readings" (
  "zone" TEXT NOT NULL,
  "source" TEXT NOT NULL,
  "place" TEXT NOT NULL,
  "kind" TEXT NOT NULL CHECK ("kind" IN ('average', 'marginal')),
  "period_start" TIMESTAMPTZ(3) NOT NULL,
  "period_end" TIMESTAMPTZ(3) NOT NULL CHECK ("period_end" > "period_start"),
  "revision" INTEGER NOT NULL CHECK ("revision" > 0),
  "signal" TEXT NOT NULL CHECK ("signal" IN ('average', 'marginal', 'forecast')),
  "basis" TEXT NOT NULL CHECK ("basis" IN ('lifecycle', 'direct', 'unknown')),
  "g_per_kwh" DOUBLE PRECISION NOT NULL CHECK ("g_per_kwh" >= 0 AND "g_per_kwh" <= 3000),
  "is_estimated" BOOLEAN NOT NULL,
  "settled" BOOLEAN NOT NULL CHECK (NOT ("settled" AND ("is_estimated" OR "signal" = 'forecast'))),
  "observed_at" TIMESTAMPTZ(3) NOT NULL,
  "fetched_at" TIMESTAMPTZ(3) NOT NULL,
  "raw_sha256" CHAR(64) NOT NULL CHECK ("raw_sha256" ~ '^[0-9a-f]{64}$'),
  PRIMARY KEY ("zone", "source", "place", "kind", "period_start", "period_end", "revision")
);
CREATE INDEX "grid_readings_zone_period_end_idx" ON "grid_readings" ("zone", "period_end");

-- The readings that the catalogue's snapshot carries now. They are rows, not a question to the table above, so that a
-- version of the catalogue names one content whatever the time is.
CREATE TABLE "published_grid" (
  "use" TEXT NOT NULL CHECK ("use" IN ('receipt', 'routing')),
  "zone" TEXT NOT NULL,
  "source" TEXT NOT NULL,
  "kind" TEXT NOT NULL,
  "signal" TEXT NOT NULL,
  "reading" JSONB NOT NULL CHECK (jsonb_typeof("reading") = 'object'),
  PRIMARY KEY ("use", "zone", "source", "kind", "signal")
);
CREATE TRIGGER "published_grid_changed" AFTER INSERT OR UPDATE OR DELETE ON "published_grid"
  FOR EACH ROW EXECUTE FUNCTION bump_catalogue_version();
