-- The whole database, by subject: what only grows, the audit log, accounts, people, keys, budgets, the catalogue, grid readings, the ledger,
-- the jobs on it, sums of usage, the log of receipts, integrity checks and evidence packs.
--
-- Functions that run as the owner (SECURITY DEFINER) have a fixed search path, and nobody but the owner may call them unless
-- prisma/roles.ts grants it.


-- # Tables that only grow

-- Triggers on each such table call it. Its owner also loses the right to change rows, and would first have to grant it back to himself.
CREATE FUNCTION refuse_change() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the table % is append-only', TG_TABLE_NAME;
END $$;

-- Refuses to empty a table, and lets `guard` decide about each row that is changed or removed: the default refuses them all.
CREATE PROCEDURE make_append_only(name TEXT, guard TEXT DEFAULT 'refuse_change') LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('CREATE TRIGGER %I BEFORE UPDATE OR DELETE ON %I FOR EACH ROW EXECUTE FUNCTION %I()', name || '_unchanged', name, guard);
  EXECUTE format('CREATE TRIGGER %I BEFORE TRUNCATE ON %I FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()', name || '_not_truncated', name);
END $$;


-- # The audit log: chains of hashes

-- Each account has a chain of its own; what belongs to no account is in the chain `operators`.
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
  -- The key is not in the database: whoever writes here can chain an entry, and cannot seal it.
  "seal" CHAR(64) NOT NULL,
  "seal_key" SMALLINT NOT NULL,
  PRIMARY KEY ("chain", "seq"),
  CONSTRAINT "chain_of_account" CHECK ("chain" = COALESCE("account_id", 'operators'))
);
-- Entries are looked up by chain and time. The chain also names the account, so no index on the account is needed.
CREATE INDEX "audit_chain_at_idx" ON "audit" ("chain", "at");

CREATE TABLE "audit_heads" (
  "chain" TEXT PRIMARY KEY,
  "seq" BIGINT NOT NULL,
  "hash" CHAR(64) NOT NULL
);

-- Admits an entry only at the end of its chain. Writers of one chain wait for each other at its head. It runs as the owner, since nobody
-- else may write a head.
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
-- Otherwise anybody could run it on a table of their own, and move a head without an entry.
REVOKE EXECUTE ON FUNCTION link_audit_entry() FROM PUBLIC;

-- A head moves only inside the trigger above, together with an entry.
CREATE FUNCTION refuse_change_of_audit_heads() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP IN ('INSERT', 'UPDATE') AND pg_trigger_depth() > 1 THEN RETURN NEW; END IF;
  RAISE EXCEPTION 'the head of a chain moves with an audit entry alone';
END $$;

CREATE TRIGGER "audit_linked" BEFORE INSERT ON "audit"
  FOR EACH ROW EXECUTE FUNCTION link_audit_entry();
CALL make_append_only('audit');
REVOKE UPDATE, DELETE, TRUNCATE ON "audit" FROM CURRENT_USER;
CREATE TRIGGER "audit_heads_follow" BEFORE INSERT OR UPDATE OR DELETE ON "audit_heads"
  FOR EACH ROW EXECUTE FUNCTION refuse_change_of_audit_heads();
CREATE TRIGGER "audit_heads_not_truncated" BEFORE TRUNCATE ON "audit_heads"
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_audit_heads();


-- # Accounts and their onboarding

CREATE TYPE "account_tier" AS ENUM ('audit', 'audit_plus', 'enterprise');
CREATE TYPE "account_state" AS ENUM ('onboarding', 'active', 'suspended', 'closed');
CREATE TYPE "onboarding_state" AS ENUM ('account_created', 'use_screening', 'sanctions_screening', 'manual_review',
  'contract_pending', 'key_pending', 'complete', 'rejected', 'expired');

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
  "billing_contact" JSONB CHECK (jsonb_typeof("billing_contact") = 'object'),
  "technical_contact" JSONB CHECK (jsonb_typeof("technical_contact") = 'object'),
  "limit_streams" INTEGER,
  -- Tokens of prompts and answers, in any tier. Null: no limit.
  "tokens_per_minute" INTEGER CHECK ("tokens_per_minute" > 0),
  "tokens_per_day" INTEGER CHECK ("tokens_per_day" > 0),
  -- These limits are counted and reported, and not enforced yet.
  "limit_shadow" TEXT[] NOT NULL DEFAULT '{}',
  -- The delay and the extra cost that the account tolerates for a region with less carbon.
  "max_added_latency_ms" INTEGER CHECK ("max_added_latency_ms" >= 0),
  "max_added_cost_percent" INTEGER CHECK ("max_added_cost_percent" >= 0),
  -- Replies state usage.impacts for clients of EcoLogits and OpenGateLLM.
  "usage_impacts" BOOLEAN NOT NULL DEFAULT false,
  -- Enterprise limits are negotiated, so no default can stand in for them. The limits of the other tiers are those of the tier.
  CONSTRAINT "enterprise_has_limits" CHECK (
    "tier" <> 'enterprise'
    OR ("limit_per_s" IS NOT NULL AND "limit_burst" IS NOT NULL AND "limit_per_day" IS NOT NULL)
  ),
  CONSTRAINT "only_enterprise_has_limits" CHECK (
    "tier" = 'enterprise'
    OR ("limit_per_s" IS NULL AND "limit_burst" IS NULL AND "limit_per_day" IS NULL AND "limit_streams" IS NULL)
  ),
  CONSTRAINT "streams_above_zero" CHECK ("limit_streams" > 0),
  CONSTRAINT "known_shadow_limits" CHECK ("limit_shadow" <@ ARRAY['rate', 'day', 'streams', 'tokens'])
);

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
  -- Steps 2 to 5 each leave a result; no application advances without it.
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
CALL make_append_only('onboarding_steps');
REVOKE UPDATE, DELETE, TRUNCATE ON "onboarding_steps" FROM CURRENT_USER;


-- # People who log in

CREATE TYPE "operator_role" AS ENUM ('viewer', 'support', 'admin');

CREATE TABLE "operators" (
  "id" TEXT PRIMARY KEY,
  "name" TEXT NOT NULL,
  -- Encrypted, as all names, with a key of the person; it is found by its digest.
  "email" TEXT NOT NULL,
  "email_digest" BYTEA,
  "role" "operator_role" NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "disabled_at" TIMESTAMPTZ(3),
  "credential_hash" TEXT CHECK ("credential_hash" LIKE '$argon2id$%'),
  "oidc_issuer" TEXT,
  "oidc_subject" TEXT,
  CONSTRAINT "oidc_whole" CHECK (("oidc_issuer" IS NULL) = ("oidc_subject" IS NULL))
);
CREATE UNIQUE INDEX "operators_email_digest_key" ON "operators" ("email_digest");
CREATE UNIQUE INDEX "operators_oidc_issuer_oidc_subject_key" ON "operators" ("oidc_issuer", "oidc_subject");

CREATE TABLE "organisation_admins" (
  "id" TEXT PRIMARY KEY,
  "account_id" TEXT NOT NULL REFERENCES "accounts" ("id") ON DELETE RESTRICT ON UPDATE CASCADE,
  "name" TEXT NOT NULL,
  "email" TEXT NOT NULL,
  "email_digest" BYTEA,
  "credential_hash" TEXT CHECK ("credential_hash" LIKE '$argon2id$%'),
  "oidc_issuer" TEXT,
  "oidc_subject" TEXT,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "disabled_at" TIMESTAMPTZ(3),
  CONSTRAINT "admin_oidc_whole" CHECK (("oidc_issuer" IS NULL) = ("oidc_subject" IS NULL))
);
CREATE UNIQUE INDEX "organisation_admins_account_id_oidc_issuer_oidc_subject_key" ON "organisation_admins" ("account_id", "oidc_issuer", "oidc_subject");
CREATE UNIQUE INDEX "organisation_admins_email_digest_key" ON "organisation_admins" ("email_digest");
CREATE INDEX "organisation_admins_account_id_idx" ON "organisation_admins" ("account_id");

-- The identity provider of an account's own, for its admins.
CREATE TABLE "account_issuers" (
  "account_id" TEXT PRIMARY KEY REFERENCES "accounts" ("id") ON DELETE RESTRICT ON UPDATE CASCADE,
  "issuer" TEXT NOT NULL,
  "client_id" TEXT NOT NULL,
  "sealed" BYTEA NOT NULL,
  "claim" TEXT NOT NULL CHECK ("claim" IN ('email', 'preferred_username', 'oid', 'sub')),
  "domain" TEXT NOT NULL CHECK ("domain" = lower("domain")),
  "domain_token" TEXT NOT NULL,
  "verified_at" TIMESTAMPTZ(3),
  "verified_by" TEXT CHECK ("verified_by" IN ('dns', 'operator')),
  "set_at" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "verified_whole" CHECK (("verified_at" IS NULL) = ("verified_by" IS NULL))
);
-- Whoever only claims a domain keeps nobody from verifying it.
CREATE UNIQUE INDEX "account_issuers_verified_domain" ON "account_issuers" ("domain") WHERE "verified_at" IS NOT NULL;

CREATE TABLE "sessions" (
  "token_hash" BYTEA PRIMARY KEY CHECK (octet_length("token_hash") = 32),
  "subject_kind" TEXT NOT NULL CHECK ("subject_kind" IN ('operator', 'organisation_admin')),
  "subject_id" TEXT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL,
  "last_seen_at" TIMESTAMPTZ(3) NOT NULL,
  "expires_at" TIMESTAMPTZ(3) NOT NULL
);
CREATE INDEX "sessions_subject_kind_subject_id_idx" ON "sessions" ("subject_kind", "subject_id");

-- The second factor of a person who logs in with a credential: codes that change with time (RFC 6238).
CREATE TABLE "second_factors" (
  "subject_kind" TEXT NOT NULL,
  "subject_id" TEXT NOT NULL,
  -- The secret of the codes, encrypted for this person.
  "sealed" BYTEA NOT NULL,
  "made_at" TIMESTAMPTZ(3) NOT NULL,
  -- When its person proved to have it. Null: logins do not ask for it yet.
  "set_at" TIMESTAMPTZ(3),
  -- The time step of the last accepted code: neither that code nor an earlier one is accepted again.
  "last_step" INTEGER NOT NULL DEFAULT 0,
  -- How many codes were wrong since the last right one, and when the next try is allowed.
  "failures" INTEGER NOT NULL DEFAULT 0,
  "next_try_at" TIMESTAMPTZ(3),
  PRIMARY KEY ("subject_kind", "subject_id"),
  CONSTRAINT "second_factors_subject_kind" CHECK ("subject_kind" IN ('operator', 'organisation_admin'))
);

-- Bearer tokens for the scripts of operators.
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

-- Whoever makes a change for a person holds that person, and what proved them, until the change is committed. A lock on a row needs the right
-- to change it, which only those have who keep people; so these run as the owner.

-- Returns the role that the operator has now; null if disabled or gone.
CREATE FUNCTION hold_operator(operator_id TEXT) RETURNS TEXT LANGUAGE sql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT role::text FROM operators WHERE id = $1 AND disabled_at IS NULL FOR SHARE;
$$;
-- Returns the account of the admin; null if disabled or gone.
CREATE FUNCTION hold_organisation_admin(admin_id TEXT) RETURNS TEXT LANGUAGE sql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT account_id FROM organisation_admins WHERE id = $1 AND disabled_at IS NULL FOR SHARE;
$$;
-- FOR KEY SHARE waits for whoever ends the proof, and not for whoever notes that a session is used. Null if it has ended.
CREATE FUNCTION hold_operator_token(token_id TEXT, used_at TIMESTAMPTZ) RETURNS BOOLEAN LANGUAGE sql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT TRUE FROM operator_tokens WHERE id = $1 AND (expires_at IS NULL OR expires_at > $2) FOR KEY SHARE;
$$;
-- The id of a session is the beginning of its hash; among the few of one person it names but one.
CREATE FUNCTION hold_session(kind TEXT, person_id TEXT, session_id TEXT, used_at TIMESTAMPTZ) RETURNS BOOLEAN LANGUAGE sql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT TRUE FROM sessions WHERE subject_kind = $1 AND subject_id = $2 AND left(encode(token_hash, 'hex'), 12) = $3
    AND expires_at > $4 FOR KEY SHARE;
$$;
REVOKE EXECUTE ON FUNCTION hold_operator(TEXT), hold_organisation_admin(TEXT), hold_operator_token(TEXT, TIMESTAMPTZ),
  hold_session(TEXT, TEXT, TEXT, TIMESTAMPTZ) FROM PUBLIC;


-- # API keys, and how instances learn that one has changed

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
  -- A key of an Enterprise account may have lower limits than the account. Null: only the limit of the account holds.
  "limit_per_s" INTEGER,
  "limit_burst" INTEGER,
  "limit_per_day" INTEGER,
  "limit_streams" INTEGER,
  "tokens_per_minute" INTEGER,
  "tokens_per_day" INTEGER,
  -- The project that calls with this key are charged to.
  "project" TEXT CHECK (char_length("project") BETWEEN 1 AND 64),
  -- Only a revoked key may lose its hash; an active key without one could never be verified.
  CONSTRAINT "hash_or_revoked" CHECK ("hash" IS NOT NULL OR "revoked_at" IS NOT NULL),
  CONSTRAINT "key_limits_above_zero" CHECK (
    "limit_per_s" > 0 AND "limit_burst" > 0 AND "limit_per_day" > 0 AND "limit_streams" > 0
    AND "tokens_per_minute" > 0 AND "tokens_per_day" > 0
  ),
  CONSTRAINT "key_rate_with_burst" CHECK (("limit_per_s" IS NULL) = ("limit_burst" IS NULL))
);
CREATE INDEX "api_keys_account_id_idx" ON "api_keys" ("account_id");

