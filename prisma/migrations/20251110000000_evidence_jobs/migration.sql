-- Evidence packs that a job builds, and their bytes, which every instance of the control plane can read.

CREATE TABLE "evidence_packs" (
  "id" TEXT PRIMARY KEY,
  "account_id" TEXT NOT NULL,
  "state" TEXT NOT NULL DEFAULT 'queued'
    CHECK ("state" IN ('queued', 'building', 'ready', 'failed', 'cancelled', 'expired')),
  -- What was asked for, as the reply of a short pack states it; with the time until which receipts are taken.
  "request" JSON NOT NULL,
  "format" TEXT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL,
  "changed_at" TIMESTAMPTZ(3) NOT NULL,
  -- How often an instance has begun; bytes of an earlier try are never read.
  "try" INTEGER NOT NULL DEFAULT 0,
  -- Until then one instance has it; it renews that while it builds.
  "leased_until" TIMESTAMPTZ(3),
  "receipts_done" BIGINT NOT NULL DEFAULT 0,
  "receipts_total" BIGINT,
  -- Length of the finished pack.
  "bytes" BIGINT,
  -- What its chunks take, compressed.
  "kept_bytes" BIGINT NOT NULL DEFAULT 0,
  -- Of a table: signed, with its digest.
  "statement" TEXT,
  "reason" TEXT,
  "expires_at" TIMESTAMPTZ(3)
);
CREATE INDEX "evidence_packs_account_id_state_idx" ON "evidence_packs" ("account_id", "state");
CREATE INDEX "evidence_packs_state_leased_until_idx" ON "evidence_packs" ("state", "leased_until");

CREATE TABLE "evidence_pack_chunks" (
  "pack_id" TEXT NOT NULL REFERENCES "evidence_packs" ("id") ON DELETE CASCADE,
  "try" INTEGER NOT NULL,
  -- The pack is its chunks by section and number.
  "section" INTEGER NOT NULL,
  "number" INTEGER NOT NULL,
  -- Before it was compressed.
  "length" INTEGER NOT NULL,
  "bytes" BYTEA NOT NULL,
  PRIMARY KEY ("pack_id", "try", "section", "number")
);
-- They are compressed already.
ALTER TABLE "evidence_pack_chunks" ALTER COLUMN "bytes" SET STORAGE EXTERNAL;
