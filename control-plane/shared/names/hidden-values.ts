/** Opens the hidden names inside of JSON values. */
import { type HiddenNames, mapStrings } from '@gw/contract/internal/hidden-names';
import type { Queryable } from '@gw/prisma/client';
import { isHidden, type NameOpener, openNames } from './names.ts';

/** A record that is read, and its names as they were hashed; none if it has no hidden name. */
export type OpenedRecord<T> = T & { readonly hidden?: HiddenNames };

function openedRecord<T extends object>(record: T, open: NameOpener): OpenedRecord<T> {
  const hidden: Record<string, string> = {};
  const shown = mapStrings(record, (text, pointer) => {
    if (!isHidden(text)) return text;
    hidden[pointer] = text;
    return open(text);
  }) as T;
  return Object.keys(hidden).length === 0 ? record : { ...shown, hidden };
}

/** Opens the names of records of JSON, all with one look at the keys. */
export async function openedRecords<T extends object>(
  db: Queryable,
  records: readonly T[],
): Promise<OpenedRecord<T>[]> {
  const texts: string[] = [];
  const note = (text: string): string => {
    if (isHidden(text)) texts.push(text);
    return text;
  };
  for (const record of records) mapStrings(record, note);
  const open = await openNames(db, texts);
  return records.map((record) => openedRecord(record, open));
}
