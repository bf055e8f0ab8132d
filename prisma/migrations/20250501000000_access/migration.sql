-- Onboarding, people with a login, and the audit log as chains of hashes.

ALTER TYPE "account_state" ADD VALUE 'onboarding' BEFORE 'active';
ALTER TYPE "account_state" ADD VALUE 'closed' AFTER 'suspended';
CREATE TYPE "onboarding_state" AS ENUM ('account_created', 'use_screening', 'sanctions_screening', 'manual_review',
  'contract_pending', 'key_pending', 'complete', 'rejected', 'expired');

ALTER TABLE "accounts"
  ADD COLUMN "billing_contact" JSONB CHECK (jsonb_typeof("billing_contact") = 'object'),
  ADD COLUMN "technical_contact" JSONB CHECK (jsonb_typeof("technical_contact") = 'object');

CREATE TABLE "onboarding" (
  "account_id" TEXT PRIMARY KEY REFERENCES "accounts" ("id") ON DELETE RESTRICT ON UPDATE CASCADE,
  "state" "onboarding_state" NOT NULL,
  "declaration" JSONB,
  "use_screening" JSONB,
  "sanctions_screening" JSONB,
  "high_risk" BOOLEAN,
  "contract_hash" CHAR(64) CHECK ("contract_hash" ~ '^[0-9a-f]{64}$'),
  "contract_reference" TEXT,
  "contract_signed_at" TIMESTAMPTZ(3),
  "expires_at" TIMESTAMPTZ(3) NOT NULL,
  "updated_at" TIMESTAMPTZ(3) NOT NULL,
  -- Steps 2 to 5 leave their result behind; without it nobody gets further.
  CONSTRAINT "declared" CHECK ("state" IN ('account_created', 'rejected', 'expired') OR "declaration" IS NOT NULL),
  CONSTRAINT "screened" CHECK ("state" NOT IN ('manual_review', 'contract_pending', 'key_pending', 'complete')
    OR ("use_screening" IS NOT NULL AND "sanctions_screening" IS NOT NULL AND "high_risk" IS NOT NULL)),
  CONSTRAINT "signed" CHECK ("state" NOT IN ('key_pending', 'complete')
    OR ("contract_hash" IS NOT NULL AND "contract_reference" IS NOT NULL AND "contract_signed_at" IS NOT NULL))
);
CREATE INDEX "onboarding_state_idx" ON "onboarding" ("state");

CREATE TABLE "onboarding_steps" (
  "id" BIGSERIAL PRIMARY KEY,
  "account_id" TEXT NOT NULL,
  "step" INTEGER NOT NULL CHECK ("step" BETWEEN 1 AND 6),
  "action" TEXT NOT NULL,
  "from" TEXT,
  "to" TEXT NOT NULL,
  "actor_kind" TEXT NOT NULL,
  "actor_id" TEXT NOT NULL,
  "at" TIMESTAMPTZ(3) NOT NULL,
  "input" JSON NOT NULL,
  "outcome" JSON NOT NULL
);
CREATE INDEX "onboarding_steps_account_id_id_idx" ON "onboarding_steps" ("account_id", "id");

CREATE TABLE "organisation_admins" (
  "id" TEXT PRIMARY KEY,
  "account_id" TEXT NOT NULL REFERENCES "accounts" ("id") ON DELETE RESTRICT ON UPDATE CASCADE,
  "name" TEXT NOT NULL,
  "email" TEXT NOT NULL,
  "credential_hash" TEXT CHECK ("credential_hash" LIKE '$argon2id$%'),
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "disabled_at" TIMESTAMPTZ(3)
);
CREATE UNIQUE INDEX "organisation_admins_email_key" ON "organisation_admins" ("email");
CREATE INDEX "organisation_admins_account_id_idx" ON "organisation_admins" ("account_id");

-- No operator had a credential before this.
ALTER TABLE "operators" DROP COLUMN "credential_hash";
ALTER TABLE "operators"
  ADD COLUMN "credential_hash" TEXT CHECK ("credential_hash" LIKE '$argon2id$%'),
  ADD COLUMN "oidc_issuer" TEXT,
  ADD COLUMN "oidc_subject" TEXT,
  ADD CONSTRAINT "oidc_whole" CHECK (("oidc_issuer" IS NULL) = ("oidc_subject" IS NULL));
CREATE UNIQUE INDEX "operators_oidc_issuer_oidc_subject_key" ON "operators" ("oidc_issuer", "oidc_subject");

CREATE TABLE "sessions" (
  "token_hash" BYTEA PRIMARY KEY CHECK (octet_length("token_hash") = 32),
  "subject_kind" TEXT NOT NULL CHECK ("subject_kind" IN ('operator', 'organisation_admin')),
  "subject_id" TEXT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL,
  "last_seen_at" TIMESTAMPTZ(3) NOT NULL,
  "expires_at" TIMESTAMPTZ(3) NOT NULL
);
CREATE INDEX "sessions_subject_kind_subject_id_idx" ON "sessions" ("subject_kind", "subject_id");

