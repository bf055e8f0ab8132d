/**
 * A receipt of the ledger with the facts behind it, as a job needs them to make a new version.
 *
 * Invariant: a job asks `genuineWhole` for the very rows that it parses. `supersede` checks the version that a receipt names,
 * and would not notice that the facts lay in another row, or were other ones a moment before.
 */
import type { Receipt } from '@gw/contract/receipt';
import type { StoredFacts } from './revision.ts';
import type { LedgerRow } from './seal.ts';
import type { WholeRow } from './whole-facts.ts';

/** A receipt with its facts, parsed; the facts are null if none were stored. */
export interface StoredReceipt {
  readonly receipt: Receipt;
  readonly facts: StoredFacts | null;
}

/** Parses a row that is genuine. Provider and region come from the facts if the receipt lacks them. */
export function parseRow({ body, facts }: Pick<WholeRow<LedgerRow>, 'body' | 'facts'>): StoredReceipt {
  const receipt = JSON.parse(body) as Receipt;
  return { receipt: facts === null ? receipt : located(receipt, facts), facts };
}

/** A receipt that was closed for a sidecar that died does not say where the call was served; its facts do. */
function located(receipt: Receipt, facts: StoredFacts): Receipt {
  const site: unknown = facts.site;
  const text = (name: 'provider' | 'region'): string | null => {
    const value: unknown = typeof site === 'object' && site !== null ? Reflect.get(site, name) : null;
    return typeof value === 'string' ? value : null;
  };
  return {
    ...receipt,
    provider: receipt.provider ?? text('provider'),
    region: receipt.region ?? text('region'),
  };
}
