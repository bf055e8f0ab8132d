/** A receipt of the ledger with the facts behind it, as a job needs them to make a new version. */
import type { Receipt } from '@gw/contract/receipt';
import type { StoredFacts } from './revision.ts';

/** As it is read: JSON in the text that is stored. */
export interface StoredRow {
  readonly id: string;
  readonly createdAt: Date;
  readonly body: string;
  readonly facts: string | null;
}

export interface StoredReceipt {
  readonly receipt: Receipt;
  readonly facts: StoredFacts | null;
}

export const parseRow = ({ body, facts }: StoredRow): StoredReceipt => ({
  receipt: JSON.parse(body) as Receipt,
  facts: facts === null ? null : (JSON.parse(facts) as StoredFacts | null),
});
