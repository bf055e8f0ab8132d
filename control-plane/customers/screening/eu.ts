/**
 * The consolidated list of persons, groups and entities under financial sanctions of the European Union, as the XML and
 * the CSV export of version 1.1 (https://data.europa.eu, "Consolidated Financial Sanctions File 1.1").
 *
 * Invariant: what does not fit the form is a ListError. The CSV export has no end mark: cut between two rows it looks
 * whole, so the operator has to state the least numbers of entries and names; the XML export ends with its root
 * element.
 */
import { z } from 'zod';
import { CsvRecords } from './csv.ts';
import { counting, fileSource, type ListContent, ListError, type OnName, readBytes } from './list-stream.ts';
import { decodeEntities, XmlEntries } from './xml-entries.ts';

const aliasSchema = z.object({
  wholeName: z.string().optional(),
  firstName: z.string().optional(),
  middleName: z.string().optional(),
  lastName: z.string().optional(),
});
const entitySchema = z.object({ logicalId: z.string().regex(/^\d+$/), nameAlias: z.array(aliasSchema).min(1) });

const wholeNameOf = ({ wholeName, firstName, middleName, lastName }: z.infer<typeof aliasSchema>): string =>
  (wholeName?.trim() || [firstName, middleName, lastName].filter(Boolean).join(' ')).trim();

/** Calls `onName` for every name. Throws a ListError if the file cannot be read, is not whole or has another form. */
export async function readEuXml(path: string, onName: OnName): Promise<ListContent> {
  let entries = 0;
  const counted = counting(onName);
  const form = { root: 'export', entry: 'sanctionEntity', lists: ['nameAlias'] };
  const xml = new XmlEntries(form, (entity) => {
    const parsed = entitySchema.safeParse(entity);
    const names = parsed.success ? parsed.data.nameAlias.map(wholeNameOf).map(decodeEntities).filter(Boolean) : [];
    if (!parsed.success || names.length === 0) throw new ListError('has an entry without number or name');
    for (const name of names) counted.onName({ entryId: parsed.data.logicalId, name });
    entries += 1;
  });
  const file = await readBytes(fileSource(path), xml);
  const [, date] = /\sgenerationDate="(\d{4}-\d\d-\d\d)T/.exec(xml.head) ?? [];
  if (date === undefined) throw new ListError(`${file.name} states no date`);
  return { date, entries, files: [{ ...file, names: counted.names() }] };
}

const columns = {
  date: 'fileGenerationDate',
  id: 'Entity_LogicalId',
  whole: 'NameAlias_WholeName',
  first: 'NameAlias_FirstName',
  middle: 'NameAlias_MiddleName',
  last: 'NameAlias_LastName',
} as const;

/** Calls `onName` for every name. Throws a ListError if the file cannot be read or has another form. */
export async function readEuCsv(path: string, onName: OnName): Promise<ListContent> {
  const ids = new Set<string>();
  const named = new Set<string>();
  const counted = counting(onName);
  let header: readonly string[] | null = null;
  let date: string | null = null;
  const records = new CsvRecords(';', (fields) => {
    if (header === null) {
      header = fields.map((field) => field.replace(/^\ufeff/, ''));
      const missing = [columns.date, columns.id, columns.whole].filter((column) => !header?.includes(column));
      if (missing.length > 0) throw new ListError(`has no column ${missing.join(', ')}`);
      return;
    }
    if (fields.length !== header.length)
      throw new ListError(`has a record of ${fields.length} fields instead of ${header.length}`);
    const names = header;
    const field = (column: keyof typeof columns): string => fields[names.indexOf(columns[column])] ?? '';
    const id = field('id');
    if (!/^\d+$/.test(id)) throw new ListError('has a record without the number of its entry');
    date ??= isoDate(field('date'));
    ids.add(id);
    // Rows for addresses and birthdays repeat the entry without a name.
    const name = field('whole') || [field('first'), field('middle'), field('last')].filter(Boolean).join(' ');
    if (name === '') return;
    named.add(id);
    counted.onName({ entryId: id, name });
  });
  const file = await readBytes(fileSource(path), records);
  if (named.size < ids.size || ids.size === 0) throw new ListError(`${file.name} has entries without a name, or none`);
  if (date === null) throw new ListError(`${file.name} states no date`);
  return { date, entries: ids.size, files: [{ ...file, names: counted.names() }] };
}

/** Reads `05/08/2026` (5 August) or `2026-08-05`; null for anything else. */
function isoDate(text: string): string | null {
  const [, day, month, year] = /^(\d\d)\/(\d\d)\/(\d{4})$/.exec(text) ?? [];
  if (year !== undefined) return `${year}-${month}-${day}`;
  return /^\d{4}-\d\d-\d\d/.exec(text)?.[0] ?? null;
}
