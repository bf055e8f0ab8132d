-- The second factor of a person who logs in with a credential: codes that change with time (RFC 6238).
CREATE TABLE "second_factors" (
  "subject_kind" TEXT NOT NULL,
  "subject_id" TEXT NOT NULL,
  -- The secret of the codes, encrypted for this person.
  "sealed" BYTEA NOT NULL,
  "made_at" TIMESTAMPTZ(3) NOT NULL,
  -- When its person has proved to have it; null: logins do not ask for it yet.
  "set_at" TIMESTAMPTZ(3),
  -- The step of time of the last code that was taken: neither it nor an earlier one is taken again.
  "last_step" INTEGER NOT NULL DEFAULT 0,
  -- Wrong codes since the last right one, and when the next try is heard.
  "failures" INTEGER NOT NULL DEFAULT 0,
  "next_try_at" TIMESTAMPTZ(3),
  PRIMARY KEY ("subject_kind", "subject_id"),
  CONSTRAINT "second_factors_subject_kind" CHECK ("subject_kind" IN ('operator', 'organisation_admin'))
);
