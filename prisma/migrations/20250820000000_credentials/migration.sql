-- What operators have set for providers, encrypted with a key that the database never sees. A credential goes to its
-- origin and nowhere else.
CREATE TABLE "provider_credentials" (
  "name" TEXT PRIMARY KEY CHECK ("name" ~ '^[A-Z0-9_]{1,64}$'),
  "origin" TEXT NOT NULL,
  "sealed" BYTEA NOT NULL,
  -- The one before, until the next is set: a rotation can be taken back.
  "previous" BYTEA,
  "set_at" TIMESTAMPTZ(3) NOT NULL
);
