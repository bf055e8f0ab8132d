CREATE TYPE "account_tier" AS ENUM ('audit', 'audit_plus', 'enterprise');
CREATE TYPE "account_state" AS ENUM ('active', 'suspended');
CREATE TYPE "operator_role" AS ENUM ('viewer', 'support', 'admin');
CREATE TYPE "model_kind" AS ENUM ('chat', 'embedding');
CREATE TYPE "region_status" AS ENUM ('active', 'degraded', 'saturated', 'decommissioned');
CREATE TYPE "provider_kind" AS ENUM ('simulator', 'openai');

CREATE TABLE "accounts" (
  "id" TEXT PRIMARY KEY,
  "name" TEXT NOT NULL,
  "tier" "account_tier" NOT NULL,
  "state" "account_state" NOT NULL DEFAULT 'active',
  "models" JSONB CHECK (jsonb_typeof("models") = 'array'),
  "limit_per_s" INTEGER CHECK ("limit_per_s" > 0),
  "limit_burst" INTEGER CHECK ("limit_burst" > 0),
  "limit_per_day" INTEGER CHECK ("limit_per_day" > 0),
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  -- Enterprise limits are negotiated, so there is no default that could stand in for them.
  CONSTRAINT "enterprise_has_limits" CHECK (
    "tier" <> 'enterprise'
    OR ("limit_per_s" IS NOT NULL AND "limit_burst" IS NOT NULL AND "limit_per_day" IS NOT NULL)
  )
);

CREATE TABLE "operators" (
  "id" TEXT PRIMARY KEY,
  "name" TEXT NOT NULL,
  "email" TEXT NOT NULL,
  "role" "operator_role" NOT NULL,
  "credential_hash" BYTEA,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "disabled_at" TIMESTAMPTZ(3)
);
CREATE UNIQUE INDEX "operators_email_key" ON "operators" ("email");

CREATE TABLE "api_keys" (
  "public_id" CHAR(12) PRIMARY KEY,
  "account_id" TEXT NOT NULL REFERENCES "accounts" ("id") ON DELETE RESTRICT ON UPDATE CASCADE,
  "name" TEXT NOT NULL,
  "hash" BYTEA CHECK (octet_length("hash") = 32),
  "pepper_version" INTEGER NOT NULL DEFAULT 1,
  "scopes" TEXT[] NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "expires_at" TIMESTAMPTZ(3),
  "revoked_at" TIMESTAMPTZ(3),
  "predecessor" CHAR(12),
  -- Only a revoked key may lose its hash; an active key without one could never be verified.
  CONSTRAINT "hash_or_revoked" CHECK ("hash" IS NOT NULL OR "revoked_at" IS NOT NULL)
);
CREATE INDEX "api_keys_account_id_idx" ON "api_keys" ("account_id");

-- A row, not a sequence: a sequence moves before the change is committed, so a reader could cache the old key under
-- the new number. The row's new value becomes visible together with the change.
CREATE TABLE "key_generation" (
  "id" INTEGER PRIMARY KEY DEFAULT 1 CHECK ("id" = 1),
  "generation" BIGINT NOT NULL
);
INSERT INTO "key_generation" VALUES (1, 1);

CREATE TABLE "catalogue_version" (
  "id" INTEGER PRIMARY KEY DEFAULT 1 CHECK ("id" = 1),
  "version" INTEGER NOT NULL
);
INSERT INTO "catalogue_version" VALUES (1, 1);

