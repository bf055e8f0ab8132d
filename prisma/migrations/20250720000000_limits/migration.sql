-- Only Enterprise negotiates limits: those of the other tiers are the tier's, whatever an account was given before.
UPDATE "accounts" SET "limit_per_s" = NULL, "limit_burst" = NULL, "limit_per_day" = NULL WHERE "tier" <> 'enterprise';
ALTER TABLE "accounts" ADD CONSTRAINT "only_enterprise_has_limits" CHECK (
  "tier" = 'enterprise' OR ("limit_per_s" IS NULL AND "limit_burst" IS NULL AND "limit_per_day" IS NULL)
);