CREATE TABLE "key_uses" (
  "public_id" CHAR(12) PRIMARY KEY,
  "last_used_on" DATE NOT NULL
);

-- A row, not a sequence: a sequence moves before the change is committed, so a reader could cache the old key under the new number. The
-- row's new value becomes visible together with the change.
-- A hash of a key says nothing of its pepper without the key. So whoever hashes the first key with a pepper leaves a digest of it here, by
-- which each service finds out whether it was given the same one.
CREATE TABLE "pepper_checks" (
  "version" INTEGER PRIMARY KEY,
  "check_value" BYTEA NOT NULL
);

CREATE TABLE "key_generation" (
  "id" INTEGER PRIMARY KEY DEFAULT 1 CHECK ("id" = 1),
  "generation" BIGINT NOT NULL
);
INSERT INTO "key_generation" VALUES (1, 1);

-- Each row says what changed with a step of the generation: a key, or an account with all of its keys. An instance that knows a
-- generation forgets what came after it. It forgets everything only where this table no longer has all steps since.
CREATE TABLE "key_changes" (
  "generation" BIGINT PRIMARY KEY,
  "public_id" CHAR(12),
  "account_id" TEXT,
  CONSTRAINT "of_key_or_account" CHECK (("public_id" IS NULL) <> ("account_id" IS NULL))
);

-- How far this database is. Redis has a copy: a database that says less went back in time. The generation is that of the keys at the
-- heartbeat, so after a fall it names the last change that is surely there, whatever was changed since.
CREATE TABLE "ground" (
  "id" INTEGER PRIMARY KEY DEFAULT 1 CHECK ("id" = 1),
  "heartbeat" BIGINT NOT NULL,
  "generation" BIGINT NOT NULL,
  "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP
);
INSERT INTO "ground" VALUES (1, 0, 1);

-- The generation rises by one for each key and each account that changed, so a reader who counts the rows knows whether all are there. A
-- statement that changes more than 1,000 leaves no rows: nobody reads more than the last 1,000, and an instance that knows an older
-- generation finds too few and forgets everything. The row of the generation is held until the end of the transaction, so that
-- generations become visible in their order. Without that row, nothing can be changed.
CREATE FUNCTION note_key_changes(changed_keys TEXT[], changed_accounts TEXT[]) RETURNS VOID LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  steps INTEGER := cardinality(changed_keys) + cardinality(changed_accounts);
  reached BIGINT;
BEGIN
  IF steps = 0 THEN RETURN; END IF;
  UPDATE key_generation SET generation = generation + steps RETURNING generation INTO STRICT reached;
  IF steps <= 1000 THEN
    INSERT INTO key_changes
    SELECT reached - steps + row_number() OVER (), changed.public_id, changed.account_id FROM (
      SELECT unnest(changed_keys), NULL UNION ALL SELECT NULL, unnest(changed_accounts)
    ) AS changed (public_id, account_id);
  END IF;
  DELETE FROM key_changes WHERE generation <= reached - 10000;
END $$;
REVOKE EXECUTE ON FUNCTION note_key_changes(TEXT[], TEXT[]) FROM PUBLIC;

-- The next functions run once for each statement, however many rows it changed. Their queries are planned once for each session, mostly
-- for a single row. A FULL JOIN hashes or sorts in any plan, so no kept plan compares each of many old rows with each new one.
CREATE FUNCTION bump_key_generation() RETURNS TRIGGER LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    PERFORM note_key_changes('{}', ARRAY(
      SELECT COALESCE(c.id, f.id) FROM changed c FULL JOIN former f ON c.id = f.id WHERE c IS DISTINCT FROM f));
  ELSE
    PERFORM note_key_changes('{}', ARRAY(SELECT id FROM changed));
  END IF;
  RETURN NULL;
END $$;
REVOKE EXECUTE ON FUNCTION bump_key_generation() FROM PUBLIC;

-- A hash that was made again with a newer pepper verifies the same key as the old one, so it is no change as long as nothing else
-- changed with it. Otherwise every instance would look up each key again after the pepper was replaced.
CREATE FUNCTION bump_key_generation_for_key() RETURNS TRIGGER LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    PERFORM note_key_changes(ARRAY(
      SELECT COALESCE(c.public_id, f.public_id) FROM changed c FULL JOIN former f ON c.public_id = f.public_id
      WHERE c IS DISTINCT FROM f AND NOT COALESCE(
        c.hash IS NOT NULL AND c.pepper_version > f.pepper_version
          AND to_jsonb(c) - 'hash' - 'pepper_version' = to_jsonb(f) - 'hash' - 'pepper_version', FALSE)
    ), '{}');
  ELSE
    PERFORM note_key_changes(ARRAY(SELECT public_id FROM changed), '{}');
  END IF;
  RETURN NULL;
END $$;
REVOKE EXECUTE ON FUNCTION bump_key_generation_for_key() FROM PUBLIC;

-- A trigger with tables of old and new rows is for one kind of statement only.
CREATE TRIGGER "accounts_changed" AFTER UPDATE ON "accounts" REFERENCING OLD TABLE AS former NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION bump_key_generation();
CREATE TRIGGER "accounts_added" AFTER INSERT ON "accounts" REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION bump_key_generation();
CREATE TRIGGER "accounts_removed" AFTER DELETE ON "accounts" REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION bump_key_generation();

CREATE TRIGGER "api_keys_changed" AFTER UPDATE ON "api_keys" REFERENCING OLD TABLE AS former NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION bump_key_generation_for_key();
CREATE TRIGGER "api_keys_added" AFTER INSERT ON "api_keys" REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION bump_key_generation_for_key();
CREATE TRIGGER "api_keys_removed" AFTER DELETE ON "api_keys" REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION bump_key_generation_for_key();


-- # Budgets

-- A budget limits what an account, one of its keys or one of its projects may use in a UTC month.
CREATE TABLE "budgets" (
  "id" TEXT PRIMARY KEY,
  "account_id" TEXT NOT NULL REFERENCES "accounts" ("id"),
  "scope" TEXT NOT NULL,
  -- The public id of a key, or the name of a project; empty for the account itself.
  "name" TEXT NOT NULL,
  "unit" TEXT NOT NULL,
  -- In grams of CO2e, watt-hours, tokens, or the currency of the prices.
  "amount" DOUBLE PRECISION NOT NULL,
  "kind" TEXT NOT NULL,
  -- Who set it: only they, or an operator, can change it.
  "set_by" TEXT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "budgets_scope" CHECK ("scope" IN ('account', 'key', 'project') AND ("scope" = 'account') = ("name" = '')),
  CONSTRAINT "budgets_unit" CHECK ("unit" IN ('carbon_g', 'energy_wh', 'tokens', 'cost')),
  CONSTRAINT "budgets_kind" CHECK ("kind" IN ('soft', 'hard')),
  CONSTRAINT "budgets_set_by" CHECK ("set_by" IN ('operator', 'organisation')),
  CONSTRAINT "budgets_amount" CHECK ("amount" > 0 AND "amount" < 'infinity')
);
CREATE UNIQUE INDEX "budgets_account_id_scope_name_unit_set_by_key"
  ON "budgets" ("account_id", "scope", "name", "unit", "set_by");

-- ext-authz forgets the keys of the account, and reads its budgets with the next call.
CREATE FUNCTION bump_key_generation_for_budget() RETURNS TRIGGER LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    PERFORM note_key_changes('{}', ARRAY(
      SELECT DISTINCT COALESCE(c.account_id, f.account_id) FROM changed c FULL JOIN former f ON c.id = f.id
      WHERE c IS DISTINCT FROM f));
  ELSE
    PERFORM note_key_changes('{}', ARRAY(SELECT DISTINCT account_id FROM changed));
  END IF;
  RETURN NULL;
END $$;
REVOKE EXECUTE ON FUNCTION bump_key_generation_for_budget() FROM PUBLIC;

CREATE TRIGGER "budgets_changed" AFTER UPDATE ON "budgets" REFERENCING OLD TABLE AS former NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION bump_key_generation_for_budget();
CREATE TRIGGER "budgets_added" AFTER INSERT ON "budgets" REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION bump_key_generation_for_budget();
CREATE TRIGGER "budgets_removed" AFTER DELETE ON "budgets" REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION bump_key_generation_for_budget();

-- A call counts in budgets with the amounts that were reserved for it as long as its receipt has no number.
CREATE TABLE "budget_estimates" (
  "receipt_id" TEXT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL,
  "account_id" TEXT NOT NULL,
  "carbon_g" DOUBLE PRECISION,
  "energy_wh" DOUBLE PRECISION,
  "tokens" DOUBLE PRECISION,
  "cost" DOUBLE PRECISION,
  PRIMARY KEY ("receipt_id", "created_at")
);
CREATE INDEX "budget_estimates_account_id_created_at_idx" ON "budget_estimates" ("account_id", "created_at");

-- Where an account hears of its budgets.
CREATE TABLE "budget_webhooks" (
  "account_id" TEXT PRIMARY KEY REFERENCES "accounts" ("id"),
  "url" TEXT NOT NULL,
  -- The secret that signs, encrypted for this account and origin.
  "sealed" BYTEA NOT NULL,
  "set_at" TIMESTAMPTZ(3) NOT NULL
);

-- A budget has reached a threshold in a month. It is noted once, however many instances see it.
CREATE TABLE "budget_events" (
  "budget_id" TEXT NOT NULL,
  "month" TEXT NOT NULL,
  -- Percent.
  "threshold" INTEGER NOT NULL,
  "account_id" TEXT NOT NULL,
  -- Every try sends it exactly like this.
  "body" TEXT NOT NULL,
  "noted_at" TIMESTAMPTZ(3) NOT NULL,
  -- When it is tried next; null: never again.
  "next_at" TIMESTAMPTZ(3),
  "attempts" INTEGER NOT NULL DEFAULT 0,
  -- How the last finished try ended.
  "tried_at" TIMESTAMPTZ(3),
  "outcome" TEXT,
  "status" INTEGER,
  "error" TEXT,
  PRIMARY KEY ("budget_id", "month", "threshold"),
  CONSTRAINT "budget_events_outcome" CHECK ("outcome" IN ('delivered', 'failed', 'given_up'))
);
CREATE INDEX "budget_events_next_at_idx" ON "budget_events" ("next_at");
CREATE INDEX "budget_events_account_id_idx" ON "budget_events" ("account_id");


-- # The catalogue

CREATE TYPE "model_kind" AS ENUM ('chat', 'embedding');
CREATE TYPE "region_status" AS ENUM ('active', 'degraded', 'saturated', 'decommissioned');
CREATE TYPE "provider_kind" AS ENUM ('simulator', 'openai');

-- The version rises with every change of what is published, by trigger, so that no writer can forget it.
CREATE TABLE "catalogue_version" (
  "id" INTEGER PRIMARY KEY DEFAULT 1 CHECK ("id" = 1),
  "version" INTEGER NOT NULL
);
INSERT INTO "catalogue_version" VALUES (1, 1);

CREATE FUNCTION bump_catalogue_version() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND OLD IS NOT DISTINCT FROM NEW THEN RETURN NULL; END IF;
  UPDATE catalogue_version SET version = version + 1;
  RETURN NULL;
END $$;

-- Says in an entry in which version it last changed, when, and who changed it. Only this trigger writes the three columns, so no writer
-- can forget them or name somebody else. An update that changes nothing leaves them as they are. The row of the version is locked from
-- here to the end of the transaction, so that the number is the one to which the trigger above raises it.
CREATE FUNCTION note_catalogue_change() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    NEW.changed_in := OLD.changed_in;
    NEW.changed_at := OLD.changed_at;
    NEW.changed_by := OLD.changed_by;
    IF NEW IS NOT DISTINCT FROM OLD THEN RETURN NEW; END IF;
  END IF;
  SELECT version + 1 INTO NEW.changed_in FROM catalogue_version FOR UPDATE;
  -- A setting of a transaction that is over is empty, not null.
  NEW.changed_at := COALESCE(NULLIF(current_setting('gw.changed_at', true), '')::TIMESTAMPTZ, now());
  NEW.changed_by := COALESCE(NULLIF(current_setting('gw.changed_by', true), ''), 'not stated');
  RETURN NEW;
END $$;

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
  "ttft_s" DOUBLE PRECISION CHECK ("ttft_s" >= 0),
  "hidden_reasoning" BOOLEAN,
  "reads_by_itself" BOOLEAN,
  -- The vocabulary with which prompts are counted; null where it is not known.
  "tokenizer" TEXT CHECK ("tokenizer" <> ''),
  "changed_in" INTEGER,
  "changed_at" TIMESTAMPTZ(3),
  "changed_by" TEXT,
  -- The evidence for the parameter counts, if somebody has stated it.
  "parameters_source" TEXT
);

CREATE TABLE "regions" (
  "code" TEXT PRIMARY KEY,
  "name" TEXT NOT NULL,
  "country" TEXT NOT NULL,
  "grid_zone" TEXT NOT NULL,
  "status" "region_status" NOT NULL DEFAULT 'active',
  "preference" INTEGER NOT NULL,
  "changed_in" INTEGER,
  "changed_at" TIMESTAMPTZ(3),
  "changed_by" TEXT
);