CREATE TABLE "operator_tokens" (
  "id" TEXT PRIMARY KEY,
  "operator_id" TEXT NOT NULL REFERENCES "operators" ("id") ON DELETE RESTRICT ON UPDATE CASCADE,
  "name" TEXT NOT NULL,
  "token_hash" BYTEA NOT NULL CHECK (octet_length("token_hash") = 32),
  "created_at" TIMESTAMPTZ(3) NOT NULL,
  "expires_at" TIMESTAMPTZ(3)
);
CREATE UNIQUE INDEX "operator_tokens_token_hash_key" ON "operator_tokens" ("token_hash");
CREATE INDEX "operator_tokens_operator_id_idx" ON "operator_tokens" ("operator_id");

CREATE TABLE "key_uses" (
  "public_id" CHAR(12) PRIMARY KEY,
  "last_used_on" DATE NOT NULL
);

-- Nothing had written into the audit log before this; if something has, this fails rather than lose it.
DO $$ BEGIN
  IF EXISTS (SELECT 1 FROM "audit") THEN RAISE EXCEPTION 'the audit log is not empty: export it first'; END IF;
END $$;
DROP TABLE "audit";
CREATE TABLE "audit" (
  "chain" TEXT NOT NULL,
  "seq" BIGINT NOT NULL CHECK ("seq" > 0),
  "at" TIMESTAMPTZ(3) NOT NULL,
  "account_id" TEXT,
  "actor_kind" TEXT NOT NULL,
  "actor_id" TEXT NOT NULL,
  "actor_name" TEXT,
  "action" TEXT NOT NULL,
  "target" TEXT NOT NULL,
  "request_id" TEXT,
  "before" JSON,
  "after" JSON,
  "prev_hash" CHAR(64) NOT NULL CHECK ("prev_hash" ~ '^[0-9a-f]{64}$'),
  "hash" CHAR(64) NOT NULL CHECK ("hash" ~ '^[0-9a-f]{64}$'),
  PRIMARY KEY ("chain", "seq"),
  CONSTRAINT "chain_of_account" CHECK ("chain" = COALESCE("account_id", 'operators'))
);
CREATE INDEX "audit_account_id_at_idx" ON "audit" ("account_id", "at");

CREATE TABLE "audit_heads" (
  "chain" TEXT PRIMARY KEY,
  "seq" BIGINT NOT NULL,
  "hash" CHAR(64) NOT NULL
);

-- Admits an entry only at the end of its chain. Writers of one chain wait for each other at its head. With the rights of the
-- owner, since nobody else may write a head.
CREATE FUNCTION link_audit_entry() RETURNS TRIGGER LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  head audit_heads%ROWTYPE;
BEGIN
  SELECT * INTO head FROM audit_heads WHERE chain = NEW.chain FOR UPDATE;
  IF NEW.seq <> COALESCE(head.seq, 0) + 1 OR NEW.prev_hash <> COALESCE(head.hash, repeat('0', 64)) THEN
    RAISE EXCEPTION 'the audit entry does not follow the last one of its chain' USING ERRCODE = 'serialization_failure';
  END IF;
  INSERT INTO audit_heads VALUES (NEW.chain, NEW.seq, NEW.hash)
    ON CONFLICT (chain) DO UPDATE SET seq = EXCLUDED.seq, hash = EXCLUDED.hash;
  RETURN NEW;
END $$;

-- Else anybody could let it run for a table of his own, and move a head without an entry.
REVOKE EXECUTE ON FUNCTION link_audit_entry() FROM PUBLIC;

-- A head moves with an entry alone: inside of the trigger above.
CREATE FUNCTION refuse_change_of_audit_heads() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP IN ('INSERT', 'UPDATE') AND pg_trigger_depth() > 1 THEN RETURN NEW; END IF;
  RAISE EXCEPTION 'the head of a chain moves with an audit entry alone';
END $$;

CREATE TRIGGER "audit_linked" BEFORE INSERT ON "audit"
  FOR EACH ROW EXECUTE FUNCTION link_audit_entry();
CREATE TRIGGER "audit_unchanged" BEFORE UPDATE OR DELETE ON "audit"
  FOR EACH ROW EXECUTE FUNCTION refuse_change_of_audit();
CREATE TRIGGER "audit_not_truncated" BEFORE TRUNCATE ON "audit"
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_audit();
CREATE TRIGGER "audit_heads_follow" BEFORE INSERT OR UPDATE OR DELETE ON "audit_heads"
  FOR EACH ROW EXECUTE FUNCTION refuse_change_of_audit_heads();
CREATE TRIGGER "audit_heads_not_truncated" BEFORE TRUNCATE ON "audit_heads"
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_audit_heads();
CREATE TRIGGER "onboarding_steps_unchanged" BEFORE UPDATE OR DELETE ON "onboarding_steps"
  FOR EACH ROW EXECUTE FUNCTION refuse_change_of_audit();
CREATE TRIGGER "onboarding_steps_not_truncated" BEFORE TRUNCATE ON "onboarding_steps"
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_audit();

-- Not even the owner, who has to grant it back to himself first.
REVOKE UPDATE, DELETE, TRUNCATE ON "audit", "onboarding_steps" FROM CURRENT_USER;

-- The services may make partitions without owning the ledger.
ALTER FUNCTION ensure_receipt_partitions(DATE, INTEGER) SECURITY DEFINER SET search_path = public, pg_temp;
REVOKE EXECUTE ON FUNCTION ensure_receipt_partitions(DATE, INTEGER) FROM PUBLIC;
