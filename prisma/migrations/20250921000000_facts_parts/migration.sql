-- What many receipts have in common of their facts (a model, a deployment, a grid reading) is stored once, under the SHA-256
-- of its canonical form, and the receipts name it by that. Rows from before this have their facts whole, and stay as they are.

-- Not even its owner can store another content than its digest says, but by taking this check away; readers look as well.
CREATE TABLE "facts_parts" (
  "sha256" CHAR(64) PRIMARY KEY,
  -- In canonical form (RFC 8785); `json`, not `jsonb`, keeps the text.
  "content" JSON NOT NULL,
  "first_seen_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "facts_parts_content_check" CHECK (encode(sha256(convert_to("content"::text, 'UTF8')), 'hex') = "sha256")
);
CREATE TRIGGER "facts_parts_unchanged" BEFORE UPDATE OR DELETE ON "facts_parts"
  FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER "facts_parts_not_truncated" BEFORE TRUNCATE ON "facts_parts"
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
REVOKE UPDATE, DELETE, TRUNCATE ON "facts_parts" FROM CURRENT_USER;

-- A part of stored facts by its name, whether they hold it or name it; null if they do neither. Nothing is checked here.
CREATE FUNCTION facts_part(facts JSON, name TEXT) RETURNS JSON LANGUAGE sql STABLE AS $$
  SELECT coalesce($1 -> $2, (SELECT p.content FROM facts_parts p WHERE p.sha256 = $1 -> 'parts' ->> $2));
$$;

-- As before, and for facts that name their deployment by its digest.
CREATE OR REPLACE FUNCTION note_gpu_measurement() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO gpu_measurements (receipt_id, created_at, deployment)
  VALUES (NEW.id, NEW.created_at, facts_part(NEW.facts, 'site') ->> 'id') ON CONFLICT (receipt_id) DO NOTHING;
  RETURN NULL;
END $$;

-- Release 0.1.0 does not know parts: while it looks through an interval, it leaves the receipts alone that have some. So what it
-- has looked through is not done with, and is due again, until a release has that names its claim here as well.
ALTER TABLE "restatements" ADD COLUMN "parts_claimed_until" TIMESTAMPTZ(3);
CREATE FUNCTION keep_restatement() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.claimed_until IS NOT DISTINCT FROM OLD.parts_claimed_until THEN RETURN OLD; END IF;
  UPDATE restatements SET due_at = CURRENT_TIMESTAMP + INTERVAL '1 hour'
  WHERE (zone, period_start, period_end) = (OLD.zone, OLD.period_start, OLD.period_end);
  RETURN NULL;
END $$;
CREATE TRIGGER "restatements_looked_through" BEFORE DELETE ON "restatements"
  FOR EACH ROW EXECUTE FUNCTION keep_restatement();