CREATE TABLE "providers" (
  "id" TEXT PRIMARY KEY,
  "name" TEXT NOT NULL,
  "kind" "provider_kind" NOT NULL,
  "apis" TEXT[] NOT NULL DEFAULT ARRAY['chat', 'completions', 'embeddings'],
  "hosted_tools" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
  "base_url" TEXT NOT NULL,
  "auth_header" TEXT,
  "auth_scheme" TEXT,
  "credential_ref" TEXT CHECK ("credential_ref" ~ '^[A-Z0-9_]{1,64}$'),
  -- How the provider is called where that differs from OpenAI's API.
  "path" TEXT,
  "headers" JSONB,
  "request_fields" JSONB,
  "timeout_s" INTEGER CHECK ("timeout_s" > 0),
  "first_byte_timeout_s" INTEGER CHECK ("first_byte_timeout_s" > 0),
  -- An operator has stated that plain http to it stays within their own network.
  "local" BOOLEAN NOT NULL DEFAULT false,
  -- Where it answers health checks; null: nowhere.
  "health_path" TEXT,
  -- PEM of the authorities that may sign its certificate; null: those of the system.
  "ca" TEXT,
  CONSTRAINT "credential_has_header" CHECK ("credential_ref" IS NULL OR "auth_header" IS NOT NULL)
);

-- Credentials that operators have set for providers, encrypted with a key that the database never sees. A credential goes to its
-- origin and nowhere else.
CREATE TABLE "provider_credentials" (
  "name" TEXT PRIMARY KEY CHECK ("name" ~ '^[A-Z0-9_]{1,64}$'),
  "origin" TEXT NOT NULL,
  "sealed" BYTEA NOT NULL,
  -- The one before, kept until the next is set, so that a rotation can be undone.
  "previous" BYTEA,
  "set_at" TIMESTAMPTZ(3) NOT NULL
);

CREATE TABLE "deployments" (
  "id" TEXT PRIMARY KEY,
  "provider_id" TEXT NOT NULL REFERENCES "providers" ("id") ON DELETE RESTRICT ON UPDATE CASCADE,
  "region_code" TEXT NOT NULL REFERENCES "regions" ("code") ON DELETE RESTRICT ON UPDATE CASCADE,
  "models" JSONB NOT NULL CHECK (jsonb_typeof("models") = 'object'),
  "pue" DOUBLE PRECISION NOT NULL CHECK ("pue" >= 1),
  "wue_onsite_l_per_kwh" DOUBLE PRECISION CHECK ("wue_onsite_l_per_kwh" >= 0),
  "telemetry" TEXT,
  "accelerators" JSONB
    CHECK (jsonb_typeof("accelerators" -> 'model') = 'string' AND ("accelerators" ->> 'count')::numeric >= 1),
  -- Requests that a replica of a model typically works on at once; null: it is not stated.
  "typical_concurrency" DOUBLE PRECISION CHECK ("typical_concurrency" >= 1),
  -- How deployments compare in time and money, for what a carbon-aware choice may cost.
  "latency_ms" INTEGER CHECK ("latency_ms" >= 0),
  "relative_cost" DOUBLE PRECISION CHECK ("relative_cost" >= 0),
  -- Its part of the calls of its region; 0: only for fail-over.
  "weight" DOUBLE PRECISION NOT NULL DEFAULT 1 CHECK ("weight" >= 0),
  -- How many calls it takes at the same time; null: it is not stated.
  "max_concurrent_requests" INTEGER CHECK ("max_concurrent_requests" > 0),
  "changed_in" INTEGER,
  "changed_at" TIMESTAMPTZ(3),
  "changed_by" TEXT,
  -- The evidence for PUE and WUE, if somebody has stated it.
  "pue_evidence" JSONB,
  "wue_evidence" JSONB
);
CREATE INDEX "deployments_provider_id_idx" ON "deployments" ("provider_id");
CREATE INDEX "deployments_region_code_idx" ON "deployments" ("region_code");

-- Further names that calls can ask for, each with its targets in order.
CREATE TABLE "aliases" (
  "id" TEXT PRIMARY KEY,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "targets" JSONB NOT NULL
);

-- The prices of providers for tokens. Money is in no receipt: it is computed on request, from the price of the hour.
CREATE TABLE "prices" (
  -- It is made from the next four columns.
  "id" TEXT PRIMARY KEY,
  "provider" TEXT NOT NULL,
  "model" TEXT NOT NULL,
  -- Null: the price holds wherever the region has none of its own in force.
  "region" TEXT,
  "valid_from" TIMESTAMPTZ(3) NOT NULL CHECK ("valid_from" = date_trunc('hour', "valid_from", 'UTC')),
  -- Per 1,000,000 tokens, in the currency of the gateway.
  "input_per_mtok" NUMERIC NOT NULL CHECK ("input_per_mtok" >= 0),
  "output_per_mtok" NUMERIC NOT NULL CHECK ("output_per_mtok" >= 0),
  "source" TEXT NOT NULL,
  "changed_in" INTEGER,
  "changed_at" TIMESTAMPTZ(3),
  "changed_by" TEXT
);
CREATE INDEX "prices_provider_model_idx" ON "prices" ("provider", "model", "valid_from");

-- The electricity that operators have bought, for figures by the market-based method beside those by location.
CREATE TABLE "energy_contracts" (
  "id" TEXT PRIMARY KEY,
  -- Which calls it covers: null stands for all, and not both are null.
  "provider" TEXT,
  "region" TEXT,
  "valid_from" TIMESTAMPTZ(3) NOT NULL CHECK ("valid_from" = date_trunc('hour', "valid_from", 'UTC')),
  "valid_to" TIMESTAMPTZ(3) NOT NULL CHECK ("valid_to" = date_trunc('hour', "valid_to", 'UTC')),
  "instrument" TEXT NOT NULL CHECK ("instrument" IN ('ppa', 'supplier', 'certificate', 'residual_mix')),
  -- The share of the energy that it covers; null for a residual mix, which is for what nothing else covers.
  "share" NUMERIC CHECK ("share" > 0 AND "share" <= 1),
  "g_per_kwh" NUMERIC NOT NULL CHECK ("g_per_kwh" >= 0),
  "evidence" TEXT NOT NULL,
  "changed_in" INTEGER,
  "changed_at" TIMESTAMPTZ(3),
  "changed_by" TEXT,
  CHECK ("provider" IS NOT NULL OR "region" IS NOT NULL),
  CHECK ("valid_from" < "valid_to"),
  CHECK (("share" IS NULL) = ("instrument" = 'residual_mix'))
);

-- One row is one whole set of the rules that requests are screened by; the newest is in force. Rows are only added.
CREATE TABLE "policy_versions" (
  "version" INTEGER PRIMARY KEY CHECK ("version" > 0),
  "rules" JSONB NOT NULL,
  "sha256" CHAR(64) NOT NULL,
  "note" TEXT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "created_by" TEXT NOT NULL
);
CALL make_append_only('policy_versions');
REVOKE UPDATE, DELETE, TRUNCATE ON "policy_versions" FROM CURRENT_USER;

CREATE TABLE "policy_exemptions" (
  "account_id" TEXT NOT NULL REFERENCES "accounts" ("id") ON DELETE RESTRICT ON UPDATE CASCADE,
  "rule_id" TEXT NOT NULL,
  "reason" TEXT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "created_by" TEXT NOT NULL,
  PRIMARY KEY ("account_id", "rule_id")
);

-- The findings of screening that the audit log already has: a finding may be handed over twice, and is written once.
CREATE TABLE "policy_events" (
  "id" UUID PRIMARY KEY,
  "written_at" TIMESTAMPTZ(3) NOT NULL
);
CREATE INDEX "policy_events_written_at_idx" ON "policy_events" ("written_at");

-- The readings that the published catalogue carries now. They are rows, not a query on the history of readings, so that a version of the
-- catalogue names the same content at any time.
CREATE TABLE "published_grid" (
  "use" TEXT NOT NULL CHECK ("use" IN ('receipt', 'routing')),
  "zone" TEXT NOT NULL,
  "source" TEXT NOT NULL,
  "kind" TEXT NOT NULL,
  "signal" TEXT NOT NULL,
  "reading" JSONB NOT NULL CHECK (jsonb_typeof("reading") = 'object'),
  PRIMARY KEY ("use", "zone", "source", "kind", "signal")
);

CREATE TRIGGER "models_changed" AFTER INSERT OR UPDATE OR DELETE ON "models"
  FOR EACH ROW EXECUTE FUNCTION bump_catalogue_version();
CREATE TRIGGER "regions_changed" AFTER INSERT OR UPDATE OR DELETE ON "regions"
  FOR EACH ROW EXECUTE FUNCTION bump_catalogue_version();
CREATE TRIGGER "providers_changed" AFTER INSERT OR UPDATE OR DELETE ON "providers"
  FOR EACH ROW EXECUTE FUNCTION bump_catalogue_version();
CREATE TRIGGER "deployments_changed" AFTER INSERT OR UPDATE OR DELETE ON "deployments"
  FOR EACH ROW EXECUTE FUNCTION bump_catalogue_version();
CREATE TRIGGER "aliases_changed" AFTER INSERT OR UPDATE OR DELETE ON "aliases"
  FOR EACH ROW EXECUTE FUNCTION bump_catalogue_version();
CREATE TRIGGER "prices_changed" AFTER INSERT OR UPDATE OR DELETE ON "prices"
  FOR EACH ROW EXECUTE FUNCTION bump_catalogue_version();
CREATE TRIGGER "energy_contracts_changed" AFTER INSERT OR UPDATE OR DELETE ON "energy_contracts"
  FOR EACH ROW EXECUTE FUNCTION bump_catalogue_version();
CREATE TRIGGER "policy_versions_changed" AFTER INSERT OR UPDATE OR DELETE ON "policy_versions"
  FOR EACH ROW EXECUTE FUNCTION bump_catalogue_version();
CREATE TRIGGER "policy_exemptions_changed" AFTER INSERT OR UPDATE OR DELETE ON "policy_exemptions"
  FOR EACH ROW EXECUTE FUNCTION bump_catalogue_version();
CREATE TRIGGER "published_grid_changed" AFTER INSERT OR UPDATE OR DELETE ON "published_grid"
  FOR EACH ROW EXECUTE FUNCTION bump_catalogue_version();

-- These are the kinds of entries that figures are computed from.
CREATE TRIGGER "models_noted" BEFORE INSERT OR UPDATE ON "models"
  FOR EACH ROW EXECUTE FUNCTION note_catalogue_change();
CREATE TRIGGER "regions_noted" BEFORE INSERT OR UPDATE ON "regions"
  FOR EACH ROW EXECUTE FUNCTION note_catalogue_change();
CREATE TRIGGER "deployments_noted" BEFORE INSERT OR UPDATE ON "deployments"
  FOR EACH ROW EXECUTE FUNCTION note_catalogue_change();
CREATE TRIGGER "prices_noted" BEFORE INSERT OR UPDATE ON "prices"
  FOR EACH ROW EXECUTE FUNCTION note_catalogue_change();
CREATE TRIGGER "energy_contracts_noted" BEFORE INSERT OR UPDATE ON "energy_contracts"
  FOR EACH ROW EXECUTE FUNCTION note_catalogue_change();


-- # Grid readings

-- Everything that grid sources have reported, kept forever, since receipts are restated from it. The newest revision of a period holds.
-- An estimate or forecast and the measured value that replaces it are revisions of the same period.
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
CALL make_append_only('grid_readings');
REVOKE UPDATE, DELETE, TRUNCATE ON "grid_readings" FROM CURRENT_USER;

-- Intervals whose settled value is not yet in every receipt that it concerns.
CREATE TABLE "restatements" (
  "zone" TEXT NOT NULL,
  "period_start" TIMESTAMPTZ(3) NOT NULL,
  "period_end" TIMESTAMPTZ(3) NOT NULL CHECK ("period_end" > "period_start"),
  "noted_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "due_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  -- It is separate from the time when it is due, so that a note never takes an interval from the instance that works on it.
  "claimed_until" TIMESTAMPTZ(3),
  PRIMARY KEY ("zone", "period_start", "period_end")
);
CREATE INDEX "restatements_due_at_idx" ON "restatements" ("due_at");

-- A trigger, so that no writer of readings can forget it.
CREATE FUNCTION note_restatement() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO restatements (zone, period_start, period_end) VALUES (NEW.zone, NEW.period_start, NEW.period_end)
  ON CONFLICT (zone, period_start, period_end) DO UPDATE SET noted_at = EXCLUDED.noted_at, due_at = EXCLUDED.due_at;
  RETURN NULL;
END $$;
CREATE TRIGGER "grid_readings_settled" AFTER INSERT ON "grid_readings"
  FOR EACH ROW WHEN (NEW."settled" AND NEW."kind" = 'average') EXECUTE FUNCTION note_restatement();


-- # The order in which receipts come into the ledger
--
-- A follower of the ledger reads on from the last row that it has seen, so no row may become visible behind that one. A number from a
-- sequence would not do: transactions commit in another order than they take their numbers. A row therefore has the id of the transaction
-- that wrote it, and readers stop in front of the oldest transaction that is still running.

-- One row. A database that was restored from a dump counts its transactions from the beginning; `base` keeps the order growing.
CREATE TABLE "arrival_base" (
  "base" BIGINT NOT NULL,
  -- Identifies the cluster that `base` was set in.
  "system_identifier" BIGINT NOT NULL,
  "only" BOOLEAN PRIMARY KEY DEFAULT TRUE CHECK ("only")
);
INSERT INTO "arrival_base" ("base", "system_identifier") SELECT 0, system_identifier FROM pg_control_system();

-- The place of what this transaction writes.
CREATE FUNCTION current_arrival() RETURNS BIGINT LANGUAGE sql STABLE AS $$
  SELECT pg_current_xact_id()::text::bigint + base FROM arrival_base
$$;
-- Everything with a smaller place is visible to the next statement, and nothing comes in front of this place any more. A transaction that is
-- known to have no lock on a table of this database does not count: another database of the same server may keep one open for hours. One of
-- this database has such a lock from before it got its id; one whose id is not locked yet, or not any more, counts as running.
CREATE FUNCTION settled_arrival() RETURNS BIGINT LANGUAGE plpgsql AS $$
DECLARE
  seen pg_snapshot := pg_current_snapshot();
  oldest_id BIGINT;
