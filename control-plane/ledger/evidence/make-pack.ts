/** Turns stored receipts into the contents of a pack, with their lineages if they were asked for. */
import { setImmediate } from 'node:timers/promises';
import { elementAt } from '@gw/contract/internal/defined';
import type { Excluded, PackAbout, PackContents, PackedReceipt, PackLog } from '@gw/evidence/pack';
import { packText } from '@gw/evidence/pack-writer';
import type { PackKey } from '@gw/evidence/seal';
import type { Context } from '../../shared/context.ts';
import { archivedMonths } from '../receipts/archive-notes.ts';
import { LineageMismatchError, type ReceiptLineage, receiptLineage } from '../receipts/lineage.ts';
import { type LedgerRow, parsedColumn } from '../receipts/seal.ts';
import type { Seals } from '../receipts/sealed-rows.ts';
import { wholeFacts } from '../receipts/whole-facts.ts';
import { withProofs } from './log-proofs.ts';
import { receiptOfRow, type Selected } from './select.ts';

interface Stores extends Pick<Context, 'db' | 'log'> {
  readonly seals: Seals;
}

interface PackChoice {
  readonly about: PackAbout;
  readonly selected: Selected;
  readonly withLineage: boolean;
  readonly withRouting: boolean;
  /** As `logOf` has read it, before the receipts. */
  readonly log: PackLog | null;
}

/** Resolves with the text of the pack. */
export async function makePack(
  stores: Stores,
  { key, ...choice }: PackChoice & { readonly key: PackKey },
): Promise<string> {
  return packText({ ...choice.about, ...(await packedOf(stores, choice)) }, key, setImmediate);
}

/** Resolves with the selected receipts and the exclusions, each with its proof. */
export async function packedOf(
  stores: Stores,
  { about, log, selected, withLineage, withRouting }: PackChoice,
): Promise<Pick<PackContents, 'excluded' | 'log' | 'receipts'>> {
  const { excluded, rows } = selected;
  const explained = withLineage ? await withLineages(stores, rows) : null;
  const made = explained?.receipts ?? (await withoutLineages(rows));
  const ofMade = explained?.rows ?? rows;
  const receipts = withRouting
    ? made.map((each, at) => ({ ...each, routing: parsedColumn(elementAt(ofMade, at).routing_trace) }))
    : made;
  const left = [...excluded, ...(explained?.excluded ?? [])];
  const archived = await archivedMonths(stores.db, stores.seals);
  return withProofs(stores.db, { ...about, receipts, excluded: left }, { archived, log });
}

/** Parsing this many receipts takes a few milliseconds. */
const readAtOnce = 100;

async function withoutLineages(rows: readonly LedgerRow[]): Promise<PackedReceipt[]> {
  const receipts: PackedReceipt[] = [];
  for (const [at, row] of rows.entries()) {
    if (at % readAtOnce === 0) await setImmediate();
    receipts.push({ receipt: receiptOfRow(row), lineage: null });
  }
  return receipts;
}

interface Explained {
  readonly receipts: PackedReceipt[];
  /** The row of each receipt. */
  readonly rows: LedgerRow[];
  readonly excluded: Excluded[];
}

/** A receipt whose facts do not give its numbers is left out and named, since a signature would vouch for it. */
async function withLineages(stores: Stores, rows: readonly LedgerRow[]): Promise<Explained> {
  const facts = await wholeFacts(stores, rows);
  const receipts: PackedReceipt[] = [];
  const kept: LedgerRow[] = [];
  const excluded: Excluded[] = [];
  for (const [at, row] of rows.entries()) {
    // Each lineage takes milliseconds, and other requests wait.
    await setImmediate();
    const lineage = lineageOf(stores, row, elementAt(facts, at));
    if ('code' in lineage) excluded.push({ receipt_id: row.id, version: row.version, ...lineage });
    if ('code' in lineage && lineage.code === 'contradiction') continue;
    kept.push(row);
    receipts.push({ receipt: receiptOfRow(row), lineage: 'code' in lineage ? null : lineage });
  }
  return { receipts, rows: kept, excluded };
}

function lineageOf(
  { log }: Stores,
  { body }: LedgerRow,
  whole: Awaited<ReturnType<typeof wholeFacts>>[number],
): ReceiptLineage | Pick<Excluded, 'code' | 'reason'> {
  if ('fault' in whole)
    return { code: 'no_lineage', reason: 'Its lineage alone. The facts that are stored are not those of the call.' };
  try {
    return receiptLineage({ json: body, facts: whole.facts });
  } catch (error) {
    if (!(error instanceof LineageMismatchError)) throw error;
    log.error({ err: error }, 'a receipt cannot be explained');
    return { code: 'contradiction', reason: 'The facts that are stored do not give its numbers.' };
  }
}
