-- How a provider is called where that is not as OpenAI is.
ALTER TABLE "providers"
  ADD COLUMN "path" TEXT,
  ADD COLUMN "headers" JSONB,
  ADD COLUMN "request_fields" JSONB,
  ADD COLUMN "timeout_s" INTEGER CHECK ("timeout_s" > 0),
  ADD COLUMN "first_byte_timeout_s" INTEGER CHECK ("first_byte_timeout_s" > 0);
