/** Entries of the ledger as objects, sealed as a sidecar seals them. */
import type { KeyRing, NumberedKey } from '@gw/contract/internal/key-ring';
import { type EntryContent, EntryOpener, EntrySealer, type EntryState } from '@gw/contract/internal/sealed-entry';
import type { Receipt } from '@gw/contract/receipt';

export interface LedgerEntry {
  readonly accountId: string;
  readonly keyId: string;
  readonly endpoint: string;
  readonly receipt: Receipt;
  readonly routingTrace: unknown;
  readonly facts: unknown;
  /** The client is known to have seen the receipt. */
  readonly shown?: true;
  readonly assumed?: Readonly<Record<string, number | null>>;
}

export const entryKeys: KeyRing = { current: { id: 1, secret: Buffer.alloc(32, 5) }, others: [] };

const textOf = (value: unknown): string | null => (value == null ? null : JSON.stringify(value));

export const contentOf = ({ accountId, endpoint, facts, keyId, receipt, ...more }: LedgerEntry): EntryContent => ({
  account_id: accountId,
  key_id: keyId,
  endpoint,
  id: receipt.id,
  version: receipt.version,
  model: receipt.model,
  region: receipt.region,
  tier: receipt.tier,
  status: receipt.status,
  prompt_tokens: receipt.prompt_tokens,
  completion_tokens: receipt.completion_tokens,
  energy_wh: receipt.energy_wh,
  carbon_g: receipt.carbon_g,
  receipt: JSON.stringify(receipt),
  trace: textOf(more.routingTrace),
  facts: textOf(facts),
  assumed: textOf(more.assumed),
});

const stateOf = ({ shown }: LedgerEntry): EntryState => (shown ? 'shown' : 'made');

export const sealedEntry = (
  entry: LedgerEntry,
  state: EntryState = stateOf(entry),
  key: NumberedKey = entryKeys.current,
): Buffer => new EntrySealer(key).seal(contentOf(entry), state);

/** Throws for an entry that does not open. */
export function entryIn(bytes: Buffer, keys = entryKeys): LedgerEntry & { readonly state: EntryState } {
  const opened = new EntryOpener(keys).open(bytes);
  if ('fault' in opened) throw new Error(`An entry does not open: ${opened.fault}.`);
  const { account_id, assumed, endpoint, facts, key_id, receipt, state, trace } = opened.entry;
  const parsed = (text: string | null) => (text === null ? null : JSON.parse(text));
  return {
    accountId: account_id,
    keyId: key_id,
    endpoint,
    receipt: JSON.parse(receipt),
    routingTrace: parsed(trace),
    facts: parsed(facts),
    state,
    ...(state === 'shown' && { shown: true as const }),
    ...(assumed !== null && { assumed: JSON.parse(assumed) }),
  };
}

/** The id of a receipt with a name of up to six letters. */
export const idNamed = (name: string): string =>
  `rcpt_00000000-0000-7000-8000-${Buffer.from(name).toString('hex').padStart(12, '0')}`;

/** An entry of a receipt without numbers, of which only the name and the length matter. */
export function entryNamed(name: string, state: EntryState = 'made', more = ''): Buffer {
  const receipt = {
    id: idNamed(name),
    version: 1,
    model: 'm',
    region: null,
    tier: 'degraded',
    status: 'complete',
    prompt_tokens: null,
    completion_tokens: null,
    energy_wh: null,
    carbon_g: null,
    more,
  } as unknown as Receipt;
  const call = { accountId: 'acct', keyId: 'key', endpoint: '/v1/chat/completions' };
  return sealedEntry({ ...call, receipt, routingTrace: null, facts: null }, state);
}
