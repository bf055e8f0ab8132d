-- The rules of screening are published with the catalogue, so its version rises with them.
CREATE TRIGGER "policy_versions_changed" AFTER INSERT OR UPDATE OR DELETE ON "policy_versions"
  FOR EACH ROW EXECUTE FUNCTION bump_catalogue_version();
CREATE TRIGGER "policy_exemptions_changed" AFTER INSERT OR UPDATE OR DELETE ON "policy_exemptions"
  FOR EACH ROW EXECUTE FUNCTION bump_catalogue_version();

-- Which findings of screening the audit log has already: a finding may be handed over twice, and is written once.
CREATE TABLE "policy_events" (
  "id" UUID PRIMARY KEY,
  "written_at" TIMESTAMPTZ(3) NOT NULL
);
CREATE INDEX "policy_events_written_at_idx" ON "policy_events" ("written_at");
