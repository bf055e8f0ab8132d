/** Secrets under numbers, so that one can take the place of another: what was sealed names the number of its key. */
import { hexKeyExample, type SettingReader } from './environment.ts';

export interface NumberedKey {
  /** From 1 to 32767. */
  readonly id: number;
  readonly secret: Buffer;
}

export interface KeyRing {
  /** Seals. */
  readonly current: NumberedKey;
  /** Check what was sealed by them. */
  readonly others: readonly NumberedKey[];
}

/** The names of the settings of a key and of its number. */
interface KeyNames {
  readonly key: string;
  readonly id: string;
}

/** Reads a key and its number. What is wrong is reported to `settings`. */
export function readNumberedKey(settings: SettingReader, names: KeyNames): NumberedKey {
  const read = readBoth(settings, names);
  if (!isNumber(read.id)) settings.problem(`${names.id} is not from 1 to 32767. Example: ${names.id}=2`);
  return read;
}

/** Reads the same and the keys of a list, as `1:<key>,2:<key>`. */
export function readKeyRing(settings: SettingReader, names: KeyNames & { readonly previous: string }): KeyRing {
  const current = readBoth(settings, names);
  const others = readOthers(settings, names.previous);
  const ids = [current, ...others].map(({ id }) => id);
  if (!ids.every(isNumber) || new Set(ids).size < ids.length)
    settings.problem(
      `${names.id} and the numbers in ${names.previous} are not from 1 to 32767, each once. Example: ${names.id}=2`,
    );
  return { current, others };
}

const readBoth = (settings: SettingReader, { id, key }: KeyNames): NumberedKey => ({
  secret: settings.hexKey(key),
  id: settings.integer(id, 1),
});

const isNumber = (id: number): boolean => id >= 1 && id <= 32_767;

function readOthers(settings: SettingReader, list: string): NumberedKey[] {
  const text = settings.optional(list, '');
  if (text === '') return [];
  return text.split(',').map((part) => {
    const [, id, key] = /^\s*(\d{1,5}):([0-9a-f]{64})\s*$/i.exec(part) ?? [];
    if (id !== undefined && key !== undefined) return { id: Number(id), secret: Buffer.from(key, 'hex') };
    settings.problem(`${list} does not have the right form. Example: ${list}=1:${hexKeyExample}`);
    return { id: Number.NaN, secret: Buffer.alloc(0) };
  });
}
