-- The ledger only grows, and each row carries a digest of its content and a seal that the database alone can not make.

-- The changes to the ledger lock everybody out for a moment. Rather than have all of them wait behind a long query, give up.
SET LOCAL lock_timeout = '5s';

-- Of the row's content in canonical form, its seal by a key of the services, and which key that was; null in rows from
-- before this alone.
ALTER TABLE "receipts"
  ADD COLUMN "content_sha256" CHAR(64),
  ADD COLUMN "seal" CHAR(64),
  ADD COLUMN "seal_key" INTEGER,
  -- The client was shown this receipt for certain.
  ADD COLUMN "shown" BOOLEAN NOT NULL DEFAULT FALSE;

-- The rows of the ledger as they were before they became what the client was shown, or got their facts.
CREATE TABLE "receipt_replacements" (
  "seq" BIGSERIAL PRIMARY KEY,
  "receipt_id" TEXT NOT NULL,
  "version" INTEGER NOT NULL,
  "replaced_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "replaced" JSON NOT NULL
);
CREATE INDEX "receipt_replacements_receipt_id_idx" ON "receipt_replacements" ("receipt_id");

-- What the checks of the ledger and of the audit log have found; no row is ever taken out by the services.
CREATE TABLE "integrity_faults" (
  "kind" TEXT NOT NULL CHECK ("kind" IN ('audit', 'receipt')),
  -- A chain, or the id of a receipt.
  "name" TEXT NOT NULL,
  -- The number of the entry in its chain, or the version of the receipt.
  "number" BIGINT NOT NULL,
  "fault" TEXT NOT NULL,
  "found_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "seen_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  -- When a full check no longer found it; null while it is there.
  "mended_at" TIMESTAMPTZ(3),
  PRIMARY KEY ("kind", "name", "number")
);

-- The furthest end of each chain of the audit log that the checks have found right, sealed by the same key as the receipts:
-- an end that is cut off or written anew while nobody watches is found by it.
CREATE TABLE "audit_heads_seen" (
  "chain" TEXT PRIMARY KEY,
  "seq" BIGINT NOT NULL,
  "hash" CHAR(64) NOT NULL,
  "seal" CHAR(64) NOT NULL,
  "seal_key" INTEGER NOT NULL
);

-- How far the full check of each kind has come, by whichever instance.
CREATE TABLE "integrity_checks" (
  "kind" TEXT PRIMARY KEY CHECK ("kind" IN ('audit', 'receipt')),
  "claimed_until" TIMESTAMPTZ(3),
  "begun_at" TIMESTAMPTZ(3),
  "after_id" TEXT NOT NULL DEFAULT '',
  "after_version" INTEGER NOT NULL DEFAULT 0,
  "finished_at" TIMESTAMPTZ(3)
);
INSERT INTO "integrity_checks" ("kind") VALUES ('audit'), ('receipt');

CREATE FUNCTION refuse_change() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the table % is append-only', TG_TABLE_NAME;
END $$;

-- Rows without a seal are those from before this. Not of the class that says that trying again is in vain: the receipts of
-- an instance that cannot seal wait for one that can.
CREATE FUNCTION refuse_unsealed() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.seal IS NULL OR NEW.content_sha256 IS NULL OR NEW.seal_key IS NULL THEN
    RAISE EXCEPTION 'no receipt is stored without a seal';
  END IF;
  RETURN NEW;
END $$;

-- Lets a receipt of the first version take one of two steps, each once and in the week after its call alone, and keeps the
-- row as it was: it gets the facts that it was stored without, or it becomes the degraded receipt that the client was shown.
-- Neither can put other numbers into it. With the rights of the owner, since nobody else may write what is kept.
CREATE FUNCTION guard_receipt() RETURNS TRIGGER LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  same_call BOOLEAN;
  gets_facts BOOLEAN;
  becomes_shown BOOLEAN;
BEGIN
  IF TG_OP <> 'UPDATE' THEN RAISE EXCEPTION 'the ledger is append-only'; END IF;
  same_call := OLD.version = 1 AND OLD.created_at > now() - INTERVAL '7 days'
    AND NEW.seal IS NOT NULL AND NEW.content_sha256 IS NOT NULL AND NEW.seal_key IS NOT NULL
    AND (NEW.id, NEW.version, NEW.created_at, NEW.account_id, NEW.key_id, NEW.endpoint)
      = (OLD.id, OLD.version, OLD.created_at, OLD.account_id, OLD.key_id, OLD.endpoint)
    AND (OLD.facts IS NULL OR NEW.facts::text IS NOT DISTINCT FROM OLD.facts::text)
    AND (OLD.routing_trace IS NULL OR NEW.routing_trace::text IS NOT DISTINCT FROM OLD.routing_trace::text);
  gets_facts := OLD.facts IS NULL AND NEW.facts IS NOT NULL AND NEW.shown = OLD.shown
    AND (NEW.model, NEW.region, NEW.tier, NEW.status, NEW.prompt_tokens, NEW.completion_tokens, NEW.energy_wh,
        NEW.carbon_g, NEW.body::text)
      IS NOT DISTINCT FROM (OLD.model, OLD.region, OLD.tier, OLD.status, OLD.prompt_tokens, OLD.completion_tokens,
        OLD.energy_wh, OLD.carbon_g, OLD.body::text);
  becomes_shown := NEW.shown AND NOT OLD.shown AND NEW.tier = 'degraded' AND NEW.energy_wh IS NULL
    AND NEW.carbon_g IS NULL
    -- The columns that sums and filters read say what the receipt says.
    AND (NEW.id, NEW.version::text, NEW.model, NEW.region, NEW.tier, NEW.status)
      IS NOT DISTINCT FROM (NEW.body ->> 'id', NEW.body ->> 'version', NEW.body ->> 'model', NEW.body ->> 'region',
        NEW.body ->> 'tier', NEW.body ->> 'status')
    AND (NEW.prompt_tokens::numeric, NEW.completion_tokens::numeric, NEW.energy_wh, NEW.carbon_g)
      IS NOT DISTINCT FROM ((NEW.body ->> 'prompt_tokens')::numeric, (NEW.body ->> 'completion_tokens')::numeric,
        (NEW.body ->> 'energy_wh')::numeric, (NEW.body ->> 'carbon_g')::numeric);
  IF same_call IS TRUE AND (gets_facts IS TRUE OR becomes_shown IS TRUE) THEN
    INSERT INTO receipt_replacements (receipt_id, version, replaced) VALUES (OLD.id, OLD.version, to_json(OLD));
    RETURN NEW;
  END IF;
  -- Of the class that says that trying again is in vain.
  RAISE EXCEPTION 'the ledger is append-only' USING ERRCODE = 'check_violation';
