ALTER TABLE "deployments" ADD COLUMN "accelerators" JSONB
  CHECK (jsonb_typeof("accelerators" -> 'model') = 'string' AND ("accelerators" ->> 'count')::numeric >= 1);

-- Calls whose energy is still to be read from counters of GPUs. A row of its own for each, so that the job never looks
-- through the ledger.
CREATE TABLE "gpu_measurements" (
  "receipt_id" TEXT PRIMARY KEY,
  "created_at" TIMESTAMPTZ(3) NOT NULL,
  "deployment" TEXT NOT NULL,
  "due_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "attempts" INTEGER NOT NULL DEFAULT 0 CHECK ("attempts" >= 0)
);
CREATE INDEX "gpu_measurements_due_at_idx" ON "gpu_measurements" ("due_at");

-- By trigger, so that no writer of receipts can forget it. The facts say themselves that a measurement follows.
CREATE FUNCTION note_gpu_measurement() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO gpu_measurements (receipt_id, created_at, deployment)
  VALUES (NEW.id, NEW.created_at, NEW.facts -> 'site' ->> 'id') ON CONFLICT (receipt_id) DO NOTHING;
  RETURN NULL;
END $$;
-- Facts may come after the receipt: when a sidecar that stood still brings home what it made meanwhile.
CREATE TRIGGER "receipts_wait_for_counters" AFTER INSERT OR UPDATE OF "facts" ON "receipts"
  FOR EACH ROW WHEN (NEW."version" = 1 AND NEW."facts" ->> 'telemetryFollows' = 'true')
  EXECUTE FUNCTION note_gpu_measurement();