CREATE TABLE "models" (
  "id" TEXT PRIMARY KEY,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "owned_by" TEXT NOT NULL,
  "kind" "model_kind" NOT NULL,
  "context_window" INTEGER CHECK ("context_window" > 0),
  "modalities" TEXT[] NOT NULL,
  "takes_temperature" BOOLEAN NOT NULL DEFAULT TRUE,
  "active_parameters_min_b" DOUBLE PRECISION CHECK ("active_parameters_min_b" > 0),
  "active_parameters_max_b" DOUBLE PRECISION CHECK ("active_parameters_max_b" >= "active_parameters_min_b"),
  "total_parameters_min_b" DOUBLE PRECISION CHECK ("total_parameters_min_b" > 0),
  "total_parameters_max_b" DOUBLE PRECISION CHECK ("total_parameters_max_b" >= "total_parameters_min_b"),
  "model_class" TEXT,
  "quantization_bits" DOUBLE PRECISION CHECK ("quantization_bits" > 0),
  "tokens_per_s" DOUBLE PRECISION CHECK ("tokens_per_s" > 0),
  "ttft_s" DOUBLE PRECISION CHECK ("ttft_s" >= 0)
);

CREATE TABLE "regions" (
  "code" TEXT PRIMARY KEY,
  "name" TEXT NOT NULL,
  "country" TEXT NOT NULL,
  "grid_zone" TEXT NOT NULL,
  "status" "region_status" NOT NULL DEFAULT 'active',
  "preference" INTEGER NOT NULL
);

CREATE TABLE "providers" (
  "id" TEXT PRIMARY KEY,
  "name" TEXT NOT NULL,
  "kind" "provider_kind" NOT NULL,
  "base_url" TEXT NOT NULL,
  "auth_header" TEXT,
  "auth_scheme" TEXT,
  "credential_ref" TEXT CHECK ("credential_ref" ~ '^[A-Z0-9_]{1,64}$'),
  CONSTRAINT "credential_has_header" CHECK ("credential_ref" IS NULL OR "auth_header" IS NOT NULL)
);

CREATE TABLE "deployments" (
  "id" TEXT PRIMARY KEY,
  "provider_id" TEXT NOT NULL REFERENCES "providers" ("id") ON DELETE RESTRICT ON UPDATE CASCADE,
  "region_code" TEXT NOT NULL REFERENCES "regions" ("code") ON DELETE RESTRICT ON UPDATE CASCADE,
  "models" JSONB NOT NULL CHECK (jsonb_typeof("models") = 'object'),
  "pue" DOUBLE PRECISION NOT NULL CHECK ("pue" >= 1),
  "wue_onsite_l_per_kwh" DOUBLE PRECISION CHECK ("wue_onsite_l_per_kwh" >= 0),
  "telemetry" TEXT
);
CREATE INDEX "deployments_provider_id_idx" ON "deployments" ("provider_id");
CREATE INDEX "deployments_region_code_idx" ON "deployments" ("region_code");

CREATE TABLE "receipts" (
  "id" TEXT NOT NULL,
  "version" INTEGER NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL,
  "account_id" TEXT NOT NULL,
  "key_id" TEXT NOT NULL,
  "endpoint" TEXT NOT NULL,
  "model" TEXT NOT NULL,
  "region" TEXT,
  "tier" TEXT NOT NULL,
  "status" TEXT NOT NULL,
  "prompt_tokens" BIGINT,
  "completion_tokens" BIGINT,
  "energy_wh" NUMERIC,
  "carbon_g" NUMERIC,
  "body" JSON NOT NULL,
  "routing_trace" JSON,
  "facts" JSON,
  PRIMARY KEY ("id", "version", "created_at")
) PARTITION BY RANGE ("created_at");
CREATE INDEX "receipts_account_id_created_at_id_idx" ON "receipts" ("account_id", "created_at", "id");

-- Takes what no month takes, so that a wrong clock or a late partition never refuses a row.
CREATE TABLE "receipts_default" PARTITION OF "receipts" DEFAULT;

CREATE TABLE "audit" (
  "id" BIGSERIAL PRIMARY KEY,
  "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "account_id" TEXT,
  "actor_kind" TEXT NOT NULL,
  "actor_id" TEXT NOT NULL,
  "action" TEXT NOT NULL,
  "target" TEXT NOT NULL,
  "before" JSON,
  "after" JSON
);
CREATE INDEX "audit_account_id_id_idx" ON "audit" ("account_id", "id");

