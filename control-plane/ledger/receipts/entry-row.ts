/** Turns an entry of the ledger stream into a row of the table. */
import { ledgerEntrySchema } from '@gw/contract/internal/ledger-entry';
import { timeOfReceipt } from './receipt-id.ts';

/**
 * A row of `receipts`, without its seal. `body`, `routing_trace` and `facts` are JSON values; null if there is none. The
 * facts are whole until `splitRows` takes out what is stored apart.
 */
export interface ReceiptRow {
  readonly id: string;
  readonly version: number;
  readonly created_at: string;
  readonly account_id: string;
  readonly key_id: string;
  readonly endpoint: string;
  readonly model: string;
  readonly region: string | null;
  readonly tier: string;
  readonly status: string;
  readonly prompt_tokens: number | null;
  readonly completion_tokens: number | null;
  readonly energy_wh: number | null;
  readonly carbon_g: number | null;
  readonly body: unknown;
  readonly routing_trace: unknown;
  readonly facts: unknown;
  /** True if the client was shown this receipt, so that it replaces another one of its id and version. */
  readonly shown: boolean;
}

/** The estimate of a call while its receipt lacks numbers, by the unit of a budget. */
export type Estimate = Readonly<Record<string, number | null>>;

/** `estimate`: null if the call has no budgets, or all numbers. */
export type ParsedEntry =
  | { readonly row: ReceiptRow; readonly estimate: Estimate | null }
  | { readonly poison: string };

/** Reads an entry. `poison` says why no retry can make a row of it: it names the wrong field, never its value. */
export function parseEntry(text: string | undefined): ParsedEntry {
  if (text === undefined) return { poison: 'the field "entry" is missing' };
  let raw: { receipt?: unknown; routingTrace?: unknown; facts?: unknown };
  try {
    raw = JSON.parse(text);
  } catch {
    return { poison: 'not valid JSON' };
  }
  const parsed = ledgerEntrySchema.safeParse(raw);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    return { poison: `${issue?.path.join('.')}: ${issue?.code}` };
  }
  const { accountId, keyId, endpoint, receipt } = parsed.data;
  const createdAt = timeOfReceipt(receipt.id);
  if (createdAt === null) return { poison: 'receipt.id: no time inside' };
  if (receipt.status === 'pending') return { poison: 'receipt.status: pending' };
  const row: ReceiptRow = {
    id: receipt.id,
    version: receipt.version,
    created_at: createdAt.toISOString(),
    account_id: accountId,
    key_id: keyId,
    endpoint,
    model: receipt.model,
    region: receipt.region,
    tier: receipt.tier,
    status: receipt.status,
    prompt_tokens: receipt.prompt_tokens,
    completion_tokens: receipt.completion_tokens,
    energy_wh: receipt.energy_wh,
    carbon_g: receipt.carbon_g,
    // The raw values: validated copies would have the schema's order of fields instead of the client's.
    body: raw.receipt,
    routing_trace: raw.routingTrace ?? null,
    facts: raw.facts ?? null,
    shown: parsed.data.shown ?? false,
  };
  return { row, estimate: parsed.data.assumed ?? null };
}
