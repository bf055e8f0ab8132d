/** Follows the ledger by the API while everything fails, as a customer's copy of it would. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Receipt } from '@gw/contract/receipt';
import type { ReceiptRow } from '../long/ledger-claims.ts';
import type { Client } from '../outage/client.ts';

export interface Follower {
  /** Reads on until nothing is left, and returns what differs from the ledger: each version is to be there once, as it is now. */
  differencesFrom(rows: readonly ReceiptRow[]): Promise<string[]>;
  /** Begins anew: a Postgres that went back in time gives places anew (docs/operations.md). */
  readAgain(): void;
  stop(): Promise<void>;
}

interface Page {
  readonly data: readonly Receipt[];
  readonly has_more: boolean;
  readonly last_id: string | null;
}

export function followLedger(client: Client, apiKey: string): Follower {
  /** Maps id and version to the JSON of each listing. */
  const seen = new Map<string, string[]>();
  let after: string | null = null;
  let isOver = false;
  let beginnings = 0;
  /** Throws if the ledger cannot be read now; the cursor stays. */
  const readOn = async (): Promise<void> => {
    for (let more = true; more; ) {
      const beginning = beginnings;
      const query = `order=arrival&limit=100${after === null ? '' : `&after=${encodeURIComponent(after)}`}`;
      const reply = await client.get(`/v1/gw/receipts?${query}`, apiKey);
      if (reply.status !== 200) throw new Error(`The ledger answered ${reply.status}.`);
      const page = reply.json as unknown as Page;
      if (beginning !== beginnings) continue;
      for (const receipt of page.data) {
        const key = `${receipt.id} ${receipt.version}`;
        seen.set(key, [...(seen.get(key) ?? []), JSON.stringify(receipt)]);
      }
      after = page.last_id ?? after;
      more = page.has_more;
    }
  };
  const run = async (): Promise<void> => {
    for (; !isOver; await delay(500)) await readOn().catch(() => undefined);
  };
  const ended = run();
  return {
    async differencesFrom(rows) {
      await readOn();
      const stored = new Map(rows.map(({ body, id, version }) => [`${id} ${version}`, JSON.stringify(body)]));
      const listed = [...seen].flatMap(([key, texts]) => {
        if (!stored.has(key)) return `${key} is not in the ledger`;
        // One that was replaced is listed again, and never the same twice.
        if (new Set(texts).size < texts.length) return `${key} was listed twice`;
        return texts.at(-1) === stored.get(key) ? [] : `${key} was last listed as it is not`;
      });
      return [...listed, ...[...stored.keys()].flatMap((key) => (seen.has(key) ? [] : `${key} was never listed`))];
    },
    readAgain: () => {
      beginnings += 1;
      after = null;
      seen.clear();
    },
    stop: () => {
      isOver = true;
      return ended;
    },
  };
}
