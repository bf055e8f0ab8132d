/** Calls with real facts, and the entries that the sidecar makes of them. */
import { hourMs } from '@gw/contract/internal/durations';
import type { Snapshot, SnapshotModel } from '@gw/contract/internal/snapshot';
import type { DegradedReason, Receipt } from '@gw/contract/receipt';
import { unknownNumbers } from '@gw/contract/unknown-numbers';
import type { HeldCatalogue } from '@gw/control-plane/internals/catalogue/snapshot/keeper';
import { readRows, storedColumns } from '@gw/control-plane/internals/ledger/receipts/read-rows';
import type { StoredFacts } from '@gw/control-plane/internals/ledger/receipts/revision';
import type { LedgerRow } from '@gw/control-plane/internals/ledger/receipts/seal';
import { wholeFacts } from '@gw/control-plane/internals/ledger/receipts/whole-facts';
import { assess, type CallFacts, type GridReading } from '@gw/methodology/assess';
import { callOf, lineageDigest, usageSource } from '@gw/methodology/lineage';
import type { MethodologyId } from '@gw/methodology/methodologies';
import { type Database, Prisma } from '@gw/prisma/client';
import { emptySnapshot, plainModel } from '../catalogue.ts';
import type { LedgerEntry } from '../ledger-entry.ts';
import { receiptIdAt, receiptOf, testSeals, trace } from './fixtures.ts';
import { storeEntries } from './store-entries.ts';

export const site = {
  id: 'sim-eu-north',
  provider: 'simulator',
  region: 'eu-north',
  models: {},
  pue: 1.1,
  wueOnsiteLPerKwh: 0.05,
  telemetry: null,
};

export const modelOf = (changes: Partial<SnapshotModel> = {}): SnapshotModel => ({
  ...plainModel,
  id: 'sim-small',
  ownedBy: 'simulator',
  modelClass: 'small',
  ...changes,
});

/** Nothing is known of it. */
export const unknownModel = modelOf({ activeParametersB: null, totalParametersB: null, modelClass: null });

export function catalogueOf(models: readonly SnapshotModel[], changes: Partial<Snapshot> = {}): HeldCatalogue {
  const snapshot: Snapshot = { ...emptySnapshot, version: 7, models: [...models], ...changes };
  return { snapshot, catalogue: { ...snapshot, providers: [], liveGrid: [], operationalGrid: [] } };
}

/** A reading for the hour from `start` on. */
export const hourly = (start: string, changes: Partial<GridReading> = {}): GridReading => ({
  zone: 'SWE',
  gPerKwh: 40,
  source: 'electricity-maps',
  signal: 'average',
  periodStart: new Date(start).toISOString(),
  periodEnd: new Date(Date.parse(start) + hourMs).toISOString(),
  observedAt: new Date(start).toISOString(),
  temporalMatch: null,
  waterLPerKwh: 2,
  ...changes,
});

export const callAt = (at: string, changes: Partial<CallFacts> = {}): CallFacts => ({
  requestedTier: 'auto',
  boundary: 'comprehensive',
  requestedAt: new Date(at).toISOString(),
  usage: { promptTokens: 10, cachedPromptTokens: 0, completionTokens: 20 },
  upstreamLatencyS: 1,
  model: modelOf(),
  site,
  grid: hourly(at.replace(/:\d\d:.*/, ':00:00.000Z')),
  ...changes,
});

const degradedNumbers = { tier: 'degraded', tier_reason: null, ...unknownNumbers } as const;

export type Entry = LedgerEntry & { readonly receipt: Receipt; readonly facts: StoredFacts | null };

export interface EntryOptions {
  readonly accountId?: string;
  readonly methodology?: MethodologyId;
  readonly changes?: Partial<Receipt>;
}

/** The sidecar's entry for the ledger for a call with these facts. */
export function entryFrom(facts: CallFacts, options: EntryOptions = {}): Entry {
  const id = receiptIdAt(new Date(facts.requestedAt));
  const assessment = assess(facts, options.methodology);
  const base = receiptOf({ id, region: site.region, grid_zone: facts.grid?.zone ?? 'SWE', model: 'sim-small' });
  const numbers = assessment.ok
    ? assessment.impact
    : { ...degradedNumbers, degraded_reason: assessment.reason, explanation: 'x', recalculable: true };
  const words = { requested_tier: facts.requestedTier, usage_source: usageSource(facts) };
  // As JSON holds it, without the numbers that are absent.
  const stated: Receipt = JSON.parse(JSON.stringify({ ...base, ...words, ...numbers, ...options.changes }));
  const { methodology_hash: hash } = stated;
  const receipt =
    hash === null ? stated : { ...stated, lineage_digest: lineageDigest(callOf(stated, facts), facts, hash) };
  const { accountId = 'acct_demo_audit' } = options;
  return { accountId, keyId: 'key', endpoint: '/v1/chat/completions', receipt, routingTrace: trace, facts };
}

/** The same call, as the client was shown it when the sidecar did not finish, or as it was closed for it. */
export function unattended(entry: Entry, how: { readonly shown: boolean }): Entry {
  const reason: DegradedReason = 'sidecar_unavailable';
  const nothing = { provider: null, region: null, usage_source: null, grid_zone: null };
  const unknown = { prompt_tokens: null, completion_tokens: null, recalculable: false };
  const { degraded_reason: _, ...receipt } = { ...entry.receipt, ...degradedNumbers, ...nothing, ...unknown };
  const degraded = { ...receipt, degraded_reason: reason, explanation: 'x' };
  return { ...entry, receipt: degraded, facts: null, ...(how.shown && { shown: true as const }) };
}

export async function ingest(db: Database, ...entries: readonly LedgerEntry[]): Promise<void> {
  await storeEntries(db, entries, testSeals);
}

export interface StoredVersion {
  readonly receipt: Receipt;
  readonly facts: StoredFacts | null;
}

/** Rows of the ledger, as they were stored, by their ids and versions; null: of all receipts. */
export const rowsOf = (db: Database, id: string | null = null): Promise<LedgerRow[]> =>
  readRows(
    db,
    Prisma.sql`SELECT ${storedColumns} FROM receipts r WHERE ${id}::text IS NULL OR r.id = ${id} ORDER BY r.id, r.version`,
  );

/** First versions, by a condition on `r`, with their receipts as they were issued. */
export async function firstVersions(
  db: Database,
  condition: Prisma.Sql,
): Promise<{ readonly id: string; readonly body: Receipt }[]> {
  const query = Prisma.sql`SELECT ${storedColumns} FROM receipts r WHERE r.version = 1 AND ${condition}`;
  return (await readRows(db, query)).map(({ body, id }) => ({ id, body: JSON.parse(body) as Receipt }));
}

/** Every version that the ledger has of a receipt, the first one first, with its facts whole. */
export async function versionsOf(db: Database, id: string): Promise<StoredVersion[]> {
  const rows = await rowsOf(db, id);
  const facts = await wholeFacts({ db, seals: testSeals }, rows);
  return rows.map(({ body }, at) => {
    const read = facts[at];
    if (read === undefined || 'fault' in read) throw new Error(read?.fault);
    return { receipt: JSON.parse(body) as Receipt, facts: read.facts };
  });
}

/** The facts of rows, whole. */
export async function factsOf(
  db: Database,
  rows: readonly Pick<LedgerRow, 'facts'>[],
): Promise<(StoredFacts | null)[]> {
  return (await wholeFacts({ db, seals: testSeals }, rows)).map((read) => {
    if ('fault' in read) throw new Error(read.fault);
    return read.facts;
  });
}
