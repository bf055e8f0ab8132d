-- The vocabulary that the prompts of a model are counted with; null where it is not known.
ALTER TABLE "models" ADD COLUMN "tokenizer" TEXT CHECK ("tokenizer" <> '');
-- Seeded rows stay as they are, so those of the simulator get theirs here.
UPDATE "models" SET "tokenizer" = CASE WHEN "kind" = 'embedding' THEN 'cl100k_base' ELSE 'o200k_base' END
WHERE "owned_by" = 'simulator' AND "id" IN ('sim-small', 'sim-large', 'sim-embed');