BEGIN
  SELECT min(running.id) INTO oldest_id
  FROM (SELECT x::text::bigint AS id FROM pg_snapshot_xip(seen) AS x) running
  WHERE NOT EXISTS (
    SELECT 1 FROM pg_locks t
    -- The locks have ids of 32 bits.
    WHERE t.locktype = 'transactionid' AND t.granted AND t.mode = 'ExclusiveLock'
      AND t.transactionid::text::bigint = running.id % 4294967296
      AND NOT EXISTS (SELECT 1 FROM pg_locks l JOIN pg_database d ON d.oid = l.database AND d.datname = current_database()
        WHERE l.virtualtransaction = t.virtualtransaction AND l.locktype = 'relation'));
  RETURN least(pg_snapshot_xmax(seen)::text::bigint, oldest_id) + (SELECT base FROM arrival_base);
END $$;


-- # The ledger

-- One row is one version of a receipt. The services may only add rows. Each row carries a digest of its content in canonical form, and a
-- seal that the database alone cannot make.
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
  "content_sha256" CHAR(64) NOT NULL,
  "seal" CHAR(64) NOT NULL,
  -- The number of the key that made the seal.
  "seal_key" INTEGER NOT NULL,
  -- It is certain that the client was shown this receipt.
  "shown" BOOLEAN NOT NULL DEFAULT FALSE,
  -- The SHA-256 of the dictionary, 32 bytes, and behind it the receipt, the routing trace and the facts, compressed together by raw deflate
  -- (RFC 1951) as three JSON texts with line feeds between. `body`, `routing_trace` and `facts` then hold only what statements read. Null: the
  -- receipt may still take one of the steps below, so the three columns hold all of it.
  "compressed" BYTEA,
  -- Where the receipt, as it is now, stands in the order of arrival.
  "arrived" BIGINT DEFAULT current_arrival(),
  PRIMARY KEY ("id", "version", "created_at")
) PARTITION BY RANGE ("created_at");
-- Finds the rows of a batch. As small as the next one, for the same reason.
CREATE INDEX "receipts_arrived_idx" ON "receipts" ("arrived");
-- Small, since the rows of one transaction share their entry.
CREATE INDEX "receipts_account_id_arrived_idx" ON "receipts" ("account_id", "arrived");
CREATE INDEX "receipts_account_id_created_at_id_idx" ON "receipts" ("account_id", "created_at", "id");
-- Finds the receipts of a zone in an interval.
CREATE INDEX "receipts_grid_zone_created_at_idx" ON "receipts" (("body" ->> 'grid_zone'), "created_at")
  WHERE "tier" <> 'degraded';
-- Finds the receipts of one project in either order of time. Without it, a project with few receipts was looked for in all receipts of its
-- account: 1.9 s over 200,000 of them.
CREATE INDEX "receipts_project_idx" ON "receipts" ("account_id", ("body" ->> 'project'), "created_at", "id")
  WHERE ("body" ->> 'project') IS NOT NULL;

-- Takes the rows that belong to no month's partition, so that a wrong clock or a late partition never makes the database refuse a receipt.
--
-- By default Postgres compresses values of rows above 2 kB and moves what remains large into another table. Rows of the ledger are
-- compressed already, so for most of them this would cost a second row and index entry for nothing; up to 4,080 bytes they stay in one
-- piece.
CREATE TABLE "receipts_default" PARTITION OF "receipts" DEFAULT WITH (toast_tuple_target = 4080);

-- Texts that rows are compressed with (control-plane/ledger/receipts/compressed-rows.ts). Not even the owner can store content that does
-- not match its digest without dropping this check; readers compare it as well.
CREATE TABLE "receipt_dictionaries" (
  "sha256" CHAR(64) PRIMARY KEY,
  -- The bytes that the rows that use it have in common.
  "shape" TEXT NOT NULL,
  "content" TEXT NOT NULL,
  "first_seen_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  -- It is no longer than a row that can be compressed, since an instance reads some hundred at its start.
  CONSTRAINT "receipt_dictionaries_content_check" CHECK (
    octet_length("content") <= 96000 AND encode(sha256(convert_to("content", 'UTF8')), 'hex') = "sha256")
);
CREATE INDEX "receipt_dictionaries_first_seen_at_idx" ON "receipt_dictionaries" ("first_seen_at");
CALL make_append_only('receipt_dictionaries');
REVOKE UPDATE, DELETE, TRUNCATE ON "receipt_dictionaries" FROM CURRENT_USER;

-- Parts of facts that many receipts share (a model, a deployment, a grid reading) are stored once, under the SHA-256 of their canonical
-- form, and receipts name them by it. The check is like that of the dictionaries.
CREATE TABLE "facts_parts" (
  "sha256" CHAR(64) PRIMARY KEY,
  -- In canonical form (RFC 8785); `json`, not `jsonb`, keeps the text.
  "content" JSON NOT NULL,
  "first_seen_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "facts_parts_content_check" CHECK (encode(sha256(convert_to("content"::text, 'UTF8')), 'hex') = "sha256")
);
CALL make_append_only('facts_parts');
REVOKE UPDATE, DELETE, TRUNCATE ON "facts_parts" FROM CURRENT_USER;

-- Returns a part of stored facts, whether they contain it or name it; null if they do neither. It checks nothing.
CREATE FUNCTION facts_part(facts JSON, name TEXT) RETURNS JSON LANGUAGE sql STABLE AS $$
  SELECT coalesce($1 -> $2, (SELECT p.content FROM facts_parts p WHERE p.sha256 = ($1 -> 'parts' ->> $2)::bpchar));
$$;

-- Rows of the ledger as they were before one of the steps below.
CREATE TABLE "receipt_replacements" (
  "seq" BIGSERIAL PRIMARY KEY,
  "receipt_id" TEXT NOT NULL,
  "version" INTEGER NOT NULL,
  "replaced_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "replaced" JSON NOT NULL,
  -- The digest of the row that took its place.
  "content_sha256" CHAR(64) NOT NULL,
  -- The transaction that replaced it, as in `receipts`.
  "arrived" BIGINT NOT NULL DEFAULT current_arrival(),
  -- The transaction that the replaced row itself came with.
  "came" BIGINT NOT NULL
);
CREATE INDEX "receipt_replacements_receipt_id_idx" ON "receipt_replacements" ("receipt_id");
CREATE INDEX "receipt_replacements_arrived_idx" ON "receipt_replacements" ("arrived");
CREATE INDEX "receipt_replacements_came_idx" ON "receipt_replacements" ("came");
CALL make_append_only('receipt_replacements');
REVOKE UPDATE, DELETE, TRUNCATE ON "receipt_replacements" FROM CURRENT_USER;

-- Lets the first version of a receipt take these steps, within a week of its call, and keeps the row as it was:
-- - it gets the facts that it was stored without;
-- - it becomes the degraded receipt that the client was shown;
-- - it was closed because nobody renewed its lease, and becomes the receipt that its sidecar had made meanwhile. Such a close has no
--   numbers, and no client was shown it.
-- None of them replaces numbers with others, and none changes what is compressed.
-- In restore_receipt alone, and at any time, a row becomes again what it was before one of these steps: whether the one or the other is genuine
-- nobody can see here, so the checks name a genuine row that was replaced by an older one.
CREATE FUNCTION guard_receipt() RETURNS TRIGGER LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp SET bytea_output = 'hex' AS $$
DECLARE
  same_call BOOLEAN;
  gets_facts BOOLEAN;
  says_the_same BOOLEAN;
  becomes_shown BOOLEAN;
  becomes_made BOOLEAN;
  earlier receipts%ROWTYPE;
BEGIN
  IF TG_OP <> 'UPDATE' THEN RAISE EXCEPTION 'the ledger is append-only'; END IF;
  same_call := OLD.version = 1 AND OLD.created_at > now() - INTERVAL '7 days'
    AND NEW.compressed IS NOT DISTINCT FROM OLD.compressed
    AND (NEW.id, NEW.version, NEW.created_at, NEW.account_id, NEW.key_id, NEW.endpoint)
      = (OLD.id, OLD.version, OLD.created_at, OLD.account_id, OLD.key_id, OLD.endpoint)
    AND (OLD.facts IS NULL OR NEW.facts::text IS NOT DISTINCT FROM OLD.facts::text)
    AND (OLD.routing_trace IS NULL AND OLD.compressed IS NULL
      OR NEW.routing_trace::text IS NOT DISTINCT FROM OLD.routing_trace::text);
  gets_facts := OLD.facts IS NULL AND NEW.facts IS NOT NULL AND NEW.shown = OLD.shown
    AND (NEW.model, NEW.region, NEW.tier, NEW.status, NEW.prompt_tokens, NEW.completion_tokens, NEW.energy_wh,
        NEW.carbon_g, NEW.body::text)
      IS NOT DISTINCT FROM (OLD.model, OLD.region, OLD.tier, OLD.status, OLD.prompt_tokens, OLD.completion_tokens,
        OLD.energy_wh, OLD.carbon_g, OLD.body::text);
  -- The columns that sums and filters read say what the receipt says.
  says_the_same := (NEW.id, NEW.version::text, NEW.model, NEW.region, NEW.tier, NEW.status)
      IS NOT DISTINCT FROM (NEW.body ->> 'id', NEW.body ->> 'version', NEW.body ->> 'model', NEW.body ->> 'region',
        NEW.body ->> 'tier', NEW.body ->> 'status')
    AND (NEW.prompt_tokens::numeric, NEW.completion_tokens::numeric, NEW.energy_wh, NEW.carbon_g)
      IS NOT DISTINCT FROM ((NEW.body ->> 'prompt_tokens')::numeric, (NEW.body ->> 'completion_tokens')::numeric,
        (NEW.body ->> 'energy_wh')::numeric, (NEW.body ->> 'carbon_g')::numeric);
  becomes_shown := NEW.shown AND NOT OLD.shown AND NEW.tier = 'degraded' AND NEW.energy_wh IS NULL
    AND NEW.carbon_g IS NULL AND says_the_same;
  becomes_made := NOT OLD.shown AND OLD.tier = 'degraded' AND OLD.body ->> 'degraded_reason' = 'sidecar_unavailable'
    AND OLD.energy_wh IS NULL AND OLD.carbon_g IS NULL AND NOT NEW.shown
    AND NEW.body ->> 'degraded_reason' IS DISTINCT FROM 'sidecar_unavailable' AND says_the_same;
  IF same_call IS TRUE AND (gets_facts IS TRUE OR becomes_shown IS TRUE OR becomes_made IS TRUE) THEN
    INSERT INTO receipt_replacements (receipt_id, version, replaced, content_sha256, came)
      VALUES (OLD.id, OLD.version, to_json(OLD), NEW.content_sha256, OLD.arrived);
    RETURN NEW;
  END IF;
  FOR earlier IN SELECT (json_populate_record(NULL::receipts, r.replaced)).* FROM receipt_replacements r
    WHERE current_setting('gw.restores', TRUE) = 'on' AND r.receipt_id = OLD.id AND r.version = OLD.version
  LOOP
    earlier.arrived := NEW.arrived;
    IF to_json(earlier)::text = to_json(NEW)::text THEN
      INSERT INTO receipt_replacements (receipt_id, version, replaced, content_sha256, came)
        VALUES (OLD.id, OLD.version, to_json(OLD), NEW.content_sha256, OLD.arrived);
      RETURN NEW;
    END IF;
  END LOOP;
  -- The code is of the class for which a retry is in vain.
  RAISE EXCEPTION 'the ledger is append-only' USING ERRCODE = 'check_violation';
END $$;
REVOKE EXECUTE ON FUNCTION guard_receipt() FROM PUBLIC;

-- This is the only way in which the services change a row of the ledger. `replaces` is the digest of the row that they started from: a
-- row that has changed since stays as it is, and is not returned. The trigger above decides what may change. A row whose receipt stays the
-- same keeps its place in the order of arrival, since whoever follows the ledger has it already.
CREATE FUNCTION settle_receipts(changes JSON)
RETURNS TABLE (receipt_id TEXT, receipt_created_at TIMESTAMPTZ, is_recalculable BOOLEAN) LANGUAGE sql
SECURITY DEFINER SET search_path = public, pg_temp SET gw.restores = 'off' AS $$
  UPDATE receipts r SET model = c.model, region = c.region, tier = c.tier, status = c.status,
    prompt_tokens = c.prompt_tokens, completion_tokens = c.completion_tokens, energy_wh = c.energy_wh,
    carbon_g = c.carbon_g, body = c.body, routing_trace = c.routing_trace, facts = c.facts, shown = c.shown,
    content_sha256 = c.content_sha256, seal = c.seal, seal_key = c.seal_key,
    arrived = CASE WHEN r.body::jsonb = c.body::jsonb THEN r.arrived ELSE current_arrival() END
  FROM json_to_recordset(changes) AS c (id TEXT, created_at TIMESTAMPTZ, replaces TEXT, model TEXT, region TEXT,
    tier TEXT, status TEXT, prompt_tokens BIGINT, completion_tokens BIGINT, energy_wh NUMERIC, carbon_g NUMERIC,
    body JSON, routing_trace JSON, facts JSON, shown BOOLEAN, content_sha256 TEXT, seal TEXT, seal_key INTEGER)
  WHERE r.id = c.id AND r.version = 1 AND r.created_at = c.created_at
    AND r.content_sha256 = c.replaces::CHAR(64)
  RETURNING r.id, r.created_at, r.tier = 'degraded' AND r.facts ->> 'usage' IS NOT NULL;
$$;
REVOKE EXECUTE ON FUNCTION settle_receipts(JSON) FROM PUBLIC;