END $$;
REVOKE EXECUTE ON FUNCTION guard_receipt() FROM PUBLIC;

-- The only way in which the services change a row of the ledger. `replaces` is the digest of the row that they started
-- from: a row that is another one by now stays, and is not among those returned. What may change, the trigger decides.
CREATE FUNCTION settle_receipts(changes JSON)
RETURNS TABLE (receipt_id TEXT, receipt_created_at TIMESTAMPTZ, is_recalculable BOOLEAN) LANGUAGE sql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
  UPDATE receipts r SET model = c.model, region = c.region, tier = c.tier, status = c.status,
    prompt_tokens = c.prompt_tokens, completion_tokens = c.completion_tokens, energy_wh = c.energy_wh,
    carbon_g = c.carbon_g, body = c.body, routing_trace = c.routing_trace, facts = c.facts, shown = c.shown,
    content_sha256 = c.content_sha256, seal = c.seal, seal_key = c.seal_key
  FROM json_to_recordset(changes) AS c (id TEXT, created_at TIMESTAMPTZ, replaces TEXT, model TEXT, region TEXT,
    tier TEXT, status TEXT, prompt_tokens BIGINT, completion_tokens BIGINT, energy_wh NUMERIC, carbon_g NUMERIC,
    body JSON, routing_trace JSON, facts JSON, shown BOOLEAN, content_sha256 TEXT, seal TEXT, seal_key INTEGER)
  WHERE r.id = c.id AND r.version = 1 AND r.created_at = c.created_at
    AND r.content_sha256 IS NOT DISTINCT FROM c.replaces::CHAR(64)
  RETURNING r.id, r.created_at, r.tier = 'degraded' AND r.facts ->> 'usage' IS NOT NULL;
$$;
REVOKE EXECUTE ON FUNCTION settle_receipts(JSON) FROM PUBLIC;

-- A trigger for rows is taken over by each partition, one for TRUNCATE is not.
CREATE TRIGGER "receipts_unchanged" BEFORE UPDATE OR DELETE ON "receipts"
  FOR EACH ROW EXECUTE FUNCTION guard_receipt();
CREATE TRIGGER "receipts_sealed" BEFORE INSERT ON "receipts"
  FOR EACH ROW EXECUTE FUNCTION refuse_unsealed();
CREATE TRIGGER "receipts_not_truncated" BEFORE TRUNCATE ON "receipts"
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
DO $$ DECLARE
  part REGCLASS;
BEGIN
  FOR part IN SELECT inhrelid::regclass FROM pg_inherits WHERE inhparent = 'receipts'::regclass LOOP
    EXECUTE format('CREATE TRIGGER "receipts_not_truncated" BEFORE TRUNCATE ON %s
      FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()', part);
  END LOOP;
END $$;

-- As before, with the trigger for TRUNCATE on each new partition. Rows that move from the default partition stay what they
-- are, so its trigger is off for that statement; the lock keeps everybody else out meanwhile.
CREATE OR REPLACE FUNCTION ensure_receipt_partitions(first_day DATE, month_count INTEGER) RETURNS INTEGER
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
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

-- The other tables that only grow, as `audit` and `onboarding_steps` have it already.
DO $$ DECLARE
  grows TEXT;
BEGIN
  FOREACH grows IN ARRAY ARRAY['policy_versions', 'grid_readings', 'receipt_replacements'] LOOP
    EXECUTE format('CREATE TRIGGER %I BEFORE UPDATE OR DELETE ON %I FOR EACH ROW EXECUTE FUNCTION refuse_change()',
      grows || '_unchanged', grows);
    EXECUTE format('CREATE TRIGGER %I BEFORE TRUNCATE ON %I FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()',
      grows || '_not_truncated', grows);
    EXECUTE format('REVOKE UPDATE, DELETE, TRUNCATE ON %I FROM CURRENT_USER', grows);
  END LOOP;
END $$;
