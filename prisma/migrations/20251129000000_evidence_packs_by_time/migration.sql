-- The packs of an account, newest first. Packs that are over stay for 30 days, so an account can have very many.
CREATE INDEX "evidence_packs_account_id_created_at_id_idx" ON "evidence_packs" ("account_id", "created_at", "id");
