-- The receipts of each account as an append-only Merkle log (RFC 6962), with signed checkpoints.

-- One row for each version of a receipt, and one more if its first version was settled after it was logged.
CREATE TABLE "receipt_log" (
  "account_id" TEXT NOT NULL,
  -- From 0, without gaps.
  "index" BIGINT NOT NULL,
  "receipt_id" TEXT NOT NULL,
  "version" INTEGER NOT NULL,
  -- Of the call.
  "created_at" TIMESTAMPTZ(3) NOT NULL,
  -- SHA-256 over 0x00 and the receipt as JSON by RFC 8785.
  "leaf_hash" BYTEA NOT NULL CHECK (octet_length("leaf_hash") = 32),
  -- Which content of the ledger's row that was; empty for rows from before there were seals.
  "content_sha256" TEXT NOT NULL,
  PRIMARY KEY ("account_id", "index")
);
CREATE UNIQUE INDEX "receipt_log_receipt_id_version_content_sha256_key"
  ON "receipt_log" ("receipt_id", "version", "content_sha256");
CREATE INDEX "receipt_log_account_id_created_at_idx" ON "receipt_log" ("account_id", "created_at");

-- The hashes of complete subtrees of 16, 256, 4,096 and so on leaves: of each fourth level.
CREATE TABLE "receipt_log_nodes" (
  "account_id" TEXT NOT NULL,
  "level" SMALLINT NOT NULL,
  "index" BIGINT NOT NULL,
  "hash" BYTEA NOT NULL CHECK (octet_length("hash") = 32),
  PRIMARY KEY ("account_id", "level", "index")
);

CREATE TABLE "receipt_log_checkpoints" (
  "account_id" TEXT NOT NULL,
  "tree_size" BIGINT NOT NULL,
  -- As it was signed: account, size, root hash, time and signature.
  "checkpoint" JSON NOT NULL,
  PRIMARY KEY ("account_id", "tree_size")
);

-- As `usage_changes`: an hour of an account that has receipts which may not be in its log.
CREATE TABLE "receipt_log_changes" (
  "seq" BIGSERIAL PRIMARY KEY,
  "account_id" TEXT NOT NULL,
  "hour" TIMESTAMPTZ(3) NOT NULL
);
CREATE INDEX "receipt_log_changes_hour_account_id_idx" ON "receipt_log_changes" ("hour", "account_id");

CREATE OR REPLACE FUNCTION note_usage_change() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  WITH hours AS (SELECT DISTINCT account_id, date_trunc('hour', created_at, 'UTC') AS hour FROM changed),
  logged AS (INSERT INTO receipt_log_changes (account_id, hour) SELECT account_id, hour FROM hours)
  INSERT INTO usage_changes (account_id, hour) SELECT account_id, hour FROM hours;
  RETURN NULL;
END $$;

DO $$ DECLARE
  grows TEXT;
BEGIN
  FOREACH grows IN ARRAY ARRAY['receipt_log', 'receipt_log_nodes', 'receipt_log_checkpoints'] LOOP
    EXECUTE format('CREATE TRIGGER %I BEFORE UPDATE OR DELETE ON %I FOR EACH ROW EXECUTE FUNCTION refuse_change()',
      grows || '_unchanged', grows);
    EXECUTE format('CREATE TRIGGER %I BEFORE TRUNCATE ON %I FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()',
      grows || '_not_truncated', grows);
  END LOOP;
END $$;

INSERT INTO "receipt_log_changes" ("account_id", "hour")
SELECT DISTINCT "account_id", date_trunc('hour', "created_at", 'UTC') FROM "receipts";
