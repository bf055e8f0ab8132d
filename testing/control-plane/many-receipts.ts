/** Many receipts, made by the database from their numbers, and counted as it counts those that are ingested. */
import { type Database, Prisma } from '@gw/prisma/client';

export interface Many {
  readonly accountId: string;
  readonly from: Date;
  readonly to: Date;
  readonly count: number;
  /** How many a statement stores. */
  readonly atOnce: number;
}

/** Five models, two regions, three keys, seven projects; without what only a lineage needs. */
export async function storeMany(db: Database, { accountId, atOnce, count, from, to }: Many): Promise<void> {
  for (let first = 0; first < count; first += atOnce)
    await db.$executeRaw`
      INSERT INTO receipts (id, version, created_at, account_id, key_id, endpoint, model, region, tier, status,
        prompt_tokens, completion_tokens, energy_wh, carbon_g, body, content_sha256, seal, seal_key)
      SELECT 'rcpt_' || ${accountId} || n, 1, ${from}::timestamptz + n * ((${to}::timestamptz - ${from}::timestamptz) / ${count}::int),
        ${accountId}, 'key' || n % 3, '/v1/chat/completions', 'model' || n % 5, 'region' || n % 2, 'parametric', 'complete',
        n % 1000, n % 500, n % 977 / 1000.0, n % 491 / 1000.0,
        json_build_object('provider', 'p', 'project', 'project' || n % 7, 'grid_basis', 'lifecycle', 'energy_low_wh', n % 977 / 2000.0,
          'water_ml', n % 91), 'd', 's', 1
      FROM generate_series(${first}::int, ${Math.min(first + atOnce, count) - 1}::int) n`;
}

/** Gives the first receipts of `storeMany` a second version, with more carbon, as a settled grid value does. */
export async function restateMany(
  db: Database,
  { accountId, atOnce, count }: Pick<Many, 'accountId' | 'atOnce' | 'count'>,
): Promise<void> {
  for (let first = 0; first < count; first += atOnce)
    await db.$executeRaw`
      INSERT INTO receipts (id, version, created_at, account_id, key_id, endpoint, model, region, tier, status,
        prompt_tokens, completion_tokens, energy_wh, carbon_g, body, content_sha256, seal, seal_key)
      SELECT id, 2, created_at, account_id, key_id, endpoint, model, region, tier, status, prompt_tokens, completion_tokens, energy_wh,
        carbon_g + 0.001, body, content_sha256, seal, seal_key
      FROM generate_series(${first}::int, ${Math.min(first + atOnce, count) - 1}::int) n
      CROSS JOIN LATERAL (SELECT * FROM receipts WHERE id = 'rcpt_' || ${accountId} || n AND version = 1 OFFSET 0) r`;
}

/** Returns plain sums over the newest receipts. */
export async function plainSums(db: Database, ofWhom: Prisma.Sql = Prisma.sql`TRUE`) {
  const [row] = await db.$queryRaw<{ requests: number; energy_wh: string; carbon_g: string; tokens: string }[]>`
    SELECT count(*)::int AS requests, sum(energy_wh)::text AS energy_wh, sum(carbon_g)::text AS carbon_g,
      sum(prompt_tokens + completion_tokens)::text AS tokens
    FROM receipts r WHERE ${ofWhom} AND NOT EXISTS (
      SELECT 1 FROM receipts n WHERE n.id = r.id AND n.created_at = r.created_at AND n.version > r.version)`;
  const rounded = (text: string | undefined): number => Number(Number(text).toPrecision(12));
  return {
    requests: row?.requests,
    energy_wh: rounded(row?.energy_wh),
    carbon_g: rounded(row?.carbon_g),
    tokens: rounded(row?.tokens),
  };
}
