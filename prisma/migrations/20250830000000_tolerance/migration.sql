-- What a carbon-aware choice may cost in time and money: how deployments compare, and what an account tolerates.
ALTER TABLE "deployments"
  ADD COLUMN "latency_ms" INTEGER CHECK ("latency_ms" >= 0),
  ADD COLUMN "relative_cost" DOUBLE PRECISION CHECK ("relative_cost" >= 0);
ALTER TABLE "accounts"
  ADD COLUMN "max_added_latency_ms" INTEGER CHECK ("max_added_latency_ms" >= 0),
  ADD COLUMN "max_added_cost_percent" INTEGER CHECK ("max_added_cost_percent" >= 0);
