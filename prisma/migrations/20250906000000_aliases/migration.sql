-- Further names that calls can ask for, each with what serves it in order.
CREATE TABLE "aliases" (
  "id" TEXT PRIMARY KEY,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "targets" JSONB NOT NULL
);
CREATE TRIGGER "aliases_changed" AFTER INSERT OR UPDATE OR DELETE ON "aliases"
  FOR EACH ROW EXECUTE FUNCTION bump_catalogue_version();
