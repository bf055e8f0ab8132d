/** Turns an entry of the ledger stream into a row of the table. */
import type { EntryColumns, EntryFault, EntryOpener, OpenedEntry } from '@gw/contract/internal/sealed-entry';
import { type ReadFacts, readFacts, type SplitFacts } from './facts-parts.ts';

/**
 * A row of `receipts`, without its seal. `body`, `routing_trace` and `facts` are JSON values; null if there is none. The
 * facts are whole until `splitRows` takes out what is stored apart.
 */
export interface ReceiptRow extends EntryColumns {
  readonly created_at: string;
  readonly body: unknown;
  readonly routing_trace: unknown;
  readonly facts: unknown;
  /** True if the client was shown this receipt, so that it replaces another one of its id and version. */
  readonly shown: boolean;
}

/** The three of a row as JSON texts, to the byte. */
export interface Texts {
  readonly body: string;
  readonly routing_trace: string | null;
  readonly facts: string | null;
}

export const textsOf = ({
  body,
  facts,
  routing_trace,
}: Pick<ReceiptRow, 'body' | 'routing_trace' | 'facts'>): Texts => ({
  body: JSON.stringify(body),
  routing_trace: textOf(routing_trace),
  facts: textOf(facts),
});

const textOf = (value: unknown): string | null => (value === null ? null : JSON.stringify(value));

/** The estimate of a call while its receipt lacks numbers, by the unit of a budget. */
export type Estimate = Readonly<Record<string, number | null>>;

/** Why no retry can make a row of an entry, as it is counted. */
export const refusals = ['malformed', 'unknown_key', 'wrong_code', 'contradiction', 'refused_values'] as const;
export type Refusal = (typeof refusals)[number];

export interface Poison {
  readonly refusal: Refusal;
  /** It names the wrong field, never its value. */
  readonly reason: string;
}

/** A row with its texts as they came. */
export interface CameRow {
  readonly row: ReceiptRow;
  readonly texts: Pick<Texts, 'body' | 'routing_trace'>;
  /** The facts as they are stored; null: `splitFacts` makes that of them. */
  readonly split: SplitFacts | null;
}

/** `estimate`: null if the call has no budgets, or all numbers. */
export type ParsedEntry =
  | (CameRow & Pick<OpenedEntry, 'byEarlierKey' | 'state'> & { readonly estimate: Estimate | null })
  | { readonly poison: Poison };

const poison = (refusal: Refusal, reason: string): { readonly poison: Poison } => ({ poison: { refusal, reason } });

export const refusalOf: Readonly<Record<EntryFault, Refusal>> = {
  malformed: 'malformed',
  'unknown key': 'unknown_key',
  'wrong code': 'wrong_code',
};
const reasons: Readonly<Record<EntryFault, string>> = {
  malformed: 'it is no entry of this format',
  'unknown key': 'no key that is accepted has sealed it',
  'wrong code': 'its code is wrong: no sidecar has written it so',
};

interface Opens {
  readonly opener: Pick<EntryOpener, 'open'>;
}

/** Opens an entry, and looks whether its columns are those of its receipt. */
export function parseEntry(bytes: Buffer | undefined, { opener }: Opens): ParsedEntry {
  if (bytes === undefined) return poison('malformed', 'the field "entry" is missing');
  const opened = opener.open(bytes);
  if ('fault' in opened) return poison(refusalOf[opened.fault], reasons[opened.fault]);
  const { entry } = opened;
  if (entry.state === 'pending') return poison('contradiction', 'its call is under way');
  let body: unknown;
  let routing_trace: unknown;
  let facts: ReadFacts | null;
  let estimate: Estimate | null;
  try {
    body = JSON.parse(entry.receipt);
    routing_trace = parsed(entry.trace);
    facts = entry.facts === null ? null : readFacts(entry.facts);
    estimate = parsed(entry.assumed) as Estimate | null;
  } catch {
    return poison('malformed', 'not valid JSON');
  }
  const differing = otherColumn(entry, body);
  if (differing !== null) return poison('contradiction', `its column is not that of its receipt: ${differing}`);
  const row = rowOf(entry, { body, routing_trace, facts: facts === null ? null : facts.whole });
  const texts = { body: entry.receipt, routing_trace: entry.trace };
  const split = facts === null ? { stored: null, parts: [] } : facts.split;
  return { row, texts, split, estimate, byEarlierKey: entry.byEarlierKey, state: entry.state };
}

const parsed = (text: string | null): unknown => (text === null ? null : JSON.parse(text));

const copied = [
  ...(['id', 'version', 'model', 'region', 'tier', 'status'] as const),
  ...(['prompt_tokens', 'completion_tokens', 'energy_wh', 'carbon_g'] as const),
] as const;

/** The first column that the receipt states otherwise; null: none. */
function otherColumn(entry: OpenedEntry, body: unknown): string | null {
  if (typeof body !== 'object' || body === null) return 'id';
  const stated = body as Readonly<Record<string, unknown>>;
  return copied.find((name) => stated[name] !== entry[name]) ?? null;
}

const rowOf = (entry: OpenedEntry, texts: Pick<ReceiptRow, 'body' | 'facts' | 'routing_trace'>): ReceiptRow => ({
  id: entry.id,
  version: entry.version,
  created_at: new Date(entry.time).toISOString(),
  account_id: entry.account_id,
  key_id: entry.key_id,
  endpoint: entry.endpoint,
  model: entry.model,
  region: entry.region,
  tier: entry.tier,
  status: entry.status,
  prompt_tokens: entry.prompt_tokens,
  completion_tokens: entry.completion_tokens,
  energy_wh: entry.energy_wh,
  carbon_g: entry.carbon_g,
  ...texts,
  shown: entry.state === 'shown',
});
