/** A receipt of the ledger with the facts behind it, as a job needs them to make a new version. */
import type { Receipt } from '@gw/contract/receipt';
import type { StoredFacts } from './revision.ts';

/** A row as it is read: `body` and `facts` are JSON in the text that is stored. */
export interface StoredRow {
  readonly id: string;
  readonly createdAt: Date;
  readonly body: string;
  readonly facts: string | null;
}

/** A receipt with its facts, parsed; the facts are null if none were stored. */
export interface StoredReceipt {
  readonly receipt: Receipt;
  readonly facts: StoredFacts | null;
}

/** Parses a row. Provider and region come from the facts if the receipt lacks them. */
export function parseRow({ body, facts: text }: Pick<StoredRow, 'body' | 'facts'>): StoredReceipt {
  const receipt = JSON.parse(body) as Receipt;
  const facts = text === null ? null : (JSON.parse(text) as StoredFacts | null);
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
