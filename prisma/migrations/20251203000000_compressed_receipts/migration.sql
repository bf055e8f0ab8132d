-- A row of the ledger can be compressed: its receipt, routing trace and facts together, by raw deflate (RFC 1951), with the texts of another
-- call as its dictionary. Of the three columns only what statements read stays as JSON. Rows that are there stay as they are, and none
-- is compressed before GW_LEDGER_ROWS says so, since release 0.1.0 cannot read it.
SET LOCAL lock_timeout = '10s';

-- The SHA-256 of the dictionary, 32 bytes, and behind it what comes out as three JSON texts with line feeds between. Null: the row is not
-- compressed.
ALTER TABLE "receipts" ADD COLUMN "compressed" BYTEA;

-- Not even its owner can store another content than its digest says, but by taking this check away; readers look as well.
CREATE TABLE "receipt_dictionaries" (
  "sha256" CHAR(64) PRIMARY KEY,
  -- What the rows have in common that it is for (control-plane/ledger/receipts/compressed-rows.ts).
  "shape" TEXT NOT NULL,
  "content" TEXT NOT NULL,
  "first_seen_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  -- As long as a row that is compressed can be, and no longer: an instance reads some hundred at its start.
  CONSTRAINT "receipt_dictionaries_content_check" CHECK (
    octet_length("content") <= 96000 AND encode(sha256(convert_to("content", 'UTF8')), 'hex') = "sha256")
);
CREATE INDEX "receipt_dictionaries_first_seen_at_idx" ON "receipt_dictionaries" ("first_seen_at");
CREATE TRIGGER "receipt_dictionaries_unchanged" BEFORE UPDATE OR DELETE ON "receipt_dictionaries"
  FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER "receipt_dictionaries_not_truncated" BEFORE TRUNCATE ON "receipt_dictionaries"
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
REVOKE UPDATE, DELETE, TRUNCATE ON "receipt_dictionaries" FROM CURRENT_USER;

-- As before; bytes that are kept are in hexadecimal, whoever asks; and what is compressed stays as it is, whatever step the row takes, and so do the routing trace and the facts in it.
CREATE OR REPLACE FUNCTION guard_receipt() RETURNS TRIGGER LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp SET bytea_output = 'hex' AS $$
DECLARE
  same_call BOOLEAN;
  gets_facts BOOLEAN;
  says_the_same BOOLEAN;
  becomes_shown BOOLEAN;
  becomes_made BOOLEAN;
BEGIN
  IF TG_OP <> 'UPDATE' THEN RAISE EXCEPTION 'the ledger is append-only'; END IF;
  same_call := OLD.version = 1 AND OLD.created_at > now() - INTERVAL '7 days'
    AND NEW.seal IS NOT NULL AND NEW.content_sha256 IS NOT NULL AND NEW.seal_key IS NOT NULL
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
    INSERT INTO receipt_replacements (receipt_id, version, replaced) VALUES (OLD.id, OLD.version, to_json(OLD));
    RETURN NEW;
  END IF;
  -- Of the class that says that trying again is in vain.
  RAISE EXCEPTION 'the ledger is append-only' USING ERRCODE = 'check_violation';
END $$;