-- Puts a row back as it was before it was replaced. `present` is the digest of the row that is there: another one stays as it is. Returns whether
-- it was put back.
CREATE FUNCTION restore_receipt(replacement BIGINT, present TEXT) RETURNS BOOLEAN LANGUAGE sql
SECURITY DEFINER SET search_path = public, pg_temp SET gw.restores = 'on' AS $$
  WITH restored AS (
    UPDATE receipts r SET key_id = o.key_id, endpoint = o.endpoint, model = o.model, region = o.region, tier = o.tier,
      status = o.status, prompt_tokens = o.prompt_tokens, completion_tokens = o.completion_tokens,
      energy_wh = o.energy_wh, carbon_g = o.carbon_g, body = o.body, routing_trace = o.routing_trace, facts = o.facts,
      shown = o.shown, compressed = o.compressed, content_sha256 = o.content_sha256, seal = o.seal,
      seal_key = o.seal_key, arrived = current_arrival()
    FROM receipt_replacements p, json_populate_record(NULL::receipts, p.replaced) o
    WHERE p.seq = replacement AND r.id = p.receipt_id AND r.version = p.version AND r.created_at = o.created_at
      AND r.account_id = o.account_id AND r.content_sha256 = present::CHAR(64)
    RETURNING 1)
  SELECT EXISTS (SELECT 1 FROM restored);
$$;
REVOKE EXECUTE ON FUNCTION restore_receipt(BIGINT, TEXT) FROM PUBLIC;

CALL make_append_only('receipts', 'guard_receipt');
-- Partitions take over triggers for rows, but not those for TRUNCATE.
CREATE TRIGGER "receipts_not_truncated" BEFORE TRUNCATE ON "receipts_default"
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- Has new rows stand behind all that are there. It does nothing but in a cluster that the database was restored into.
CREATE FUNCTION continue_arrivals() RETURNS VOID LANGUAGE plpgsql AS $$
BEGIN
  UPDATE arrival_base SET system_identifier = c.system_identifier, base = greatest(base, 1 - pg_current_xact_id()::text::bigint + coalesce(greatest((
    SELECT max(last.arrived) FROM accounts a
    CROSS JOIN LATERAL (SELECT max(r.arrived) AS arrived FROM receipts r WHERE r.account_id = a.id) last),
    -- It counts receipts that are archived as well.
    (SELECT max(b.arrived) FROM receipt_batches b)), 0))
  FROM pg_control_system() c WHERE arrival_base.system_identifier <> c.system_identifier;
END $$;
REVOKE EXECUTE ON FUNCTION continue_arrivals() FROM PUBLIC;

-- Makes the partitions of `month_count` months, beginning with the month of `first_day` (UTC), and returns how many it made. Rows that
-- the default partition holds for a new month move into it, so the call never fails because it came late. They move unchanged, so the
-- trigger of the default partition is disabled for that statement; the lock keeps everybody else out meanwhile.
CREATE FUNCTION ensure_receipt_partitions(first_day DATE, month_count INTEGER) RETURNS INTEGER
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  made INTEGER := 0;
  month_start TIMESTAMPTZ;
  month_end TIMESTAMPTZ;
  partition_name TEXT;
