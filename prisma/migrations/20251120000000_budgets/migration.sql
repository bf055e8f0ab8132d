-- What an account, one of its keys or one of its projects may use in a UTC month.
CREATE TABLE "budgets" (
  "id" TEXT PRIMARY KEY,
  "account_id" TEXT NOT NULL REFERENCES "accounts" ("id"),
  "scope" TEXT NOT NULL,
  -- The public id of a key, or the name of a project; empty for the account itself.
  "name" TEXT NOT NULL,
  "unit" TEXT NOT NULL,
  -- In grams of CO2e, watt-hours, tokens, or the currency of the prices.
  "amount" DOUBLE PRECISION NOT NULL,
  "kind" TEXT NOT NULL,
  -- Who set it: only they, or an operator, can change it.
  "set_by" TEXT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "budgets_scope" CHECK ("scope" IN ('account', 'key', 'project') AND ("scope" = 'account') = ("name" = '')),
  CONSTRAINT "budgets_unit" CHECK ("unit" IN ('carbon_g', 'energy_wh', 'tokens', 'cost')),
  CONSTRAINT "budgets_kind" CHECK ("kind" IN ('soft', 'hard')),
  CONSTRAINT "budgets_set_by" CHECK ("set_by" IN ('operator', 'organisation')),
  CONSTRAINT "budgets_amount" CHECK ("amount" > 0 AND "amount" < 'infinity')
);
CREATE UNIQUE INDEX "budgets_account_id_scope_name_unit_set_by_key"
  ON "budgets" ("account_id", "scope", "name", "unit", "set_by");

-- With the rights of the owner: ext-authz forgets the keys of the account, and reads its budgets with the next call.
CREATE FUNCTION bump_key_generation_for_budget() RETURNS TRIGGER LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND OLD IS NOT DISTINCT FROM NEW THEN RETURN NULL; END IF;
  PERFORM note_key_change(NULL, COALESCE(NEW.account_id, OLD.account_id));
  RETURN NULL;
END $$;
REVOKE EXECUTE ON FUNCTION bump_key_generation_for_budget() FROM PUBLIC;
CREATE TRIGGER "budgets_changed" AFTER INSERT OR UPDATE OR DELETE ON "budgets"
  FOR EACH ROW EXECUTE FUNCTION bump_key_generation_for_budget();

-- What a call counts in budgets as long as its receipt has no number: what was reserved for it.
CREATE TABLE "budget_estimates" (
  "receipt_id" TEXT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL,
  "account_id" TEXT NOT NULL,
  "carbon_g" DOUBLE PRECISION,
  "energy_wh" DOUBLE PRECISION,
  "tokens" DOUBLE PRECISION,
  "cost" DOUBLE PRECISION,
  PRIMARY KEY ("receipt_id", "created_at")
);
CREATE INDEX "budget_estimates_account_id_created_at_idx" ON "budget_estimates" ("account_id", "created_at");
