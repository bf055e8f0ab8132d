/**
 * Names that a record was hashed with in a hidden form, by where they stand (JSON pointer, RFC 6901). A reader sees the names; whoever verifies
 * puts the hidden ones back.
 */

/** JSON pointer → the text as it was hashed. */
export type HiddenNames = Readonly<Record<string, string>>;

/** Replaces each string of a JSON value. */
export function mapStrings(value: unknown, map: (text: string, pointer: string) => string, pointer = ''): unknown {
  if (typeof value === 'string') return map(value, pointer);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((inner, at) => mapStrings(inner, map, `${pointer}/${at}`));
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, mapStrings(inner, map, `${pointer}/${escaped(name)}`)]),
  );
}

const escaped = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1');

/** Returns the record as it was hashed. */
export function asHashed<T extends object>({ hidden, ...record }: T & { readonly hidden?: HiddenNames | undefined }) {
  if (hidden === undefined) return record;
  const names = new Map(Object.entries(hidden));
  return mapStrings(record, (text, pointer) => names.get(pointer) ?? text) as typeof record;
}
