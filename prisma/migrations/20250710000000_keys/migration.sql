-- What changed with each step of the generation: a key, or an account with all of its keys. An instance that knows a
-- generation forgets what came after it, and everything only where this no longer tells all of it.
CREATE TABLE "key_changes" (
  "generation" BIGINT PRIMARY KEY,
  "public_id" CHAR(12),
  "account_id" TEXT,
  CONSTRAINT "of_key_or_account" CHECK (("public_id" IS NULL) <> ("account_id" IS NULL))
);

-- With the rights of the owner: the services change neither the generation nor what it stands for by themselves. The row
-- of the generation is held until the end of the transaction, so that generations become visible in their order.
CREATE FUNCTION note_key_change(changed_key CHAR(12), changed_account TEXT) RETURNS VOID LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  reached BIGINT;
BEGIN
  UPDATE key_generation SET generation = generation + 1 RETURNING generation INTO reached;
  INSERT INTO key_changes VALUES (reached, changed_key, changed_account);
  DELETE FROM key_changes WHERE generation <= reached - 10000;
END $$;
REVOKE EXECUTE ON FUNCTION note_key_change(CHAR(12), TEXT) FROM PUBLIC;

CREATE OR REPLACE FUNCTION bump_key_generation() RETURNS TRIGGER LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND OLD IS NOT DISTINCT FROM NEW THEN RETURN NULL; END IF;
  PERFORM note_key_change(NULL, COALESCE(NEW.id, OLD.id));
  RETURN NULL;
END $$;
REVOKE EXECUTE ON FUNCTION bump_key_generation() FROM PUBLIC;

-- A hash that was made again with a newer pepper lets in whom the old one let in. So it is no change that anybody has to
-- know of: else each key that is used after an exchange of the pepper would be looked up once more by every instance.
CREATE FUNCTION bump_key_generation_for_key() RETURNS TRIGGER LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    IF NEW.hash IS NOT NULL AND NEW.pepper_version > OLD.pepper_version THEN
      OLD.hash := NEW.hash;
      OLD.pepper_version := NEW.pepper_version;
    END IF;
    IF OLD IS NOT DISTINCT FROM NEW THEN RETURN NULL; END IF;
  END IF;
  PERFORM note_key_change(COALESCE(NEW.public_id, OLD.public_id), NULL);
  RETURN NULL;
END $$;
REVOKE EXECUTE ON FUNCTION bump_key_generation_for_key() FROM PUBLIC;

DROP TRIGGER "api_keys_changed" ON "api_keys";
CREATE TRIGGER "api_keys_changed" AFTER INSERT OR UPDATE OR DELETE ON "api_keys"
  FOR EACH ROW EXECUTE FUNCTION bump_key_generation_for_key();
