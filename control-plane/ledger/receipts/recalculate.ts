/**
 * Makes degraded receipts again, once what they lacked is there: the parameters or the class of their model, a grid
 * value for the time of the call, or a calculation that does not fail on them.
 *
 * Invariant: what cannot be made yet stays noted in `recalculations`. If it waits for an entry of the catalogue, it is
 * tried again when that entry changes (wake.ts), and once a day in any case; else with growing pauses. What can never
 * be made is taken out. Any number of instances may run; one that dies leaves what it had taken due again.
 */
import { setImmediate } from 'node:timers/promises';
import { dayMs, hourMs } from '@gw/contract/internal/durations';
import type { NotAssessed } from '@gw/methodology/assess';
import { explained } from '@gw/methodology/lineage';
import { defaultMethodology, methodologyOf } from '@gw/methodology/methodologies';
import { type Database, Prisma } from '@gw/prisma/client';
import type { FaultLog } from '@gw/service/fault-log';
import type { Logger } from '@gw/service/log';
import type { HeldCatalogue } from '../../catalogue/snapshot/keeper.ts';
import { type Completion, completeFacts, type ReadingAt, replaceFacts, unmeasured } from './complete-facts.ts';
import { parseRow, type StoredReceipt } from './newest-rows.ts';
import { readRows, storedColumns } from './read-rows.ts';
import type { StoredFacts } from './revision.ts';
import type { LedgerRow } from './seal.ts';
import type { Seals } from './sealed-rows.ts';
import { type NewVersion, supersede } from './supersede.ts';
import { genuineWhole, type WholeRow } from './whole-facts.ts';

export interface RecalculateOptions {
  readonly db: Database;
  /** Called once for each batch, so that a batch sees one state of the history. */
  readonly history: () => ReadingAt;
  readonly now: () => Date;
  readonly log: Logger;
  readonly faults: Pick<FaultLog, 'fault'>;
  readonly seals: Seals;
  /** Ends the run after the batch that it is at. */
  readonly signal: AbortSignal;
  /** Called after each batch that made versions, with their number. */
  readonly onRecalculated: (count: number) => void;
}

/**
 * A new version; or the catalogue entry that it waits for (null if none can be named); or that none will ever be made.
 */
export type Recalculation =
  | { readonly version: NewVersion }
  | { readonly waitsFor: string | null }
  | { readonly final: true };

interface WaitingRow extends LedgerRow {
  /** The counters that tell its energy are still to be read. */
  readonly isToBeMeasured: boolean;
}

interface RecalculationTools extends Pick<RecalculateOptions, 'faults' | 'now'> {
  readonly readingAt: ReadingAt;
}

const batchSize = 200;
const firstPauseS = 10;
const longestPauseS = hourMs / 1000;
/** How long a receipt is left alone that is woken when its entry changes. */
const parkedS = dayMs / 1000;

/** Tries everything that is due. Throws if Postgres is away; what was taken is then due again after its pause. */
export async function recalculateDue(options: RecalculateOptions, held: HeldCatalogue): Promise<void> {
  const { db, log, signal, onRecalculated } = options;
  let total = 0;
  while (!signal.aborted) {
    const ids = await claim(db);
    if (ids.length > 0) {
      const made = await recalculateBatch(options, held, ids);
      if (made > 0) onRecalculated(made);
      total += made;
    }
    if (ids.length < batchSize) break;
  }
  if (total > 0) log.info({ recalculated: total }, 'recalculated degraded receipts');
}

/** Claims a batch by moving its next attempt, so that an instance that dies holds nothing. */
async function claim(db: Database): Promise<string[]> {
  const rows = await db.$queryRaw<{ receipt_id: string }[]>`
    UPDATE recalculations SET attempts = attempts + 1, due_at = CURRENT_TIMESTAMP
      + least(${longestPauseS}::int, ${firstPauseS}::int * 2 ^ least(attempts, 20)) * INTERVAL '1 second'
    WHERE receipt_id IN (
      SELECT receipt_id FROM recalculations WHERE due_at <= CURRENT_TIMESTAMP(3)
      ORDER BY due_at LIMIT ${batchSize} FOR UPDATE SKIP LOCKED)
    RETURNING receipt_id`;
  return rows.map((row) => row.receipt_id);
}