-- Makes the partitions of `month_count` months from the month of `first_day` (UTC) on, and returns how many it made.
-- Rows that the default partition holds for a new month move into it, so the call never fails because it came late.
CREATE FUNCTION ensure_receipt_partitions(first_day DATE, month_count INTEGER) RETURNS INTEGER
LANGUAGE plpgsql AS $$
DECLARE
  made INTEGER := 0;
  month_start TIMESTAMPTZ;
  month_end TIMESTAMPTZ;
  partition_name TEXT;
BEGIN
  -- Two callers at once would both see a partition missing.
  PERFORM pg_advisory_xact_lock(hashtext('ensure_receipt_partitions'));
  FOR i IN 0 .. month_count - 1 LOOP
    month_start := (date_trunc('month', first_day::TIMESTAMP) + make_interval(months => i)) AT TIME ZONE 'UTC';
    month_end := (date_trunc('month', first_day::TIMESTAMP) + make_interval(months => i + 1)) AT TIME ZONE 'UTC';
    partition_name := 'receipts_' || to_char(month_start AT TIME ZONE 'UTC', 'YYYY_MM');
    CONTINUE WHEN to_regclass(quote_ident(partition_name)) IS NOT NULL;
    EXECUTE format('CREATE TABLE %I (LIKE receipts INCLUDING ALL)', partition_name);
    EXECUTE 'LOCK TABLE receipts_default IN ACCESS EXCLUSIVE MODE';
    EXECUTE format(
      'WITH moved AS (DELETE FROM receipts_default WHERE created_at >= %L AND created_at < %L RETURNING *)
       INSERT INTO %I SELECT * FROM moved', month_start, month_end, partition_name);
    EXECUTE format('ALTER TABLE receipts ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
      partition_name, month_start, month_end);
    made := made + 1;
  END LOOP;
  RETURN made;
END $$;

-- The counters rise by trigger, so that no writer can forget them.
CREATE FUNCTION bump_key_generation() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND OLD IS NOT DISTINCT FROM NEW THEN RETURN NULL; END IF;
  UPDATE key_generation SET generation = generation + 1;
  RETURN NULL;
END $$;

CREATE FUNCTION bump_catalogue_version() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND OLD IS NOT DISTINCT FROM NEW THEN RETURN NULL; END IF;
  UPDATE catalogue_version SET version = version + 1;
  RETURN NULL;
END $$;

CREATE FUNCTION refuse_change_of_audit() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the audit log is append-only';
END $$;

CREATE TRIGGER "api_keys_changed" AFTER INSERT OR UPDATE OR DELETE ON "api_keys"
  FOR EACH ROW EXECUTE FUNCTION bump_key_generation();
CREATE TRIGGER "accounts_changed" AFTER INSERT OR UPDATE OR DELETE ON "accounts"
  FOR EACH ROW EXECUTE FUNCTION bump_key_generation();
CREATE TRIGGER "models_changed" AFTER INSERT OR UPDATE OR DELETE ON "models"
  FOR EACH ROW EXECUTE FUNCTION bump_catalogue_version();
CREATE TRIGGER "regions_changed" AFTER INSERT OR UPDATE OR DELETE ON "regions"
  FOR EACH ROW EXECUTE FUNCTION bump_catalogue_version();
CREATE TRIGGER "providers_changed" AFTER INSERT OR UPDATE OR DELETE ON "providers"
  FOR EACH ROW EXECUTE FUNCTION bump_catalogue_version();
CREATE TRIGGER "deployments_changed" AFTER INSERT OR UPDATE OR DELETE ON "deployments"
  FOR EACH ROW EXECUTE FUNCTION bump_catalogue_version();
CREATE TRIGGER "audit_unchanged" BEFORE UPDATE OR DELETE ON "audit"
  FOR EACH ROW EXECUTE FUNCTION refuse_change_of_audit();
CREATE TRIGGER "audit_not_truncated" BEFORE TRUNCATE ON "audit"
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_audit();
