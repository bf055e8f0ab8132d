/**
 * The bytes of an entry of the ledger.
 *
 * The numbers are big-endian: format (1 byte), state (1), number of the key (2), id of the receipt as a UUID (16, of which the
 * first 6 are its time, ms), version (2), four doubles with NaN for null (8 each), the lengths of the names (2 each) and of the
 * texts (4 each); then names and texts as UTF-8, and the code.
 *
 * The code is one half, 16 bytes, of an HMAC-SHA-256 over all before it, with half of the state, rounded down, in the place of the state:
 * an even state has the first half, an odd one the second. So one HMAC seals both stand-ins of a call.
 */

/**
 * `left`: Envoy says that the call has ended, and its sidecar says nothing. `shown`: the client is known to have seen this receipt.
 * `pending`: the call runs; the receipt is what it gets if nobody finishes it. `made`: its sidecar has reported it. `closed`: the lease of
 * its sidecar has ended, as the control plane has found.
 */
export const states = ['left', 'shown', 'pending', 'made', 'closed'] as const;
export type EntryState = (typeof states)[number];

/** The columns of its row. */
export interface EntryColumns {
  readonly id: string;
  readonly version: number;
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
}

/** JSON texts; null: there is none. */
export interface EntryTexts {
  readonly receipt: string;
  readonly trace: string | null;
  readonly facts: string | null;
  /** Counts in the budgets of the call where its receipt has no number. */
  readonly assumed: string | null;
}

export interface EntryContent extends EntryColumns, EntryTexts {}

/** An entry whose code is right. */
export interface OpenedEntry extends EntryContent {
  readonly state: EntryState;
  /** The time in the id, ms since 1970. */
  readonly time: number;
  /** Whether an earlier key has sealed it. */
  readonly byEarlierKey: boolean;
}

const format = 1;
export const codeBytes = 16;
export const [stateAt, keyAt] = [1, 2] as const;
const [idAt, versionAt, numbersAt] = [4, 20, 22] as const;
const numberNames = ['prompt_tokens', 'completion_tokens', 'energy_wh', 'carbon_g'] as const;
const nameNames = ['account_id', 'key_id', 'endpoint', 'model', 'region', 'tier', 'status'] as const;
const textNames = ['receipt', 'trace', 'facts', 'assumed'] as const;
const nameLengthsAt = numbersAt + 8 * numberNames.length;
const textLengthsAt = nameLengthsAt + 2 * nameNames.length;
export const headBytes = textLengthsAt + 4 * textNames.length;

const idPrefix = 'rcpt_';

function idOf(entry: Buffer): string {
  const hex = entry.toString('hex', idAt, idAt + 16);
  return `${idPrefix}${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

export const hasHead = (entry: Buffer): boolean => entry.length >= headBytes + codeBytes && entry[0] === format;

/** How many an entry takes at most: a character of a text takes three. */
export function mostBytes({ account_id, endpoint, key_id, model, region, ...more }: EntryContent): number {
  const names = account_id.length + key_id.length + endpoint.length + model.length + lengthOf(region);
  const words = more.tier.length + more.status.length;
  const texts = more.receipt.length + lengthOf(more.trace) + lengthOf(more.facts) + lengthOf(more.assumed);
  return headBytes + codeBytes + 3 * (names + words + texts);
}

const lengthOf = (text: string | null): number => (text === null ? 0 : text.length);

/**
 * Writes head, names and texts, but for state and number of the key. Returns where they end. Each call of the gateway waits for it, so
 * it names each field, and writes the names at once.
 */
export function writeEntry(bytes: Buffer, from: number, content: EntryContent): number {
  const { account_id, endpoint, id, key_id, model, region, status, tier, version } = content;
  bytes[from] = format;
  if (bytes.write(id.slice(idPrefix.length).replaceAll('-', ''), from + idAt, 'hex') !== 16)
    throw new Error('An entry is of a receipt with an id.');
  bytes.writeUInt16BE(version, from + versionAt);
  const at = from + numbersAt;
  bytes.writeDoubleBE(content.prompt_tokens ?? Number.NaN, at);
  bytes.writeDoubleBE(content.completion_tokens ?? Number.NaN, at + 8);
  bytes.writeDoubleBE(content.energy_wh ?? Number.NaN, at + 16);
  bytes.writeDoubleBE(content.carbon_g ?? Number.NaN, at + 24);
  const names = [account_id, key_id, endpoint, model, region === null ? '' : region, tier, status];
  const together = names.join('');
  let end = from + headBytes;
  const written = bytes.write(together, end);
  end += written;
  // Letters beyond ASCII take more bytes than one.
  const isPlain = written === together.length;
  let lengthAt = from + nameLengthsAt;
  for (const name of names) lengthAt = bytes.writeUInt16BE(isPlain ? name.length : Buffer.byteLength(name), lengthAt);
  for (const text of [content.receipt, content.trace, content.facts, content.assumed]) {
    const length = text === null ? 0 : bytes.write(text, end);
    lengthAt = bytes.writeUInt32BE(length, lengthAt);
    end += length;
  }
  return end;
}

/** The names that an entry bears, whether or not they are true; null if it is none. */
export function namesOf(entry: Buffer): Pick<EntryColumns, 'id' | 'account_id'> | null {
  if (!hasHead(entry)) return null;
  const account_id = entry.toString('utf8', headBytes, headBytes + entry.readUInt16BE(nameLengthsAt));
  return { id: idOf(entry), account_id };
}

/** The id that an entry bears; null if it is none. */
export const receiptIdOf = (entry: Buffer): string | null => (hasHead(entry) ? idOf(entry) : null);

/** Whether an entry says that its client has seen the receipt. */
export const isShown = (entry: Buffer): boolean => hasHead(entry) && entry[stateAt] === states.indexOf('shown');

/** As the head says that begins at `from`. */
export function lengthsOf(bytes: Buffer, from: number): { readonly names: number; readonly texts: number } {
  let [names, texts] = [0, 0];
  for (let at = 0; at < nameNames.length; at += 1) names += bytes.readUInt16BE(from + nameLengthsAt + 2 * at);
  for (let at = 0; at < textNames.length; at += 1) texts += bytes.readUInt32BE(from + textLengthsAt + 4 * at);
  return { names, texts };
}

export function readEntry(entry: Buffer, state: EntryState, byEarlierKey: boolean): OpenedEntry {
  let from: number = headBytes;
  const text = (length: number): string => {
    from += length;
    return entry.toString('utf8', from - length, from);
  };
  const name = (at: number): string => text(entry.readUInt16BE(nameLengthsAt + 2 * at));
  const json = (at: number): string => text(entry.readUInt32BE(textLengthsAt + 4 * at));
  const number = (at: number): number | null => {
    const value = entry.readDoubleBE(numbersAt + 8 * at);
    return Number.isNaN(value) ? null : value;
  };
  // In the order in which they stand.
  return {
    state,
    byEarlierKey,
    id: idOf(entry),
    time: entry.readUIntBE(idAt, 6),
    version: entry.readUInt16BE(versionAt),
    prompt_tokens: number(0),
    completion_tokens: number(1),
    energy_wh: number(2),
    carbon_g: number(3),
    account_id: name(0),
    key_id: name(1),
    endpoint: name(2),
    model: name(3),
    region: name(4) || null,
    tier: name(5),
    status: name(6),
    receipt: json(0),
    trace: json(1) || null,
    facts: json(2) || null,
    assumed: json(3) || null,
  };
}
