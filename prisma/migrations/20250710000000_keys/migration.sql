-- A hash that was made again with a newer pepper lets in whom the old one let in. So it is no change that anybody has to
-- know of: else each key that is used after an exchange of the pepper would make every instance read all keys again.
CREATE FUNCTION bump_key_generation_for_key() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    IF NEW.hash IS NOT NULL AND NEW.pepper_version > OLD.pepper_version THEN
      OLD.hash := NEW.hash;
      OLD.pepper_version := NEW.pepper_version;
    END IF;
    IF OLD IS NOT DISTINCT FROM NEW THEN RETURN NULL; END IF;
  END IF;
  UPDATE key_generation SET generation = generation + 1;
  RETURN NULL;
END $$;

DROP TRIGGER "api_keys_changed" ON "api_keys";
CREATE TRIGGER "api_keys_changed" AFTER INSERT OR UPDATE OR DELETE ON "api_keys"
  FOR EACH ROW EXECUTE FUNCTION bump_key_generation_for_key();