BEGIN
  -- Two callers at the same time would both see a partition missing.
  PERFORM pg_advisory_xact_lock(hashtext('ensure_receipt_partitions'));
  FOR i IN 0 .. month_count - 1 LOOP
    month_start := (date_trunc('month', first_day::TIMESTAMP) + make_interval(months => i)) AT TIME ZONE 'UTC';
    month_end := (date_trunc('month', first_day::TIMESTAMP) + make_interval(months => i + 1)) AT TIME ZONE 'UTC';
    partition_name := 'receipts_' || to_char(month_start AT TIME ZONE 'UTC', 'YYYY_MM');
    CONTINUE WHEN to_regclass(quote_ident(partition_name)) IS NOT NULL;
    EXECUTE format('CREATE TABLE %I (LIKE receipts INCLUDING ALL) WITH (toast_tuple_target = 4080)', partition_name);
    EXECUTE 'LOCK TABLE receipts_default IN ACCESS EXCLUSIVE MODE';
    EXECUTE 'ALTER TABLE receipts_default DISABLE TRIGGER receipts_unchanged';
    EXECUTE format(
      'WITH moved AS (DELETE FROM receipts_default WHERE created_at >= %L AND created_at < %L RETURNING *)
       INSERT INTO %I SELECT * FROM moved', month_start, month_end, partition_name);
    EXECUTE 'ALTER TABLE receipts_default ENABLE TRIGGER receipts_unchanged';
    EXECUTE format('ALTER TABLE receipts ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
      partition_name, month_start, month_end);
    EXECUTE format('CREATE TRIGGER receipts_not_truncated BEFORE TRUNCATE ON %I
      FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()', partition_name);
    made := made + 1;
  END LOOP;
  RETURN made;
END $$;
-- The services may make partitions without owning the ledger.
REVOKE EXECUTE ON FUNCTION ensure_receipt_partitions(DATE, INTEGER) FROM PUBLIC;


-- # Batches: the chain of what came into the ledger
--
-- Each statement that adds or settles receipts makes a batch: the root of a Merkle tree (RFC 6962) over its rows, and a hash over that and
-- the batch before. The services seal the hash with a key that the database does not hold, and sign each minute how far the chain is, so a row that is
-- taken out, put in, moved or exchanged later no longer fits its batch (control-plane/ledger/receipts/batches.ts).

CREATE TABLE "receipt_batches" (
  -- The transaction that wrote the rows, as in `receipts`.
  "arrived" BIGINT NOT NULL DEFAULT current_arrival(),
  -- The rows were added, or they took a step that `guard_receipt` allows.
  "kind" TEXT NOT NULL CHECK ("kind" IN ('added', 'settled')),
  "count" INTEGER NOT NULL,
  -- The root over the entries `<id> <version> <content_sha256>`, each followed by a space and the digest of the row before if it was settled; in
  -- the order of the bytes of the ids, then of the versions.
  "root_hash" BYTEA NOT NULL,
  -- From 1, without gaps, in the order of the commits. This and the columns up to `head` are given at the commit.
  "number" BIGINT,
  "at" TIMESTAMPTZ(3),
  -- The sum of `count` up to here.
  "total" BIGINT,
  "previous" BYTEA,
  "head" BYTEA,
  "seal" CHAR(64),
  "seal_key" INTEGER,
  PRIMARY KEY ("arrived", "kind")
);
CREATE UNIQUE INDEX "receipt_batches_number_key" ON "receipt_batches" ("number");
CREATE INDEX "receipt_batches_unsealed_idx" ON "receipt_batches" ("number") WHERE "seal" IS NULL;

-- The root of a tree over leaf hashes: each level joins pairs, and a last one without a partner rises.
CREATE FUNCTION merkle_root(hashes BYTEA[]) RETURNS BYTEA LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  WHILE cardinality(hashes) > 1 LOOP
    hashes := ARRAY(
      SELECT CASE WHEN 2 * i > cardinality(hashes) THEN hashes[2 * i - 1]
        ELSE sha256('\x01'::bytea || hashes[2 * i - 1] || hashes[2 * i]) END
      FROM generate_series(1, (cardinality(hashes) + 1) / 2) AS i ORDER BY i);
  END LOOP;
  RETURN hashes[1];
END $$;

-- They run as the owner, since the services may make no batch.
CREATE FUNCTION batch_added() RETURNS TRIGGER LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  INSERT INTO receipt_batches (kind, count, root_hash)
  SELECT 'added', count(*), merkle_root(array_agg(
    sha256('\x00'::bytea || convert_to(id || ' ' || version || ' ' || content_sha256, 'UTF8')) ORDER BY id COLLATE "C", version))
  FROM changed HAVING count(*) > 0;
  RETURN NULL;
END $$;
REVOKE EXECUTE ON FUNCTION batch_added() FROM PUBLIC;
CREATE FUNCTION batch_settled() RETURNS TRIGGER LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  INSERT INTO receipt_batches (kind, count, root_hash)
  SELECT 'settled', count(*), merkle_root(array_agg(
    sha256('\x00'::bytea || convert_to(n.id || ' ' || n.version || ' ' || n.content_sha256 || ' ' || o.content_sha256, 'UTF8'))
      ORDER BY n.id COLLATE "C", n.version))
  FROM changed n JOIN replaced o USING (id, version) HAVING count(*) > 0;
  RETURN NULL;
END $$;
REVOKE EXECUTE ON FUNCTION batch_settled() FROM PUBLIC;
CREATE TRIGGER "receipts_added" AFTER INSERT ON "receipts" REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION batch_added();
CREATE TRIGGER "receipts_settled" AFTER UPDATE ON "receipts" REFERENCING NEW TABLE AS changed OLD TABLE AS replaced
  FOR EACH STATEMENT EXECUTE FUNCTION batch_settled();

-- Puts a batch at the end of the chain, when its transaction commits: whoever else commits waits for as long as that takes, and for nothing
-- that a client of the database does.
CREATE FUNCTION chain_batch() RETURNS TRIGGER LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  last receipt_batches%ROWTYPE;
  here TIMESTAMPTZ(3);
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('receipt_batches'));
  SELECT * INTO last FROM receipt_batches WHERE number IS NOT NULL ORDER BY number DESC LIMIT 1;
  last.number := coalesce(last.number, 0) + 1;
  last.total := coalesce(last.total, 0) + NEW.count;
  last.head := coalesce(last.head, decode(repeat('00', 32), 'hex'));
  here := clock_timestamp();
  UPDATE receipt_batches SET number = last.number, total = last.total, at = here, previous = last.head,
    head = sha256(convert_to(concat_ws(E'\n', 'gw.batch', last.number, NEW.kind, (extract(epoch FROM here) * 1000)::bigint, NEW.count, last.total,
      encode(NEW.root_hash, 'hex'), encode(last.head, 'hex')), 'UTF8'))
  WHERE arrived = NEW.arrived AND kind = NEW.kind;
  RETURN NULL;
END $$;
REVOKE EXECUTE ON FUNCTION chain_batch() FROM PUBLIC;
CREATE CONSTRAINT TRIGGER "receipt_batches_chained" AFTER INSERT ON "receipt_batches" DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION chain_batch();

-- A batch takes its place in the chain, and gets its seal, once.
CREATE FUNCTION guard_batch() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND (OLD.number IS NULL
    OR OLD.seal IS NULL AND to_jsonb(NEW) - ARRAY['seal', 'seal_key'] = to_jsonb(OLD) - ARRAY['seal', 'seal_key'])
  THEN RETURN NEW; END IF;
  RAISE EXCEPTION 'the table receipt_batches is append-only';
END $$;
CALL make_append_only('receipt_batches', 'guard_batch');

-- Each says, signed, that the chain has these batches: a Merkle tree over their heads.
CREATE TABLE "receipt_heads" (
  "last" BIGINT PRIMARY KEY,
  "first" BIGINT NOT NULL,
  "signed" JSON NOT NULL
);
CREATE FUNCTION guard_receipt_head() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND current_setting('gw.restores', TRUE) = 'on' THEN RETURN OLD; END IF;
  RAISE EXCEPTION 'the table % is append-only', TG_TABLE_NAME;
END $$;
CALL make_append_only('receipt_heads', 'guard_receipt_head');


-- # Months of receipts that have left for the store of objects (docs/decisions/0068)
--
-- A month is frozen, written to files, read back and compared, and then its partition is detached; an empty one that takes no row stands in its
-- place. The services do that by the functions below, since only the owner may. The database cannot tell a genuine note from another: whoever
-- detaches a month without one has its receipts reported as missing, and has a week in which nothing is dropped.

CREATE TABLE "receipt_archives" (
  -- Its first day, UTC.
  "month" DATE PRIMARY KEY CHECK (extract(day FROM "month") = 1),
  "state" TEXT NOT NULL DEFAULT 'asked' CHECK ("state" IN ('asked', 'frozen', 'given_up', 'detached', 'dropped')),
  "asked_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  -- The id of an operator, or `retention`.
  "asked_by" TEXT NOT NULL,
  -- One instance works on the month until then, and renews that.
  "claimed_until" TIMESTAMPTZ(3),
  -- Nobody works on it until then: its files were compared in vain.
  "rests_until" TIMESTAMPTZ(3),
  -- Why it does not go on at the moment.
  "problem" TEXT,
  -- States which files have the month; sealed by a key that the database does not hold.
  "note" JSON,
  "detached_at" TIMESTAMPTZ(3),
  "dropped_at" TIMESTAMPTZ(3)
);
CREATE FUNCTION guard_receipt_archive() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  -- A note that is stored stays: logs of accounts may tell of it.
  IF TG_OP = 'UPDATE' AND NEW.month = OLD.month AND (OLD.note IS NULL AND OLD.state IN ('asked', 'frozen', 'given_up') OR NEW.note::text = OLD.note::text) THEN RETURN NEW; END IF;
  RAISE EXCEPTION 'a month that was archived or has its note stays so';
END $$;
CALL make_append_only('receipt_archives', 'guard_receipt_archive');

CREATE TABLE "receipt_archive_files" (
  "month" DATE NOT NULL REFERENCES "receipt_archives" ("month"),
  -- `rows` are in the order of account, time, id and version; `entries` in the order of arrival.
  "kind" TEXT NOT NULL CHECK ("kind" IN ('rows', 'entries')),
  -- From 1, without gaps.
  "number" INTEGER NOT NULL,
  "sha256" CHAR(64) NOT NULL,
  "bytes" INTEGER NOT NULL,
  "count" INTEGER NOT NULL,
  -- The first and the last row. Entries name no account.
  "first_account" TEXT COLLATE "C" NOT NULL,
  "first_id" TEXT COLLATE "C" NOT NULL,
  "last_account" TEXT COLLATE "C" NOT NULL,
  "last_id" TEXT COLLATE "C" NOT NULL,
  "last_version" INTEGER NOT NULL,
  "first_arrived" BIGINT NOT NULL,
  "last_arrived" BIGINT NOT NULL,
  PRIMARY KEY ("month", "kind", "number")
);
CREATE INDEX "receipt_archive_files_rows_idx" ON "receipt_archive_files" ("month", "last_account", "last_id") WHERE "kind" = 'rows';
CREATE INDEX "receipt_archive_files_entries_idx" ON "receipt_archive_files" ("last_arrived") WHERE "kind" = 'entries';
CREATE FUNCTION guard_receipt_archive_file() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND NOT EXISTS (SELECT 1 FROM receipt_archives WHERE month = OLD.month AND state NOT IN ('asked', 'frozen', 'given_up'))
  THEN RETURN OLD; END IF;
  RAISE EXCEPTION 'the table receipt_archive_files is append-only';
END $$;
CALL make_append_only('receipt_archive_files', 'guard_receipt_archive_file');

CREATE FUNCTION receipt_partition(first_day DATE) RETURNS TEXT LANGUAGE sql IMMUTABLE AS $$
  SELECT 'receipts_' || to_char(first_day, 'YYYY_MM');
$$;

-- From now on the partition of the month takes no row and no change. A month that is over for less than 31 days is not frozen.
CREATE FUNCTION freeze_receipt_month(first_day DATE) RETURNS VOID LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp SET lock_timeout = '3s' AS $$
BEGIN
  IF (first_day + INTERVAL '1 month') AT TIME ZONE 'UTC' > now() - INTERVAL '31 days' THEN
    RAISE EXCEPTION 'this month is not over for 31 days';
  END IF;
  IF NOT EXISTS (SELECT 1 FROM pg_inherits WHERE inhparent = 'receipts'::regclass AND inhrelid = to_regclass(receipt_partition(first_day))) THEN
    RAISE EXCEPTION 'this month has no partition';
  END IF;
  UPDATE receipt_archives SET state = 'frozen' WHERE month = first_day AND state = 'asked';
  IF FOUND THEN
    -- Files of a try that was given up have other rows, and are replaced.
    DELETE FROM receipt_archive_files WHERE month = first_day;
    -- The rows that are there stay as they are.
    EXECUTE format('ALTER TABLE %I ADD CONSTRAINT receipts_archived CHECK (FALSE) NOT VALID', receipt_partition(first_day));
  END IF;
END $$;
REVOKE EXECUTE ON FUNCTION freeze_receipt_month(DATE) FROM PUBLIC;

-- Gives up an archive that has no note yet: the logs of the accounts tell of one that has. Which files of it are in the store of objects stays known.
CREATE FUNCTION thaw_receipt_month(first_day DATE) RETURNS VOID LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp SET lock_timeout = '3s' AS $$
BEGIN
  UPDATE receipt_archives SET state = 'given_up', claimed_until = NULL, rests_until = NULL, problem = NULL
  WHERE month = first_day AND state IN ('asked', 'frozen') AND note IS NULL;
  IF NOT FOUND THEN RAISE EXCEPTION 'this month is not being archived, or has its note'; END IF;
  EXECUTE format('ALTER TABLE %I DROP CONSTRAINT IF EXISTS receipts_archived', receipt_partition(first_day));
END $$;
REVOKE EXECUTE ON FUNCTION thaw_receipt_month(DATE) FROM PUBLIC;

-- Asks again for a month that was given up. Returns whether it was.
CREATE FUNCTION ask_receipt_month_again(first_day DATE, asker TEXT) RETURNS BOOLEAN LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp SET lock_timeout = '3s' AS $$
BEGIN
  UPDATE receipt_archives SET state = 'asked', asked_at = now(), asked_by = asker, problem = NULL
  WHERE month = first_day AND state = 'given_up';
  RETURN FOUND;
END $$;
REVOKE EXECUTE ON FUNCTION ask_receipt_month_again(DATE, TEXT) FROM PUBLIC;

-- Detaches a frozen month that has a note. An empty partition takes its place and refuses all rows, so that no entry of that month, come late or
-- sent again, is stored beside the archive.
CREATE FUNCTION detach_receipt_month(first_day DATE) RETURNS VOID LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp SET lock_timeout = '3s' AS $$
DECLARE
  partition_name TEXT := receipt_partition(first_day);
BEGIN
  UPDATE receipt_archives SET state = 'detached', detached_at = now() WHERE month = first_day AND state = 'frozen' AND note IS NOT NULL;
  IF NOT FOUND THEN RAISE EXCEPTION 'this month is not frozen, or has no note'; END IF;
  EXECUTE format('ALTER TABLE receipts DETACH PARTITION %I', partition_name);
  EXECUTE format('ALTER TABLE %I RENAME TO %I', partition_name, 'detached_' || partition_name);
  EXECUTE format('CREATE TABLE %I (LIKE receipts INCLUDING ALL)', partition_name);
  EXECUTE format('ALTER TABLE %I ADD CONSTRAINT receipts_archived CHECK (FALSE)', partition_name);
  EXECUTE format('ALTER TABLE receipts ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', partition_name,
    first_day::timestamp AT TIME ZONE 'UTC', (first_day + INTERVAL '1 month') AT TIME ZONE 'UTC');
  EXECUTE format('CREATE TRIGGER receipts_not_truncated BEFORE TRUNCATE ON %I FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()', partition_name);
END $$;
REVOKE EXECUTE ON FUNCTION detach_receipt_month(DATE) FROM PUBLIC;

-- Drops what was detached more than a week ago.
CREATE FUNCTION drop_receipt_month(first_day DATE) RETURNS VOID LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp SET lock_timeout = '3s' AS $$
BEGIN
  UPDATE receipt_archives SET state = 'dropped', dropped_at = now()
  WHERE month = first_day AND state = 'detached' AND detached_at < now() - INTERVAL '7 days';
  IF NOT FOUND THEN RAISE EXCEPTION 'this month was not detached more than a week ago'; END IF;
  EXECUTE format('DROP TABLE IF EXISTS %I', 'detached_' || receipt_partition(first_day));
END $$;
REVOKE EXECUTE ON FUNCTION drop_receipt_month(DATE) FROM PUBLIC;


-- # What jobs still have to do with receipts
--
-- Each of these receipts has a row of its own, so that a job never searches the ledger.

-- Degraded receipts whose facts are stored, until a job has made them again.
CREATE TABLE "recalculations" (
  "receipt_id" TEXT PRIMARY KEY,
  "created_at" TIMESTAMPTZ(3) NOT NULL,
  "due_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "attempts" INTEGER NOT NULL DEFAULT 0 CHECK ("attempts" >= 0),
  -- The entry that was missing at the last attempt, as `model <id>` or `zone <zone>`, so that its arrival can wake them.
  "waits_for" TEXT
);
CREATE INDEX "recalculations_due_at_idx" ON "recalculations" ("due_at");
CREATE INDEX "recalculations_waits_for_receipt_id_idx" ON "recalculations" ("waits_for", "receipt_id");

-- Calls whose energy is still to be read from counters of GPUs.
CREATE TABLE "gpu_measurements" (
  "receipt_id" TEXT PRIMARY KEY,
  "created_at" TIMESTAMPTZ(3) NOT NULL,
  "deployment" TEXT NOT NULL,
  "due_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "attempts" INTEGER NOT NULL DEFAULT 0 CHECK ("attempts" >= 0)
);
CREATE INDEX "gpu_measurements_due_at_idx" ON "gpu_measurements" ("due_at");

-- A trigger, so that no writer of receipts can forget it. The facts themselves say that a measurement follows. They may come after the
-- receipt, when a sidecar that was cut off brings home what it made meanwhile.
CREATE FUNCTION note_gpu_measurement() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO gpu_measurements (receipt_id, created_at, deployment)
  VALUES (NEW.id, NEW.created_at, facts_part(NEW.facts, 'site') ->> 'id') ON CONFLICT (receipt_id) DO NOTHING;
  RETURN NULL;
END $$;
CREATE TRIGGER "receipts_wait_for_counters" AFTER INSERT OR UPDATE OF "facts" ON "receipts"
  FOR EACH ROW WHEN (NEW."version" = 1 AND NEW."facts" ->> 'telemetryFollows' = 'true')
  EXECUTE FUNCTION note_gpu_measurement();


-- # Sums of usage, so that a report does not read every receipt
--
-- All four tables have the same columns, and each row is a part of a sum: what counts is the sum of the rows. What a receipt adds is written
-- with it (`usage_changes`); a job adds that up by the minute, minutes that are over by the hour, and hours by the day. A new version takes away
-- what the one before it had added to the sums of the newest: numbers are NUMERIC, so nothing is lost however often that is done.

CREATE TABLE "usage_hours" (
  "id" BIGSERIAL PRIMARY KEY,
  "account_id" TEXT NOT NULL,
  "hour" TIMESTAMPTZ(3) NOT NULL,
  -- Null: it counts in sums of the first versions and of the newest; true: of the first alone; false: of the newest alone.
  "issued" BOOLEAN,
  "key_id" TEXT NOT NULL,
  "project" TEXT,
  "api" TEXT NOT NULL,
  "model" TEXT NOT NULL,
  "provider" TEXT,
  "region" TEXT,
  "tier" TEXT NOT NULL,
  "status" TEXT NOT NULL,
  "grid_basis" TEXT,
  "measured_by" TEXT,
  "simulated" BOOLEAN NOT NULL,
  "requests" BIGINT NOT NULL,
  -- The sum of each amount, and the number of calls for which it is known.
  "prompt_tokens" NUMERIC, "known_prompt_tokens" BIGINT NOT NULL,
  "completion_tokens" NUMERIC, "known_completion_tokens" BIGINT NOT NULL,
  "energy_wh" NUMERIC, "known_energy_wh" BIGINT NOT NULL,
  "energy_low_wh" NUMERIC, "known_energy_low_wh" BIGINT NOT NULL,
  "energy_high_wh" NUMERIC, "known_energy_high_wh" BIGINT NOT NULL,
  "carbon_g" NUMERIC, "known_carbon_g" BIGINT NOT NULL,
  "carbon_low_g" NUMERIC, "known_carbon_low_g" BIGINT NOT NULL,
  "carbon_high_g" NUMERIC, "known_carbon_high_g" BIGINT NOT NULL,
  "carbon_operation_g" NUMERIC, "known_carbon_operation_g" BIGINT NOT NULL,
  "carbon_embodied_g" NUMERIC, "known_carbon_embodied_g" BIGINT NOT NULL,
  "water_ml" NUMERIC, "known_water_ml" BIGINT NOT NULL,
  "water_low_ml" NUMERIC, "known_water_low_ml" BIGINT NOT NULL,
  "water_high_ml" NUMERIC, "known_water_high_ml" BIGINT NOT NULL,
  -- The saving by the choice of regions.
  "carbon_saved_g" NUMERIC, "known_carbon_saved_g" BIGINT NOT NULL
);
CREATE INDEX "usage_hours_account_id_hour_idx" ON "usage_hours" ("account_id", "hour");
CREATE INDEX "usage_hours_hour_idx" ON "usage_hours" ("hour");

CREATE TABLE "usage_days" (LIKE "usage_hours");
ALTER TABLE "usage_days" ADD PRIMARY KEY ("id"), ALTER "id" ADD GENERATED BY DEFAULT AS IDENTITY;
-- Its first moment, in UTC.
ALTER TABLE "usage_days" RENAME "hour" TO "day";
CREATE INDEX "usage_days_account_id_day_idx" ON "usage_days" ("account_id", "day");
CREATE INDEX "usage_days_day_idx" ON "usage_days" ("day");

CREATE TABLE "usage_minutes" (LIKE "usage_hours");
ALTER TABLE "usage_minutes" ADD PRIMARY KEY ("id"), ALTER "id" ADD GENERATED BY DEFAULT AS IDENTITY;
ALTER TABLE "usage_minutes" RENAME "hour" TO "minute";
CREATE INDEX "usage_minutes_account_id_minute_idx" ON "usage_minutes" ("account_id", "minute");
CREATE INDEX "usage_minutes_minute_idx" ON "usage_minutes" ("minute");

-- Its rows are what receipts have added since the job last came by. Rows are only appended, so that no writer waits for another.
CREATE TABLE "usage_changes" (LIKE "usage_minutes");
ALTER TABLE "usage_changes" ADD PRIMARY KEY ("id"), ALTER "id" ADD GENERATED BY DEFAULT AS IDENTITY;
CREATE INDEX "usage_changes_account_id_minute_idx" ON "usage_changes" ("account_id", "minute");

-- A row says that minutes of that hour were summed since the hour was. It is written with them, in the same transaction, and removed by the
-- statement that sums the hour: so whoever sees the sum of a minute also sees this mark, or a sum of the hour that includes it. All who write
-- sums hold one lock (control-plane/ledger/usage/levels.ts), so one mark for an hour is enough.
CREATE TABLE "usage_hour_changes" (
  "account_id" TEXT NOT NULL,
  "hour" TIMESTAMPTZ(3) NOT NULL,
  PRIMARY KEY ("account_id", "hour")
);
CREATE INDEX "usage_hour_changes_hour_idx" ON "usage_hour_changes" ("hour");

-- As `usage_hour_changes`, for days whose sums of hours changed.
CREATE TABLE "usage_day_changes" (
  "account_id" TEXT NOT NULL,
  "day" TIMESTAMPTZ(3) NOT NULL,
  PRIMARY KEY ("account_id", "day")
);
CREATE INDEX "usage_day_changes_day_idx" ON "usage_day_changes" ("day");

CREATE FUNCTION note_usage_hour_change() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO usage_hour_changes (account_id, hour)
  SELECT DISTINCT account_id, date_trunc('hour', minute, 'UTC') FROM changed ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
CREATE TRIGGER "usage_minutes_summed" AFTER INSERT ON "usage_minutes" REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION note_usage_hour_change();
CREATE TRIGGER "usage_minutes_outdated" AFTER DELETE ON "usage_minutes" REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION note_usage_hour_change();

CREATE FUNCTION note_usage_day_change() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO usage_day_changes (account_id, day)
  SELECT DISTINCT account_id, date_trunc('day', hour, 'UTC') FROM changed ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
CREATE TRIGGER "usage_hours_summed" AFTER INSERT ON "usage_hours" REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION note_usage_day_change();
CREATE TRIGGER "usage_hours_outdated" AFTER DELETE ON "usage_hours" REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION note_usage_day_change();

-- Reads an amount from the text in a receipt; null if it is no number, so that one altered row spoils no sum.
CREATE FUNCTION usage_amount(amount TEXT) RETURNS NUMERIC LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN $1 ~ '^-?[0-9]+([.][0-9]+)?([eE][-+]?[0-9][0-9]?[0-9]?)?$' THEN $1::numeric END;
$$;

-- Names the API of an endpoint; another one stands for itself.
CREATE FUNCTION usage_api(endpoint TEXT) RETURNS TEXT LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE $1 WHEN '/v1/chat/completions' THEN 'chat' ELSE regexp_replace($1, '^/v1/', '') END;
$$;

-- These fields are summed and have no column in the ledger. A new receipt was checked, and is read faster by these types.
CREATE TYPE "usage_fields" AS (
  "project" TEXT, "provider" TEXT, "grid_basis" TEXT, "measured_by" TEXT, "simulated" TEXT, "energy_low_wh" NUMERIC, "energy_high_wh" NUMERIC,
  "carbon_low_g" NUMERIC, "carbon_high_g" NUMERIC, "carbon_operation_g" NUMERIC, "carbon_embodied_g" NUMERIC,
  "water_ml" NUMERIC, "water_low_ml" NUMERIC, "water_high_ml" NUMERIC
);

-- Steps of first versions and new versions exclude each other until they are committed: each takes away what it sees of the receipt before.
-- New versions take this lock before they touch the tables of jobs, steps before they do.
CREATE FUNCTION follow_receipt() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock_shared(hashtext('usage of changed receipts'));
  IF NOT EXISTS (
    SELECT FROM receipts r WHERE r.id = NEW.id AND r.created_at = NEW.created_at AND r.version = NEW.version - 1
  ) THEN
    RAISE EXCEPTION 'a version of a receipt follows the one before it' USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER "receipts_follow" BEFORE INSERT ON "receipts"
  FOR EACH ROW WHEN (NEW."version" > 1) EXECUTE FUNCTION follow_receipt();

-- Makes the two triggers that add to `usage_changes`. Their statements say the same of a receipt as control-plane/ledger/usage/calls.ts, which
-- reads it from the ledger, and differ in which receipts they count, and whether these are added or taken away.
DO $do$
DECLARE
  amounts CONSTANT TEXT[] := '{prompt_tokens, completion_tokens, energy_wh, energy_low_wh, energy_high_wh, carbon_g, carbon_low_g,
    carbon_high_g, carbon_operation_g, carbon_embodied_g, water_ml, water_low_ml, water_high_ml, carbon_saved_g}';
  counting CONSTANT TEXT := $sql$
    INSERT INTO usage_changes (account_id, minute, issued, requests, key_id, project, api, model, provider, region, tier, status, grid_basis,
      measured_by, simulated, %1$s)
    SELECT account_id, date_trunc('minute', created_at, 'UTC'), issued, sum(sign), key_id, (f).project, usage_api(endpoint), model, (f).provider, region, tier,
      status, CASE WHEN carbon_g IS NULL THEN NULL WHEN (f).grid_basis IN ('lifecycle', 'combustion') THEN (f).grid_basis ELSE 'unknown' END,
      (f).measured_by, (f).simulated IS NOT NULL, %2$s
    FROM (
      SELECT *, json_populate_record(NULL::usage_fields, body) AS f, usage_amount(routing_trace ->> 'estimated_saving_g') AS carbon_saved_g
      FROM (%%s) counted OFFSET 0) read
    GROUP BY 1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15;$sql$;
  names TEXT;
  added TEXT;
  changed TEXT;
