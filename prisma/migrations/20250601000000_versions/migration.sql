-- Degraded receipts whose facts are stored, until a job has made them again. A row of its own for each, so that the job
-- never looks through the ledger.
CREATE TABLE "recalculations" (
  "receipt_id" TEXT PRIMARY KEY,
  "created_at" TIMESTAMPTZ(3) NOT NULL,
  "due_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "attempts" INTEGER NOT NULL DEFAULT 0 CHECK ("attempts" >= 0),
  -- What was missing at the last attempt: `model <id>` or `zone <zone>`, so that its arrival can wake them.
  "waits_for" TEXT
);
CREATE INDEX "recalculations_due_at_idx" ON "recalculations" ("due_at");
CREATE INDEX "recalculations_waits_for_receipt_id_idx" ON "recalculations" ("waits_for", "receipt_id");

INSERT INTO "recalculations" ("receipt_id", "created_at")
SELECT r."id", r."created_at" FROM "receipts" r
WHERE r."tier" = 'degraded' AND r."facts" ->> 'usage' IS NOT NULL
  AND NOT EXISTS (
    SELECT 1 FROM "receipts" n WHERE n."id" = r."id" AND n."created_at" = r."created_at" AND n."version" > r."version");

-- Intervals whose settled value is not yet in every receipt that it concerns.
CREATE TABLE "restatements" (
  "zone" TEXT NOT NULL,
  "period_start" TIMESTAMPTZ(3) NOT NULL,
  "period_end" TIMESTAMPTZ(3) NOT NULL CHECK ("period_end" > "period_start"),
  "noted_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "due_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  -- Apart from the time when it is due, so that a note never takes an interval from the instance that looks through it.
  "claimed_until" TIMESTAMPTZ(3),
  PRIMARY KEY ("zone", "period_start", "period_end")
);
CREATE INDEX "restatements_due_at_idx" ON "restatements" ("due_at");

-- By trigger, so that no writer of readings can forget it.
CREATE FUNCTION note_restatement() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO restatements (zone, period_start, period_end) VALUES (NEW.zone, NEW.period_start, NEW.period_end)
  ON CONFLICT (zone, period_start, period_end) DO UPDATE SET noted_at = EXCLUDED.noted_at, due_at = EXCLUDED.due_at;
  RETURN NULL;
END $$;
CREATE TRIGGER "grid_readings_settled" AFTER INSERT ON "grid_readings"
  FOR EACH ROW WHEN (NEW."settled" AND NEW."kind" = 'average') EXECUTE FUNCTION note_restatement();

-- Finds the receipts of a zone in an interval. The expression is evaluated once, when a receipt is stored.
CREATE INDEX "receipts_grid_zone_created_at_idx" ON "receipts" (("body" ->> 'grid_zone'), "created_at")
  WHERE "tier" <> 'degraded';
