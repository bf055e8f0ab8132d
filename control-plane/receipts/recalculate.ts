/**
 * Makes degraded receipts again, once what they lacked is there: the parameters or the class of their model, a grid value
 * for the time of the call, or a calculation that does not fail on them.
 *
 * Invariant: what cannot be made yet stays noted in `recalculations` and is tried again with growing pauses, or at once
 * when the entry that it waits for appears in the catalogue. What can never be made is taken out. Any number of
 * instances may run; one that dies leaves what it had taken due again.
 */
import { setImmediate } from 'node:timers/promises';
import { assess, type NotAssessed } from '@gw/methodology/assess';
import { lineageOf } from '@gw/methodology/lineage';
import { type Database, Prisma } from '@gw/prisma/client';
import type { Logger } from '@gw/service/log';
import type { HeldCatalogue } from '../catalogue/keeper.ts';
import { messageOf } from '../repeat.ts';
import { type Completion, completeFacts, type ReadingAt, replaceFacts } from './complete-facts.ts';
import { parseRow, type StoredReceipt, type StoredRow } from './newest-rows.ts';
import type { StoredFacts } from './revision.ts';
import { type NewVersion, supersede } from './supersede.ts';

export interface RecalculateOptions {
  readonly db: Database;
  readonly readingAt: ReadingAt;
  readonly now: () => Date;
  readonly log: Logger;
  /** Ends a run between two batches. */
  readonly signal: AbortSignal;
  /** Told of each batch. */
  readonly onRecalculated: (count: number) => void;
}

/** A new version, or what it waits for (null: nothing that can be named), or the word that none will ever come. */
export type Recalculation =
  | { readonly version: NewVersion }
  | { readonly waitsFor: string | null }
  | { readonly final: true };

const batchSize = 200;
const firstPauseS = 10;
const longestPauseS = 3600;

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
  if (total > 0) log.info({ recalculated: total }, 'made degraded receipts again');
}

