-- How many calls a deployment takes at once; null: it is not stated.
ALTER TABLE "deployments"
  ADD COLUMN "max_concurrent_requests" INTEGER CHECK ("max_concurrent_requests" > 0);
