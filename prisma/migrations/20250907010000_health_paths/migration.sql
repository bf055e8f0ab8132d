-- Where a provider says how it is; null: nowhere.
ALTER TABLE "providers" ADD COLUMN "health_path" TEXT;
