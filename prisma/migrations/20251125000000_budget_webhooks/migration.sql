-- Where an account hears of its budgets.
CREATE TABLE "budget_webhooks" (
  "account_id" TEXT PRIMARY KEY REFERENCES "accounts" ("id"),
  "url" TEXT NOT NULL,
  -- The secret that signs, encrypted for this account and origin.
  "sealed" BYTEA NOT NULL,
  "set_at" TIMESTAMPTZ(3) NOT NULL
);

-- A budget of which so much is used in a month; noted once, however many instances see it.
CREATE TABLE "budget_events" (
  "budget_id" TEXT NOT NULL,
  "month" TEXT NOT NULL,
  -- Percent.
  "threshold" INTEGER NOT NULL,
  "account_id" TEXT NOT NULL,
  -- As it is sent, with each try.
  "body" TEXT NOT NULL,
  "noted_at" TIMESTAMPTZ(3) NOT NULL,
  -- When it is tried next; null: never again.
  "next_at" TIMESTAMPTZ(3),
  "attempts" INTEGER NOT NULL DEFAULT 0,
  -- Of the last try, once it has ended.
  "tried_at" TIMESTAMPTZ(3),
  "outcome" TEXT,
  "status" INTEGER,
  "error" TEXT,
  PRIMARY KEY ("budget_id", "month", "threshold"),
  CONSTRAINT "budget_events_outcome" CHECK ("outcome" IN ('delivered', 'failed', 'given_up'))
);
CREATE INDEX "budget_events_next_at_idx" ON "budget_events" ("next_at");
CREATE INDEX "budget_events_account_id_idx" ON "budget_events" ("account_id");
