-- Open streams are a limit like the others, and each limit can be watched before it is enforced.
ALTER TABLE "accounts" ADD COLUMN "limit_streams" INTEGER,
  ADD COLUMN "limit_shadow" TEXT[] NOT NULL DEFAULT '{}';
ALTER TABLE "accounts" DROP CONSTRAINT "only_enterprise_has_limits";
ALTER TABLE "accounts" ADD CONSTRAINT "only_enterprise_has_limits" CHECK (
  "tier" = 'enterprise'
  OR ("limit_per_s" IS NULL AND "limit_burst" IS NULL AND "limit_per_day" IS NULL AND "limit_streams" IS NULL)
);
ALTER TABLE "accounts" ADD CONSTRAINT "known_shadow_limits" CHECK ("limit_shadow" <@ ARRAY['rate', 'day', 'streams']);
ALTER TABLE "accounts" ADD CONSTRAINT "streams_above_zero" CHECK ("limit_streams" > 0);

-- A key of an Enterprise account may be given less than the account has; null: only the account's limit holds.
ALTER TABLE "api_keys" ADD COLUMN "limit_per_s" INTEGER,
  ADD COLUMN "limit_burst" INTEGER,
  ADD COLUMN "limit_per_day" INTEGER,
  ADD COLUMN "limit_streams" INTEGER,
  ADD CONSTRAINT "key_limits_above_zero" CHECK (
    "limit_per_s" > 0 AND "limit_burst" > 0 AND "limit_per_day" > 0 AND "limit_streams" > 0
  ),
  ADD CONSTRAINT "key_rate_with_burst" CHECK (("limit_per_s" IS NULL) = ("limit_burst" IS NULL));

-- One row is one whole set of the rules that requests are screened by; the newest is in force. Rows are only added.
CREATE TABLE "policy_versions" (
  "version" INTEGER PRIMARY KEY CHECK ("version" > 0),
  "rules" JSONB NOT NULL,
  "sha256" CHAR(64) NOT NULL,
  "note" TEXT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "created_by" TEXT NOT NULL
);

CREATE TABLE "policy_exemptions" (
  "account_id" TEXT NOT NULL REFERENCES "accounts" ("id") ON DELETE RESTRICT ON UPDATE CASCADE,
  "rule_id" TEXT NOT NULL,
  "reason" TEXT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "created_by" TEXT NOT NULL,
  PRIMARY KEY ("account_id", "rule_id")
);