async function recalculateBatch(
  options: RecalculateOptions,
  held: HeldCatalogue,
  ids: readonly string[],
): Promise<number> {
  const { db } = options;
  const rows = await readRows<WaitingRow>(
    db,
    Prisma.sql`
    SELECT DISTINCT ON (r.id) ${storedColumns},
      EXISTS (SELECT 1 FROM gpu_measurements m WHERE m.receipt_id = r.id) AS "isToBeMeasured"
    FROM recalculations w JOIN receipts r ON r.id = w.receipt_id AND r.created_at = w.created_at
    WHERE w.receipt_id = ANY (${ids})
    ORDER BY r.id, r.version DESC`,
  );
  const tools = { readingAt: options.history(), now: options.now, faults: options.faults };
  const versions: NewVersion[] = [];
  const final: string[] = [];
  const waiting: { id: string; waitsFor: string | null }[] = [];
  for (const row of await genuineWhole(options, rows)) {
    // Making a lineage takes a millisecond: requests to this process go in between.
    await setImmediate();
    const outcome = await tried(row, held, tools, options.log);
    if ('version' in outcome) versions.push(outcome.version);
    else if ('final' in outcome) final.push(row.id);
    else waiting.push({ id: row.id, waitsFor: outcome.waitsFor });
  }
  const made = await supersede(db, versions, options.seals);
  if (final.length > 0) await db.recalculation.deleteMany({ where: { receiptId: { in: final } } });
  if (waiting.length > 0) await putOff(db, waiting);
  return made.size;
}

/** Postpones receipts. One that an instance with a newer catalogue has woken meanwhile stays due. */
async function putOff(db: Database, waiting: readonly { id: string; waitsFor: string | null }[]): Promise<void> {
  await db.$executeRaw`
    UPDATE recalculations w SET waits_for = n."waitsFor", due_at = CASE
      WHEN n."waitsFor" IS NULL OR w.due_at <= CURRENT_TIMESTAMP(3) THEN w.due_at
      ELSE CURRENT_TIMESTAMP + ${parkedS}::int * INTERVAL '1 second' END
    FROM json_to_recordset(${JSON.stringify(waiting)}::json) AS n (id text, "waitsFor" text)
    WHERE w.receipt_id = n.id`;
}

/**
 * One receipt that nobody can read must not hold up the others of its batch; Postgres being away shows in the next
 * step.
 */
async function tried(
  row: WholeRow<WaitingRow>,
  held: HeldCatalogue,
  tools: RecalculationTools,
  log: Logger,
): Promise<Recalculation> {
  try {
    const { facts, receipt } = parseRow(row);
    return await recalculated({ receipt, facts: row.isToBeMeasured ? facts : unmeasured(facts) }, held, tools);
  } catch (error) {
    log.error({ receipt: row.id, err: error }, 'a degraded receipt could not be recalculated');
    return { waitsFor: null };
  }
}

/** Makes the version that follows the newest one, or says what it waits for. Rejects if Postgres is away. */
async function recalculated(
  { receipt, facts }: StoredReceipt,
  held: HeldCatalogue,
  { readingAt, now, faults }: RecalculationTools,
): Promise<Recalculation> {
  if (receipt.tier !== 'degraded' || !facts?.usage) return { final: true };
  const completion = await completeFacts(facts, receipt, held, readingAt);
  const first = attempt(completion, faults);
  if (!('reason' in first)) return version(receipt, first, now, held);
  if (first.reason === 'calculator_fault') {
    const replaced = replaceFacts(completion, receipt, held);
    const second = replaced === null ? first : attempt(replaced, faults);
    if (!('reason' in second)) return version(receipt, second, now, held);
  }
  return waitingFor(first.reason, receipt, facts);
}

interface MadeVersion extends Completion {
  readonly numbers: NewVersion['numbers'];
}

function attempt(
  completion: Completion,
  faults: RecalculationTools['faults'],
): MadeVersion | { readonly reason: NotAssessed } {
  const { facts } = completion;
  try {
    // A receipt whose numbers cannot be explained is not made.
    const made = explained(facts, methodologyOf(defaultMethodology), null);
    return made.ok ? { ...completion, numbers: made.impact } : { reason: made.reason };
  } catch (error) {
    faults.fault('recalculation', error);
    return { reason: 'calculator_fault' };
  }
}

function version(
  receipt: StoredReceipt['receipt'],
  { completed, facts, numbers }: MadeVersion,
  now: () => Date,
  { snapshot }: HeldCatalogue,
): Recalculation {
  const newFacts: StoredFacts = {
    ...facts,
    revision: {
      reason: 'recalculated',
      at: now().toISOString(),
      completed: [...completed],
      catalogue_version: completed.length > 0 ? snapshot.version : null,
      grid: null,
    },
  };
  return { version: { current: receipt, numbers, facts: newFacts } };
}

function waitingFor(reason: NotAssessed, receipt: StoredReceipt['receipt'], facts: StoredFacts): Recalculation {
  switch (reason) {
    case 'usage_missing':
      return { final: true };
    case 'grid_intensity_missing':
      return { waitsFor: `zone ${receipt.grid_zone}` };
    case 'tier_unavailable':
    case 'telemetry_pending':
      // Energy that was not measured then is not measured now; counters that are read later have a job of their own.
      return facts.requestedTier === 'telemetry' ? { final: true } : { waitsFor: `model ${receipt.model}` };
    case 'model_parameters_unknown':
    case 'no_embedding_factor':
    case 'calculator_fault':
      return { waitsFor: `model ${receipt.model}` };
  }
}
