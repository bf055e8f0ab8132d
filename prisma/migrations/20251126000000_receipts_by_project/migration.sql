-- Receipts of one project, newest or oldest first. Without it, a project of few receipts was looked for in all bodies of its account:
-- 1.9 s over 200,000 of them. Only receipts with a project are in it. Writes to `receipts` wait while it is built: about 5 s per million.
SET LOCAL lock_timeout = '10s';

CREATE INDEX "receipts_project_idx" ON "receipts" ("account_id", ("body" ->> 'project'), "created_at", "id")
  WHERE ("body" ->> 'project') IS NOT NULL;
