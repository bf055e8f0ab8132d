-- Entries are looked for by their chain and time, which also names the account; nothing asks by the account alone.
CREATE INDEX "audit_chain_at_idx" ON "audit" ("chain", "at");
DROP INDEX "audit_account_id_at_idx";
