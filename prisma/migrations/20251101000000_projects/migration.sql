-- What calls are charged to: a tag of a key, and a column of the sums. Receipts say it themselves.
SET LOCAL lock_timeout = '10s';

ALTER TABLE "api_keys" ADD COLUMN "project" TEXT
  CHECK (char_length("project") BETWEEN 1 AND 64);

-- Receipts from before name none, so the sums that are there are right as they are.
ALTER TABLE "usage_hours" ADD COLUMN "project" TEXT;
