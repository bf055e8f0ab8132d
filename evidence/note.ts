/**
 * Signed notes (https://c2sp.org/signed-note) with signatures and cosignatures (https://c2sp.org/tlog-cosignature) of Ed25519 keys.
 *
 * Invariant: a line counts only for a key that the reader has from elsewhere, and anything can be read without an exception.
 */
import { bytesOfHex, Sha256 } from '#sha256';

/** The byte that tells what a key signs: the text of a note, or that text with a time in front of it. */
export const keyTypes = { signature: 1, cosignature: 4 } as const;
type KeyType = (typeof keyTypes)[keyof typeof keyTypes];

export interface NoteKey {
  readonly name: string;
  readonly type: KeyType;
  /** 32 bytes. */
  readonly key: Uint8Array;
}

/** A line behind the text of a note. */
export interface NoteLine {
  readonly name: string;
  /** Eight hexadecimal digits. */
  readonly keyId: string;
  readonly signature: Uint8Array;
}

/** Whether a text can be the name of a key, or the origin of a log. */
export const isNoteName = (text: unknown): text is string =>
  typeof text === 'string' && text.isWellFormed() && /^[^\s+\p{Cc}]+$/u.test(text);

export const base64Of = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes));

/** Null: this is not base64, or not as it is written. */
function bytesOfBase64(text: string): Uint8Array<ArrayBuffer> | null {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text) || text.length % 4 !== 0) return null;
  const bytes = Uint8Array.from(atob(text), (each) => each.charCodeAt(0));
  // Other last characters would stand for the same bytes.
  return base64Of(bytes) === text ? bytes : null;
}

const hexOf = (bytes: Uint8Array): string => Array.from(bytes, (each) => each.toString(16).padStart(2, '0')).join('');

export const keyIdOf = ({ key, name, type }: NoteKey): string =>
  new Sha256().update(`${name}\n`).update(Uint8Array.of(type)).update(key).hex().slice(0, 8);

export const vkeyOf = (key: NoteKey): string =>
  `${key.name}+${keyIdOf(key)}+${base64Of(Uint8Array.of(key.type, ...key.key))}`;

/** Reads `<name>+<key id>+<type and key in base64>`. Null: it is none, or not of an Ed25519 key. */
export function noteKeyIn(vkey: string): NoteKey | null {
  const [name = '', keyId = '', ...rest] = vkey.split('+');
  const bytes = bytesOfBase64(rest.join('+'));
  const type = Object.values(keyTypes).find((each) => each === bytes?.[0]);
  if (bytes === null || type === undefined || bytes.length !== 33 || !isNoteName(name)) return null;
  const key = { name, type, key: bytes.slice(1) };
  return keyIdOf(key) === keyId ? key : null;
}

export const noteLine = (key: NoteKey, signature: Uint8Array): string =>
  `— ${key.name} ${base64Of(Uint8Array.of(...bytesOfHex(keyIdOf(key)), ...signature))}\n`;

/** No honest note has more lines. */
const mostLines = 100;

/** Reads the lines of signatures, each with its line feed. Null: there are none, or something else is among them. */
export function noteLinesIn(text: string): NoteLine[] | null {
  const lines = text.split('\n');
  if (lines.pop() !== '' || lines.length === 0 || lines.length > mostLines) return null;
  const read = lines.flatMap((line) => lineIn(line) ?? []);
  return read.length === lines.length ? read : null;
}

function lineIn(line: string): NoteLine | null {
  const [dash, name, encoded = '', ...rest] = line.split(' ');
  const bytes = bytesOfBase64(encoded);
  if (dash !== '—' || !isNoteName(name) || bytes === null || bytes.length < 5 || rest.length > 0) return null;
  return { name, keyId: hexOf(bytes.subarray(0, 4)), signature: bytes.slice(4) };
}

/** The lines that a key is to be asked about: those of its name and id. */
export function linesBy(lines: readonly NoteLine[], key: NoteKey): NoteLine[] {
  const keyId = keyIdOf(key);
  return lines.filter((line) => line.name === key.name && line.keyId === keyId);
}

export const signatureFits = (text: string, { signature }: NoteLine, { key }: NoteKey): Promise<boolean> =>
  verifies(key, signature, text);

async function verifies(key: Uint8Array, signature: Uint8Array, text: string): Promise<boolean> {
  const imported = await crypto.subtle.importKey('raw', Uint8Array.from(key), 'Ed25519', false, ['verify']);
  return crypto.subtle.verify('Ed25519', imported, Uint8Array.from(signature), new TextEncoder().encode(text));
}