/** Taking one moves its next attempt, so that an instance that dies holds nothing. */
async function claim(db: Database): Promise<string[]> {
  const rows = await db.$queryRaw<{ receipt_id: string }[]>`
    UPDATE recalculations SET attempts = attempts + 1, due_at = CURRENT_TIMESTAMP
      + least(${longestPauseS}::int, ${firstPauseS}::int * 2 ^ least(attempts, 20)) * INTERVAL '1 second'
    WHERE receipt_id IN (
      SELECT receipt_id FROM recalculations WHERE due_at <= CURRENT_TIMESTAMP
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
  const rows = await db.$queryRaw<StoredRow[]>`
    SELECT DISTINCT ON (r.id) r.id, r.created_at AS "createdAt", r.body::text AS body, r.facts::text AS facts
    FROM recalculations w JOIN receipts r ON r.id = w.receipt_id AND r.created_at = w.created_at
    WHERE w.receipt_id = ANY (${ids})
    ORDER BY r.id, r.version DESC`;
  const versions: NewVersion[] = [];
  const final: string[] = [];
  const waiting: { id: string; waitsFor: string | null }[] = [];
  for (const row of rows) {
    // Making a lineage takes a millisecond: requests to this process go in between.
    await setImmediate();
    const outcome = await tried(row, held, options);
    if ('version' in outcome) versions.push(outcome.version);
    else if ('final' in outcome) final.push(row.id);
    else waiting.push({ id: row.id, waitsFor: outcome.waitsFor });
  }
  const made = await supersede(db, versions);
  if (final.length > 0) await db.recalculation.deleteMany({ where: { receiptId: { in: final } } });
  if (waiting.length > 0)
    await db.$executeRaw`
      UPDATE recalculations w SET waits_for = n."waitsFor"
      FROM json_to_recordset(${JSON.stringify(waiting)}::json) AS n (id text, "waitsFor" text)
      WHERE w.receipt_id = n.id`;
  return made.size;
}

/** One receipt that nobody can read must not hold up the others of its batch; Postgres being away shows in the next step. */
async function tried(row: StoredRow, held: HeldCatalogue, options: RecalculateOptions): Promise<Recalculation> {
  try {
    return await recalculated(parseRow(row), held, options);
  } catch (fault) {
    options.log.error({ receipt: row.id, fault: messageOf(fault) }, 'a degraded receipt could not be looked at');
    return { waitsFor: null };
  }
}

/** `stored`: the newest version. */
export async function recalculated(
  { receipt: stored, facts }: StoredReceipt,
  held: HeldCatalogue,
  { readingAt, now }: Pick<RecalculateOptions, 'readingAt' | 'now'>,
): Promise<Recalculation> {
  if (stored.tier !== 'degraded' || !facts?.usage) return { final: true };
  const receipt = located(stored, facts);
  const completion = await completeFacts(facts, receipt, held, readingAt);
  const first = attempt(completion);
  if (!('reason' in first)) return version(receipt, first, now, held);
  if (first.reason === 'calculator_fault') {
    const replaced = replaceFacts(completion, receipt, held);
    const second = replaced === null ? first : attempt(replaced);
    if (!('reason' in second)) return version(receipt, second, now, held);
  }
  return waitingFor(first.reason, receipt, facts);
}

interface Made extends Completion {
  readonly numbers: NewVersion['numbers'];
}

function attempt(completion: Completion): Made | { readonly reason: NotAssessed } {
  const { facts } = completion;
  try {
    const assessment = assess(facts);
    if (!assessment.ok) return { reason: assessment.reason };
    // A receipt whose numbers cannot be explained is not made.
    return lineageOf(facts).ok ? { ...completion, numbers: assessment.impact } : { reason: 'calculator_fault' };
  } catch {
    return { reason: 'calculator_fault' };
  }
}

function version(
  receipt: StoredReceipt['receipt'],
  { completed, facts, numbers }: Made,
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

/** A receipt that was closed for a sidecar that died does not say where the call was served; its facts do. */
function located(receipt: StoredReceipt['receipt'], { site }: StoredFacts): StoredReceipt['receipt'] {
  const text = (name: 'provider' | 'region'): string | null => {
    const value: unknown = Reflect.get(site, name);
    return typeof value === 'string' ? value : null;
  };
  return {
    ...receipt,
    provider: receipt.provider ?? text('provider'),
    region: receipt.region ?? text('region'),
  };
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

/**
 * Makes everything due whose missing entry has changed between two catalogues; the first time, whatever waits: the build,
 * too, may be another than the one that tried.
 */
export async function wake(db: Database, before: HeldCatalogue | null, { snapshot }: HeldCatalogue): Promise<void> {
  if (before?.snapshot === snapshot) return;
  const due = Prisma.sql`UPDATE recalculations SET due_at = CURRENT_TIMESTAMP WHERE due_at > CURRENT_TIMESTAMP`;
  if (before === null) {
    await db.$executeRaw`${due}`;
    return;
  }
  const old = new Map(before.snapshot.models.map((model) => [model.id, JSON.stringify(model)]));
  const woken = snapshot.models
    .filter((model) => old.get(model.id) !== JSON.stringify(model))
    .map(({ id }) => `model ${id}`);
  const hadReading = new Set(before.snapshot.grid.map(({ zone }) => zone));
  const zoneOf = new Map(snapshot.regions.map(({ code, gridZone }) => [code, gridZone]));
  const zones = [
    ...snapshot.grid.flatMap(({ zone }) => (hadReading.has(zone) ? [] : zone)),
    // A region that was in the wrong zone.
    ...before.snapshot.regions.flatMap(({ code, gridZone }) => (zoneOf.get(code) === gridZone ? [] : gridZone)),
  ];
  woken.push(...zones.map((zone) => `zone ${zone}`));
  if (woken.length > 0) await db.$executeRaw`${due} AND waits_for = ANY (${woken})`;
}
