/** Makes room for one more entry in a Map or Set of at most `capacity`. Returns the key of the entry that it dropped. */
export function dropOldest<Key>(
  entries: { readonly size: number; keys(): Iterator<Key>; delete(key: Key): boolean },
  capacity: number,
): Key | undefined {
  if (entries.size < capacity) return undefined;
  const oldest = entries.keys().next();
  if (oldest.done) return undefined;
  entries.delete(oldest.value);
  return oldest.value;
}