BEGIN
  SELECT string_agg(format('%1$I, known_%1$s', name), ', '),
    string_agg(format('sum(%1$s), count(%1$s)', value), ', '),
    string_agg(format('sum(sign * %1$s), coalesce(sum(sign) FILTER (WHERE %1$s IS NOT NULL), 0)', value), ', ')
  INTO names, added, changed
  FROM (SELECT name, CASE WHEN name LIKE '%\_tokens' THEN name || '::numeric'
    WHEN name IN ('energy_wh', 'carbon_g', 'carbon_saved_g') THEN name ELSE '(f).' || name END AS value FROM unnest(amounts) AS name) columns;

  EXECUTE format($f$
    CREATE FUNCTION count_new_receipts() RETURNS TRIGGER LANGUAGE plpgsql AS $$
    BEGIN
      %s
      IF EXISTS (SELECT FROM changed WHERE version > 1) THEN
        %s
      END IF;
      RETURN NULL;
    END $$ $f$,
    format(format(counting, names, added), 'SELECT 1 AS sign, NULL::boolean AS issued, * FROM changed WHERE version = 1'),
    -- There is no newer one than the last, or it would have come without the one before it.
    format(format(counting, names, changed), $rows$
      SELECT s.sign, FALSE AS issued, r.* FROM (
        SELECT id, created_at, min(version) - 1 AS replaced, max(version) AS newest FROM changed WHERE version > 1 GROUP BY id, created_at) c
      CROSS JOIN LATERAL (VALUES (-1, c.replaced), (1, c.newest)) AS s (sign, version)
      CROSS JOIN LATERAL (
        SELECT * FROM receipts r WHERE r.id = c.id AND r.created_at = c.created_at AND r.version = s.version OFFSET 0) r$rows$));

  EXECUTE format($f$
    CREATE FUNCTION count_changed_receipts() RETURNS TRIGGER LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM pg_advisory_xact_lock(hashtext('usage of changed receipts'));
      %s
      RETURN NULL;
    END $$ $f$,
    format(format(counting, names, changed), $rows$
      SELECT newer.is_there AS issued, s.* FROM (
        SELECT -1 AS sign, * FROM outdated UNION ALL SELECT 1 AS sign, * FROM changed) s
      LEFT JOIN LATERAL (
        SELECT TRUE AS is_there FROM receipts n WHERE n.id = s.id AND n.created_at = s.created_at AND n.version > s.version LIMIT 1) newer ON TRUE$rows$));
END $do$;
CREATE TRIGGER "receipts_counted" AFTER INSERT ON "receipts" REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_new_receipts();
CREATE TRIGGER "receipts_recounted" AFTER UPDATE ON "receipts" REFERENCING OLD TABLE AS outdated NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_changed_receipts();


-- # The log of receipts: an append-only Merkle tree (RFC 6962) for each account, with signed checkpoints

-- Each version of a receipt has a row, and one more if its first version was settled after it was logged. So has each month of the account that
-- was archived: with the version 0, and as its `receipt_id` a name like `archived:2025-01`.
CREATE TABLE "receipt_log" (
  "account_id" TEXT NOT NULL,
  -- From 0, without gaps.
  "index" BIGINT NOT NULL,
  "receipt_id" TEXT NOT NULL,
  "version" INTEGER NOT NULL,
  -- The time of the call, or of the archive's note.
  "created_at" TIMESTAMPTZ(3) NOT NULL,
  -- SHA-256 over 0x00 and the receipt, or what is said of the month, as JSON by RFC 8785.
  "leaf_hash" BYTEA NOT NULL CHECK (octet_length("leaf_hash") = 32),
  -- The digest of the ledger's row as it was logged; empty for a month.
  "content_sha256" TEXT NOT NULL,
  -- The content of the entry of an archived month, as JSON by RFC 8785; null for a receipt.
  "archived" TEXT,
  -- Over all of these, by a key that the database does not hold.
  "seal" BYTEA NOT NULL,
  "seal_key" SMALLINT NOT NULL,
  PRIMARY KEY ("account_id", "index")
);
-- With the account, so that nobody keeps a receipt out of its log by naming it in another one.
CREATE UNIQUE INDEX "receipt_log_receipt_id_version_content_sha256_account_id_key"
  ON "receipt_log" ("receipt_id", "version", "content_sha256", "account_id");
CREATE INDEX "receipt_log_account_id_created_at_idx" ON "receipt_log" ("account_id", "created_at");
CREATE INDEX "receipt_log_archived_idx" ON "receipt_log" ("account_id", "index") WHERE "archived" IS NOT NULL;

-- The hashes of complete subtrees of 16, 256, 4,096 and so on leaves: every fourth level.
CREATE TABLE "receipt_log_nodes" (
  "account_id" TEXT NOT NULL,
  "level" SMALLINT NOT NULL,
  "index" BIGINT NOT NULL,
  "hash" BYTEA NOT NULL CHECK (octet_length("hash") = 32),
  PRIMARY KEY ("account_id", "level", "index")
);

-- Which entries each hour has (level 0), and the hashes over 256 hours each (level 1). It follows from the log, so it can be made anew.
CREATE TABLE "receipt_log_hours" (
  "account_id" TEXT NOT NULL,
  "level" SMALLINT NOT NULL,
  -- Hours since 1970, or how often 256 of them.
  "place" INTEGER NOT NULL,
  "hash" BYTEA NOT NULL CHECK (octet_length("hash") = 32),
  -- For an hour, [[first index, count], …] and the digest over the times of its calls.
  "ranges" JSON,
  "times_digest" CHAR(64),
  PRIMARY KEY ("account_id", "level", "place")
);

CREATE TABLE "receipt_log_checkpoints" (
  "account_id" TEXT NOT NULL,
  "tree_size" BIGINT NOT NULL,
  -- The members and the signed note that says the same.
  "checkpoint" JSON NOT NULL,
  PRIMARY KEY ("account_id", "tree_size")
);
CALL make_append_only('receipt_log_checkpoints');

-- The lines that witnesses have added to checkpoints. Nothing here vouches for them: whoever checks one has the key of the witness.
CREATE TABLE "receipt_log_cosignatures" (
  "account_id" TEXT NOT NULL,
  "tree_size" BIGINT NOT NULL,
  -- The name of the witness and the id of its key, with a plus between.
  "witness" TEXT NOT NULL,
  "line" TEXT NOT NULL,
  PRIMARY KEY ("account_id", "tree_size", "witness")
);
CALL make_append_only('receipt_log_cosignatures');

-- Rows that were taken out of a log, which they were not part of (no checkpoint is over them), and signed heads that nobody had signed.
CREATE TABLE "receipt_log_set_aside" (
  "seq" BIGSERIAL PRIMARY KEY,
  "set_aside_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "entry" JSON NOT NULL
);
CALL make_append_only('receipt_log_set_aside');

-- For the owner alone: takes out a signed head that we have not signed, and keeps it. Returns whether there was one.
CREATE FUNCTION set_aside_receipt_head(wrong BIGINT) RETURNS BOOLEAN LANGUAGE sql
SET search_path = public, pg_temp SET gw.restores = 'on' AS $$
  WITH removed AS (DELETE FROM receipt_heads WHERE last = wrong RETURNING *),
    kept AS (INSERT INTO receipt_log_set_aside (entry) SELECT to_json(removed) FROM removed RETURNING 1)
  SELECT EXISTS (SELECT 1 FROM kept);
$$;
REVOKE EXECUTE ON FUNCTION set_aside_receipt_head(BIGINT) FROM PUBLIC;

-- Nothing that a checkpoint is over is ever changed or removed. What stands behind the last one can be removed, and is kept.
CREATE FUNCTION guard_receipt_log() RETURNS TRIGGER LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp SET bytea_output = 'hex' AS $$
DECLARE
  signed BIGINT;
  -- The first place behind the entries that the row is over.
  past NUMERIC;
BEGIN
  IF TG_OP = 'DELETE' THEN
    SELECT coalesce(max(tree_size), 0) INTO signed FROM receipt_log_checkpoints WHERE account_id = OLD.account_id;
    IF TG_TABLE_NAME = 'receipt_log' THEN past := OLD.index::numeric + 1;
    ELSE past := (OLD.index::numeric + 1) * 2::numeric ^ OLD.level;
    END IF;
    IF past > signed THEN
      IF TG_TABLE_NAME = 'receipt_log' THEN INSERT INTO receipt_log_set_aside (entry) VALUES (to_json(OLD)); END IF;
      RETURN OLD;
    END IF;
  END IF;
  RAISE EXCEPTION 'the table % is append-only', TG_TABLE_NAME;
END $$;
REVOKE EXECUTE ON FUNCTION guard_receipt_log() FROM PUBLIC;
CALL make_append_only('receipt_log', 'guard_receipt_log');
CALL make_append_only('receipt_log_nodes', 'guard_receipt_log');

-- Takes the entries from an index on out of a log, and the nodes that are over one of them.
CREATE FUNCTION set_aside_receipt_log(account TEXT, from_index BIGINT) RETURNS VOID LANGUAGE sql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
  DELETE FROM receipt_log WHERE account_id = account AND index >= from_index;
  DELETE FROM receipt_log_nodes
  WHERE account_id = account AND (index::numeric + 1) * 2::numeric ^ level > from_index;
$$;
REVOKE EXECUTE ON FUNCTION set_aside_receipt_log(TEXT, BIGINT) FROM PUBLIC;

