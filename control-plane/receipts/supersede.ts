/**
 * Puts new versions of receipts into the ledger.
 *
 * Invariant: a version is never changed or renumbered, and version n + 1 is made once, however many instances make it at
 * once and whatever is ingested meanwhile: it is inserted by one statement, only after n and only if it is not there. Whose call it
 * was, when it was and how it went are those of version n; only what was calculated may differ. The same statement notes
 * for the restatement whatever settled grid value the new version lacks.
 */
import type { Receipt, ReceiptHead, ReceiptNumbers } from '@gw/contract/receipt';
import { Prisma, type Queryable } from '@gw/prisma/client';
import { notingOf } from './note-late.ts';

export interface NewVersion {
  /** The receipt that is superseded. Nothing is made unless its version is still the newest. */
  readonly current: Receipt;
  readonly numbers: ReceiptNumbers;
  /** What the numbers were made from; with them the lineage has to verify. */
  readonly facts: unknown;
}

/** The version after `current`, in the receipt's order of fields. */
export function nextVersion({ current, numbers }: Pick<NewVersion, 'current' | 'numbers'>): Receipt {
  const head: ReceiptHead = {
    id: current.id,
    object: current.object,
    version: current.version + 1,
    supersedes: current.version,
    created_at: current.created_at,
    request_id: current.request_id,
    status: current.status,
    requested_tier: current.requested_tier,
    model: current.model,
    provider: current.provider,
    region: current.region,
    usage_source: current.usage_source,
  };
  // Twice: first for the order, last so that no numbers can take their place.
  return { ...head, ...numbers, ...head };
}

/**
 * Returns the ids of the receipts that got a new version; the others have another newest version by now, and whoever
 * asked reads that one and decides again. Each id at most once. What waits to be recalculated under these ids no longer
 * does. Throws if Postgres is away; then doing it again is safe.
 */
export async function supersede(db: Queryable, versions: readonly NewVersion[]): Promise<ReadonlySet<string>> {
  if (versions.length === 0) return new Set();
  const rows = versions.map((version) => {
    const receipt = nextVersion(version);
    const { id, created_at, region, tier, prompt_tokens, completion_tokens, energy_wh, carbon_g } = receipt;
    const columns = { id, version: receipt.version, created_at, region, tier, prompt_tokens, completion_tokens };
    return { ...columns, energy_wh, carbon_g, body: receipt, facts: version.facts };
  });
  const noting = notingOf(rows);
  const made = await db.$queryRaw<{ id: string }[]>`
    WITH wanted AS (
      SELECT * FROM json_to_recordset(${JSON.stringify(rows)}::json) AS w (
        id text, version int, created_at timestamptz, region text, tier text, prompt_tokens bigint,
        completion_tokens bigint, energy_wh numeric, carbon_g numeric, body json, facts json)
    ), made AS (
      INSERT INTO receipts (id, version, created_at, account_id, key_id, endpoint, model, region, tier, status,
        prompt_tokens, completion_tokens, energy_wh, carbon_g, body, routing_trace, facts)
      SELECT w.id, w.version, w.created_at, old.account_id, old.key_id, old.endpoint, old.model, w.region, w.tier,
        old.status, w.prompt_tokens, w.completion_tokens, w.energy_wh, w.carbon_g, w.body, old.routing_trace, w.facts
      FROM wanted w
      JOIN receipts old ON old.id = w.id AND old.created_at = w.created_at AND old.version = w.version - 1
      -- Versions have no gaps, so where a newer one is, this one is there too.
      ON CONFLICT (id, version, created_at) DO NOTHING
      RETURNING id
    ), settled AS (
      DELETE FROM recalculations WHERE receipt_id IN (SELECT id FROM made)
    )${noting === null ? Prisma.empty : Prisma.sql`, noted AS (${noting})`}
    SELECT id FROM made`;
  return new Set(made.map(({ id }) => id));
}
