-- Keys, accounts and budgets tell of their changes once for each statement instead of once for each row: each of 50,000 keys that
-- were inserted at once made another version of the one row of the generation, which took a minute and more.
SET LOCAL lock_timeout = '10s';

-- Only writers wait, and ext-authz goes on reading. In the order in which a change of an account takes the tables.
LOCK TABLE "accounts", "api_keys", "budgets" IN SHARE ROW EXCLUSIVE MODE;

-- The generation rises by one for each key and each account, as it did by itself with each row of "key_changes", so whoever
-- counts the rows still knows whether all are there. More than 1,000 leave none: nobody asks for more than the last 1,000, and
-- whoever knows an older generation finds too few and forgets everything. The row of the generation is held until the end of
-- the transaction, so that generations become visible in their order; where it is missing, nothing can be changed.
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

-- What these functions ask is planned once for each session, mostly for a single row. A FULL JOIN hashes or sorts in any plan,
-- so none is kept that compares each of many old rows with each new one.
CREATE OR REPLACE FUNCTION bump_key_generation() RETURNS TRIGGER LANGUAGE plpgsql
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

-- A hash that was made again with a newer pepper is still no change, as long as nothing else of the key has changed with it.
CREATE OR REPLACE FUNCTION bump_key_generation_for_key() RETURNS TRIGGER LANGUAGE plpgsql
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

CREATE OR REPLACE FUNCTION bump_key_generation_for_budget() RETURNS TRIGGER LANGUAGE plpgsql
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

-- One with tables of old and new rows is for one kind of statement only. To replace one, unlike to drop it, stops no reader.
CREATE OR REPLACE TRIGGER "accounts_changed" AFTER UPDATE ON "accounts" REFERENCING OLD TABLE AS former NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION bump_key_generation();
CREATE TRIGGER "accounts_added" AFTER INSERT ON "accounts" REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION bump_key_generation();
CREATE TRIGGER "accounts_removed" AFTER DELETE ON "accounts" REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION bump_key_generation();

CREATE OR REPLACE TRIGGER "api_keys_changed" AFTER UPDATE ON "api_keys" REFERENCING OLD TABLE AS former NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION bump_key_generation_for_key();
CREATE TRIGGER "api_keys_added" AFTER INSERT ON "api_keys" REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION bump_key_generation_for_key();
CREATE TRIGGER "api_keys_removed" AFTER DELETE ON "api_keys" REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION bump_key_generation_for_key();

CREATE OR REPLACE TRIGGER "budgets_changed" AFTER UPDATE ON "budgets" REFERENCING OLD TABLE AS former NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION bump_key_generation_for_budget();
CREATE TRIGGER "budgets_added" AFTER INSERT ON "budgets" REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION bump_key_generation_for_budget();
CREATE TRIGGER "budgets_removed" AFTER DELETE ON "budgets" REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION bump_key_generation_for_budget();

DROP FUNCTION note_key_change(CHAR(12), TEXT);