-- A row says that receipts of that hour came or changed since the log last took up the hour. It is written with the receipts, in the same
-- transaction. Marks are only appended, and there may be many for an hour, so that no writer waits for another.
CREATE TABLE "receipt_log_changes" (
  "seq" BIGSERIAL PRIMARY KEY,
  "account_id" TEXT NOT NULL,
  "hour" TIMESTAMPTZ(3) NOT NULL
);
CREATE INDEX "receipt_log_changes_hour_account_id_idx" ON "receipt_log_changes" ("hour", "account_id");

CREATE FUNCTION note_unlogged_receipts() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO receipt_log_changes (account_id, hour) SELECT DISTINCT account_id, date_trunc('hour', created_at, 'UTC') FROM changed;
  RETURN NULL;
END $$;
CREATE TRIGGER "receipts_unlogged" AFTER INSERT ON "receipts" REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION note_unlogged_receipts();
CREATE TRIGGER "receipts_unlogged_again" AFTER UPDATE ON "receipts" REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION note_unlogged_receipts();


-- # Checks that records are what was stored

-- Faults that the checks have found. The services never remove a row.
CREATE TABLE "integrity_faults" (
  "kind" TEXT NOT NULL CONSTRAINT "integrity_faults_kind_check" CHECK ("kind" IN ('audit', 'receipt', 'log', 'batch', 'minute', 'archive', 'pack')),
  -- A chain, or the id of a receipt.
  "name" TEXT NOT NULL,
  -- The number of the entry in its chain, or the version of the receipt.
  "number" BIGINT NOT NULL,
  "fault" TEXT NOT NULL,
  "found_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "seen_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  -- When a full check no longer found it; null while it is there.
  "mended_at" TIMESTAMPTZ(3),
  -- Who has said when and why that this fault is no alarm any more, sealed; null: nobody.
  "acknowledgement" JSON,
  PRIMARY KEY ("kind", "name", "number")
);

-- The furthest end of each chain of the audit log that the checks have found right, with a seal by the same key as the receipts. It shows
-- when an end was cut off or rewritten while nobody watched.
CREATE TABLE "audit_heads_seen" (
  "chain" TEXT PRIMARY KEY,
  "seq" BIGINT NOT NULL,
  "hash" CHAR(64) NOT NULL,
  "seal" CHAR(64) NOT NULL,
  "seal_key" INTEGER NOT NULL
);

-- How far the full check of each kind has come, whichever instance runs it.
CREATE TABLE "integrity_checks" (
  "kind" TEXT PRIMARY KEY CHECK ("kind" IN ('audit', 'receipt', 'batch', 'log', 'archive')),
  "claimed_until" TIMESTAMPTZ(3),
  "begun_at" TIMESTAMPTZ(3),
  -- The place after which a round goes on: a version of a receipt, or `arrived` of a batch. Of a log it is the account and the index at
  -- which the next page begins.
  "after_id" TEXT NOT NULL DEFAULT '',
  "after_version" BIGINT NOT NULL DEFAULT 0,
  "finished_at" TIMESTAMPTZ(3),
  -- When the last round began that came to its end: what was there then was looked at.
  "whole_begun_at" TIMESTAMPTZ(3),
  -- When the round last came on, and how many rows it has seen.
  "moved_at" TIMESTAMPTZ(3),
  "checked" BIGINT NOT NULL DEFAULT 0,
  -- How many it could not look at. It is not whole then.
  "skipped" BIGINT NOT NULL DEFAULT 0,
  -- No receipt has another version, and a comparison with one would fail.
  CHECK ("kind" = 'log' OR "after_version" BETWEEN -2147483648 AND 2147483647)
);
INSERT INTO "integrity_checks" ("kind") VALUES ('audit'), ('receipt'), ('batch'), ('log'), ('archive');

-- Runs of receipts of days that are over, with a digest over what is stored of them, sealed once their contents were checked
-- (control-plane/ledger/integrity/sections.ts). Whoever deletes one only has its receipts read again.
CREATE TABLE "receipt_sections" (
  -- It has the versions behind the first place, up to the second.
  "after_id" TEXT NOT NULL,
  "after_version" INTEGER NOT NULL,
  "to_id" TEXT NOT NULL,
  "to_version" INTEGER NOT NULL,
  -- As `2026-10-31`, UTC.
  "day" TEXT NOT NULL,
  "rows" INTEGER NOT NULL,
  "digest" CHAR(64) NOT NULL,
  -- The digests of the parts of facts that the receipts name, and those of the dictionaries.
  "parts" TEXT[] NOT NULL,
  "dictionaries" TEXT[] NOT NULL,
  "sealed_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "seal" CHAR(64) NOT NULL,
  "seal_key" INTEGER NOT NULL,
  PRIMARY KEY ("after_id", "after_version")
);


-- # The keys that names are encrypted with (docs/decisions/0069)

-- A key for each person and account, wrapped with a master key that the database does not hold. Without it their names are gone.
CREATE TABLE "subject_keys" (
  -- Kind and id, such as `account:acct_1`.
  "subject" TEXT PRIMARY KEY,
  "wrapped" BYTEA,
  -- Number of the master key.
  "key_id" SMALLINT,
  "erased_at" TIMESTAMPTZ(3),
  CONSTRAINT "subject_keys_whole" CHECK (("wrapped" IS NULL) = ("erased_at" IS NOT NULL) AND ("wrapped" IS NULL) = ("key_id" IS NULL))
);
CREATE FUNCTION guard_subject_keys() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND OLD.erased_at IS NULL AND NEW.subject = OLD.subject THEN RETURN NEW; END IF;
  RAISE EXCEPTION 'the key of % stays until it is erased, and then it stays erased', OLD.subject;
END $$;
CREATE TRIGGER "subject_keys_kept" BEFORE UPDATE OR DELETE ON "subject_keys"
  FOR EACH ROW EXECUTE FUNCTION guard_subject_keys();
CREATE TRIGGER "subject_keys_not_truncated" BEFORE TRUNCATE ON "subject_keys"
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- Erasures that were decided; what follows from the destroyed key is done in steps, by whichever instance comes to it.
CREATE TABLE "erasures" (
  "subject" TEXT PRIMARY KEY,
  "decided_at" TIMESTAMPTZ(3) NOT NULL,
  -- Null: steps are left.
  "done_at" TIMESTAMPTZ(3)
);


-- # How long things are kept, and what nobody may remove for now (docs/decisions/0069)

-- Kinds, units and defaults are in control-plane/ledger/retention/policy.ts.
CREATE TABLE "retention_policies" (
  "kind" TEXT NOT NULL,
  -- Empty: all accounts that have no policy of their own.
  "account_id" TEXT NOT NULL,
  -- Null: for ever.
  "keep" INTEGER CHECK ("keep" > 0),
  PRIMARY KEY ("kind", "account_id")
);

CREATE TABLE "legal_holds" (
  "id" TEXT PRIMARY KEY,
  -- Null: all accounts.
  "account_id" TEXT,
  "reason" TEXT NOT NULL,
  "placed_at" TIMESTAMPTZ(3) NOT NULL,
  "placed_by" TEXT NOT NULL,
  "lifted_at" TIMESTAMPTZ(3),
  "lifted_by" TEXT,
  "lift_reason" TEXT
);
CREATE FUNCTION guard_legal_holds() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND OLD.lifted_at IS NULL AND NEW.lifted_at IS NOT NULL
    AND (NEW.id, NEW.account_id, NEW.reason, NEW.placed_at, NEW.placed_by)
      IS NOT DISTINCT FROM (OLD.id, OLD.account_id, OLD.reason, OLD.placed_at, OLD.placed_by) THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'a legal hold is lifted once, and never changed or removed';
END $$;
CREATE TRIGGER "legal_holds_unchanged" BEFORE UPDATE OR DELETE ON "legal_holds"
  FOR EACH ROW EXECUTE FUNCTION guard_legal_holds();
CREATE TRIGGER "legal_holds_not_truncated" BEFORE TRUNCATE ON "legal_holds"
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();


-- # Evidence packs that a job builds; their bytes are in the object store, which every instance of the control plane can read

CREATE TABLE "evidence_packs" (
  "id" TEXT PRIMARY KEY,
  "account_id" TEXT NOT NULL,
  "state" TEXT NOT NULL DEFAULT 'queued'
    CHECK ("state" IN ('queued', 'building', 'ready', 'failed', 'cancelled', 'expired')),
  -- The request, as the reply of a short pack states it, and the time up to which receipts are included.
  "request" JSON NOT NULL,
  "format" TEXT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL,
  "changed_at" TIMESTAMPTZ(3) NOT NULL,
  -- How often an instance has begun; bytes of an earlier try are never read.
  "try" INTEGER NOT NULL DEFAULT 0,
  -- One instance has the pack until then, and renews that while it builds.
  "leased_until" TIMESTAMPTZ(3),
  "receipts_done" BIGINT NOT NULL DEFAULT 0,
  "receipts_total" BIGINT,
  -- The length of the finished pack.
  "bytes" BIGINT,
  -- The digest of the list of its chunks, which has the digest of each; null until it is ready.
  "chunks_sha256" TEXT,
  -- The length of its objects.
  "kept_bytes" BIGINT NOT NULL DEFAULT 0,
  -- The signed statement of a table, with its digest.
  "statement" TEXT,
  "reason" TEXT,
  "expires_at" TIMESTAMPTZ(3)
);
CREATE INDEX "evidence_packs_account_id_state_idx" ON "evidence_packs" ("account_id", "state");
CREATE INDEX "evidence_packs_state_leased_until_idx" ON "evidence_packs" ("state", "leased_until");
-- Lists the packs of an account, newest first. Finished packs stay for 30 days, so an account can have very many.
CREATE INDEX "evidence_packs_account_id_created_at_id_idx" ON "evidence_packs" ("account_id", "created_at", "id");


-- # The second witness: the calls that ended in Envoy, as ext-authz counted them (docs/decisions/0067)

-- Each life of an ext-authz states what it has counted, in a row of its own: rows are only added. The text carries a code of a key that the
-- database does not hold, and the numbers of a life have no hole, so that a row which is altered or gone is found.
CREATE TABLE "witness_statements" (
  "life" TEXT NOT NULL,
  "seq" INTEGER NOT NULL,
  "stated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
  "statement" TEXT NOT NULL CHECK (octet_length("statement") <= 1000000),
  "code" CHAR(64) NOT NULL,
  PRIMARY KEY ("life", "seq")
);
CREATE INDEX "witness_statements_stated_at_idx" ON "witness_statements" ("stated_at");

-- Statements that were added to the counts long ago may go.
CREATE FUNCTION refuse_early_removal() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'DELETE' OR OLD.stated_at > now() - INTERVAL '7 days' THEN
    RAISE EXCEPTION 'the table % is append-only', TG_TABLE_NAME;
  END IF;
  RETURN OLD;
END $$;
CALL make_append_only('witness_statements', 'refuse_early_removal');

-- How far the statements of each life were added to the counts.
CREATE TABLE "witness_lives" (
  "life" TEXT PRIMARY KEY,
  "seq" INTEGER NOT NULL,
  "first_at" TIMESTAMPTZ(3) NOT NULL,
  "last_at" TIMESTAMPTZ(3) NOT NULL,
  -- When it was found to have ended, by its own word or because it said no more; null while it speaks.
  "ended_at" TIMESTAMPTZ(3)
);

-- Times in which calls may have ended that nobody counted.
CREATE TABLE "witness_gaps" (
  "life" TEXT NOT NULL,
  "from_at" TIMESTAMPTZ(3) NOT NULL,
  -- Null: until a next life begins.
  "to_at" TIMESTAMPTZ(3),
  -- The life has ended, and takes this back if it speaks again.
  "is_end" BOOLEAN NOT NULL,
  PRIMARY KEY ("life", "from_at", "is_end")
);
CREATE INDEX "witness_gaps_to_at_idx" ON "witness_gaps" ("to_at");

-- Calls by account and minute: as ext-authz counted them, and as the ledger has them.
CREATE TABLE "call_counts" (
  "minute" TIMESTAMPTZ(3) NOT NULL,
  "account_id" TEXT NOT NULL,
  "calls" INTEGER NOT NULL DEFAULT 0,
  -- First versions of receipts, when they were last counted.
  "receipts" INTEGER,
  -- `agrees`, `extra` (receipts without a call), `missing` (calls without a receipt) or `not_witnessed`; null: not compared yet.
  "verdict" TEXT,
  -- Since when the counts differ; null: they do not, or were not compared yet.
  "differs_at" TIMESTAMPTZ(3),
  -- When they are compared next; null: only after a change.
  "due_at" TIMESTAMPTZ(3) DEFAULT now(),
  PRIMARY KEY ("minute", "account_id")
);
CREATE INDEX "call_counts_due_at_idx" ON "call_counts" ("due_at") WHERE "due_at" IS NOT NULL;
CREATE INDEX "call_counts_verdict_idx" ON "call_counts" ("minute", "account_id") WHERE "verdict" <> 'agrees';

-- Minutes with new receipts, once for each statement. Marks are only appended, so that no writer waits for another.
CREATE TABLE "call_count_changes" (
  "seq" BIGSERIAL PRIMARY KEY,
  "minute" TIMESTAMPTZ(3) NOT NULL,
  "account_id" TEXT NOT NULL
);
CREATE FUNCTION note_call_count_change() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO call_count_changes (minute, account_id)
  SELECT DISTINCT date_trunc('minute', created_at, 'UTC'), account_id FROM changed WHERE version = 1;
  RETURN NULL;
END $$;
CREATE TRIGGER "receipts_witnessed" AFTER INSERT ON "receipts" REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION note_call_count_change();
