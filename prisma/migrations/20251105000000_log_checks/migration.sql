-- The check of the logs of receipts: what it has found, and how far it is.

SET LOCAL lock_timeout = '5s';

ALTER TABLE "integrity_faults" DROP CONSTRAINT "integrity_faults_kind_check";
ALTER TABLE "integrity_faults" ADD CONSTRAINT "integrity_faults_kind_check" CHECK ("kind" IN ('audit', 'receipt', 'log'));

-- A table of its own, and no row of `integrity_checks`: the release before would miss the ends of this check there.
CREATE TABLE "receipt_log_checks" (
  -- There is one row.
  "id" BOOLEAN PRIMARY KEY DEFAULT TRUE CHECK ("id"),
  "claimed_until" TIMESTAMPTZ(3),
  "begun_at" TIMESTAMPTZ(3),
  -- Of the next page.
  "account_id" TEXT NOT NULL DEFAULT '',
  "index" BIGINT NOT NULL DEFAULT 0,
  "finished_at" TIMESTAMPTZ(3)
);
INSERT INTO "receipt_log_checks" DEFAULT VALUES;
