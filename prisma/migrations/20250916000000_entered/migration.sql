-- Which version of the catalogue an entry last changed in, when, and who changed it, for those kinds that receipts are computed from.
-- Entries that were there before have none of it until they change: nobody knows it of them.
ALTER TABLE "models" ADD COLUMN "changed_in" INTEGER, ADD COLUMN "changed_at" TIMESTAMPTZ(3), ADD COLUMN "changed_by" TEXT;
ALTER TABLE "regions" ADD COLUMN "changed_in" INTEGER, ADD COLUMN "changed_at" TIMESTAMPTZ(3), ADD COLUMN "changed_by" TEXT;
ALTER TABLE "deployments" ADD COLUMN "changed_in" INTEGER, ADD COLUMN "changed_at" TIMESTAMPTZ(3), ADD COLUMN "changed_by" TEXT;

-- What their figures rest on, as far as somebody has stated it.
ALTER TABLE "models" ADD COLUMN "parameters_source" TEXT;
ALTER TABLE "deployments" ADD COLUMN "pue_evidence" JSONB, ADD COLUMN "wue_evidence" JSONB;

-- By trigger, so that no writer can forget it, and none can say it of another. Who changes nothing vouches for nothing. The row of the
-- version is held from here until the transaction ends, so that the number is the one that the trigger behind raises it to.
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

CREATE TRIGGER "models_noted" BEFORE INSERT OR UPDATE ON "models"
  FOR EACH ROW EXECUTE FUNCTION note_catalogue_change();
CREATE TRIGGER "regions_noted" BEFORE INSERT OR UPDATE ON "regions"
  FOR EACH ROW EXECUTE FUNCTION note_catalogue_change();
CREATE TRIGGER "deployments_noted" BEFORE INSERT OR UPDATE ON "deployments"
  FOR EACH ROW EXECUTE FUNCTION note_catalogue_change();
