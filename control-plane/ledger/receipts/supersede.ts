/**
 * Puts new versions of receipts into the ledger.
 *
 * Invariant: a version is never changed or renumbered, and version n + 1 is made once, however many instances make it
 * at once and whatever is ingested meanwhile: it is inserted by one statement, only after n and only if it is not
 * there. Whose call it was, when it was and how it went are those of version n; only what was calculated may differ, and
 * that a simulator answered is said once it is known.
 * Nothing is made of a version that is not genuine, so that what was altered is never sealed. The same statement notes
 * for the restatement whatever settled grid value the new version lacks.
 */
import type { Receipt, ReceiptHead, ReceiptNumbers } from '@gw/contract/receipt';
import type { CallFacts } from '@gw/methodology/assess';
import { callOf, lineageDigest, usageSource } from '@gw/methodology/lineage';
import { Prisma, type Queryable } from '@gw/prisma/client';
import { type ReceiptRow, textsOf } from './entry-row.ts';
import { splitRows, storingOf } from './facts-parts.ts';
import { gridUsed, notingOf } from './note-late.ts';
import { readRows, storedColumns } from './read-rows.ts';
import { type LedgerRow, parsedColumn, type SealedReceipt } from './seal.ts';
import { genuine, type Seals } from './sealed-rows.ts';

/** A version to make: the numbers, and the facts that give them. */
export interface NewVersion {
  /** The receipt that is superseded. Nothing is made unless its version is still the newest. */
  readonly current: Receipt;
  readonly numbers: ReceiptNumbers;
  /** The facts that the numbers were made from; the lineage has to verify with them. */
  readonly facts: CallFacts;
}

/** All versions are of the same call. */
const digestsOf = ({ answer_digest, request_digest }: Receipt) =>
  request_digest === undefined ? {} : { request_digest, answer_digest };

/** Returns the version after `current`, with its fields in the order of a receipt. */
export function nextVersion({ current, facts, numbers }: NewVersion): Receipt {
  const head: ReceiptHead = {
    id: current.id,
    object: current.object,
    version: current.version + 1,
    supersedes: current.version,
    created_at: current.created_at,
    request_id: current.request_id,
    // A stand-in says that the call was complete; if the facts say that the reply broke off, it was not its client who left.
    status: facts.isCutShort && current.status === 'complete' ? 'upstream_error' : current.status,
    requested_tier: current.requested_tier,
    model: current.model,
    provider: current.provider,
    region: current.region,
    pinned_region: current.pinned_region,
    api: current.api,
    usage_source: usageSource(facts),
    // A stand-in was made by who did not know the provider; the facts do.
    ...((current.simulated || facts.simulated) && { simulated: true }),
    ...(current.project !== undefined && { project: current.project }),
    ...digestsOf(current),
  };
  // Twice: first for the order, last so that no numbers can take their place.
  const receipt = { ...head, ...numbers, ...head };
  const { methodology_hash: hash } = numbers;
  if (hash === null) return receipt;
  return { ...receipt, lineage_digest: lineageDigest(callOf(receipt, facts), facts, hash) };
}

/**
 * Returns the ids of the receipts that got a new version; the others have another newest version by now, and whoever
 * asked reads that one and decides again. Each id at most once. What waits to be recalculated under these ids no longer
 * does. Throws if Postgres is away; then doing it again is safe.
 */
export async function supersede(
  db: Queryable,
  versions: readonly NewVersion[],
  seals: Seals,
): Promise<ReadonlySet<string>> {
  const whole = rowsOf(versions, await superseded(db, versions, seals));
  if (whole.length === 0) return new Set();
  const noting = notingOf(whole.flatMap((row) => gridUsed(row) ?? []));
  const split = splitRows(whole);
  await seals.compressor.learn(db);
  const rows = (await seals.seal(split.rows)).map((row) => stored(row, seals.compressor));
  await seals.compressor.store(db, [...new Set(rows.flatMap(({ dictionary }) => dictionary ?? []))]);
  const made = await db.$queryRaw<{ id: string }[]>`
    WITH parts AS (${storingOf(split.parts)}), wanted AS (
      SELECT * FROM json_to_recordset(${JSON.stringify(rows.map(({ columns }) => columns))}::json) AS w (
        id text, version int, created_at timestamptz, account_id text, key_id text, endpoint text, model text,
        region text, tier text, status text, prompt_tokens bigint, completion_tokens bigint, energy_wh numeric,
        carbon_g numeric, body json, routing_trace json, facts json, compressed bytea, content_sha256 text, seal text, seal_key int)
    ), made AS (
      INSERT INTO receipts (id, version, created_at, account_id, key_id, endpoint, model, region, tier, status,
        prompt_tokens, completion_tokens, energy_wh, carbon_g, body, routing_trace, facts, compressed, content_sha256, seal, seal_key)
      SELECT w.* FROM wanted w
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

/** A row as its columns have it, and what it is compressed with; null: nothing. */
function stored(row: SealedReceipt, compressor: Seals['compressor']) {
  const found = compressor.compress(row, textsOf(row));
  if (found === null) return { columns: { ...row, compressed: null }, dictionary: null };
  const { columns, compressed, dictionary } = found;
  const { body, facts, routing_trace } = columns;
  const values = { body: JSON.parse(body), routing_trace: parsedColumn(routing_trace), facts: parsedColumn(facts) };
  return { columns: { ...row, ...values, compressed: `\\x${compressed.toString('hex')}` }, dictionary };
}

/** The rows of the versions that are superseded, by their ids; without those that are not genuine. */
async function superseded(
  db: Queryable,
  versions: readonly NewVersion[],
  seals: Seals,
): Promise<ReadonlyMap<string, LedgerRow>> {
  if (versions.length === 0) return new Map();
  const keys = versions.map(({ current: { created_at, id, version } }) => ({ id, version, created_at }));
  const rows = await readRows(
    db,
    Prisma.sql`
    SELECT ${storedColumns} FROM receipts r
    JOIN json_to_recordset(${JSON.stringify(keys)}::json) AS k (id text, version int, created_at timestamptz)
      ON r.id = k.id AND r.version = k.version AND r.created_at = k.created_at`,
  );
  return new Map((await genuine(seals, rows)).map((row) => [row.id, row]));
}

function rowsOf(versions: readonly NewVersion[], before: ReadonlyMap<string, LedgerRow>): ReceiptRow[] {
  return versions.flatMap((version) => {
    const body = nextVersion(version);
    const old = before.get(body.id);
    if (old === undefined) return [];
    const { account_id, endpoint, key_id, routing_trace } = old;
    const { completion_tokens, created_at, id, model, prompt_tokens, region, status, tier } = body;
    return {
      id,
      version: body.version,
      created_at,
      account_id,
      key_id,
      endpoint,
      model,
      region,
      tier,
      status,
      prompt_tokens,
      completion_tokens,
      energy_wh: body.energy_wh,
      carbon_g: body.carbon_g,
      body,
      routing_trace: parsedColumn(routing_trace),
      facts: version.facts,
      shown: false,
    };
  });
}
