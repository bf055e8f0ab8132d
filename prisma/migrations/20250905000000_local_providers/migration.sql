-- Plain http to a provider has to be said to go through one's own network. Those that are there already go on as they are.
ALTER TABLE "providers" ADD COLUMN "local" BOOLEAN NOT NULL DEFAULT false;
UPDATE "providers" SET "local" = true
  WHERE "base_url" ~* '^http://' AND "base_url" !~* '^http://(localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])(:|/|$)';
