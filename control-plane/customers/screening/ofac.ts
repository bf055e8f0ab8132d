/**
 * The list of Specially Designated Nationals of the US Treasury, in the two forms that are read here: the three CSV
 * files (sdn.csv, with alt.csv and add.csv beside it; data specification of 2023-09-25) and the XML file sdn.xml.
 *
 * Invariant: what does not fit the form is a ListError. The CSV files have no end mark; that one of the three was cut
 * is found by its references to the others, and by the least numbers of entries and names, which the operator has to
 * state. Aliases that the list itself calls weak are not compared: they are single words that many people go by.
 */
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { CsvRecords } from './csv.ts';
import {
  counting,
  type FileVersion,
  fileSource,
  type ListContent,
  ListError,
  type OnName,
  readBytes,
} from './list-stream.ts';
import { decodeEntities, XmlEntries } from './xml-entries.ts';

/** Reads sdn.csv at `path`, and alt.csv and add.csv beside it. Throws a ListError if one is missing or does not fit. */
export async function readOfacCsv(path: string, onName: OnName): Promise<ListContent> {
  const ids = new Set<string>();
  const beside = (name: string): string => {
    const own = path.slice(dirname(path).length).replace(/^[\\/]/, '');
    // As the main file is written: sdn.csv or SDN.CSV.
    return join(dirname(path), own === own.toUpperCase() ? name.toUpperCase() : name);
  };
  const main = await readTable(path, 12, onName, ([id = '', name = ''], onName) => {
    if (!/^\d+$/.test(id) || isNull(name)) throw new ListError('has an entry without number or name');
    if (ids.has(id)) throw new ListError('has a number twice');
    ids.add(id);
    onName({ entryId: id, name });
  });
  const checkId = (id: string): void => {
    if (!ids.has(id))
      throw new ListError(`names the entry ${id.slice(0, 20)}, which ${main.name} has not: one is not whole`);
  };
  const aliases = await readTable(beside('alt.csv'), 5, onName, ([id = '', , , name = ''], onName) => {
    checkId(id);
    if (!isNull(name)) onName({ entryId: id, name });
  });
  const addresses = await readTable(beside('add.csv'), 6, onName, ([id = '']) => checkId(id));
  return { date: null, entries: ids.size, files: [main, aliases, addresses] };
}

const isNull = (field: string): boolean => field === '' || field === '-0-';

async function readTable(
  path: string,
  columns: number,
  onName: OnName,
  take: (row: readonly string[], onName: OnName) => void,
): Promise<FileVersion> {
  const counted = counting(onName);
  let rows = 0;
  const records = new CsvRecords(',', (fields) => {
    if (fields.length === 1 && fields[0] === '\u001a') return;
    if (fields.length !== columns) throw new ListError(`has a record of ${fields.length} fields instead of ${columns}`);
    rows += 1;
    take(fields, counted.onName);
  });
  const file = await readBytes(fileSource(path), records);
  // Each of the three has records as long as the list has any entry; an empty one is a download that failed.
  if (rows === 0) throw new ListError(`${file.name} has no record`);
  return { ...file, names: counted.names() };
}

const name = z.object({ firstName: z.string().optional(), lastName: z.string().optional() });
const entrySchema = z.object({
  ...name.shape,
  uid: z.string().regex(/^\d+$/),
  akaList: z
    .union([z.literal(''), z.object({ aka: z.array(name.extend({ category: z.string().optional() })) })])
    .optional(),
});

const nameOf = ({ firstName, lastName }: z.infer<typeof name>): string =>
  decodeEntities([firstName, lastName].filter(Boolean).join(' ')).trim();

/** Calls `onName` for every name that is not weak. Throws a ListError if the file is not whole or has another form. */
export async function readOfacXml(path: string, onName: OnName): Promise<ListContent> {
  let entries = 0;
  const counted = counting(onName);
  const form = { root: 'sdnList', entry: 'sdnEntry', lists: ['aka'] };
  const xml = new XmlEntries(form, (entry) => {
    const parsed = entrySchema.safeParse(entry);
    const own = parsed.success ? nameOf(parsed.data) : '';
    if (!parsed.success || own === '') throw new ListError('has an entry without number or name');
    const { uid, akaList } = parsed.data;
    counted.onName({ entryId: uid, name: own });
    for (const alias of akaList ? akaList.aka : [])
      if (alias.category !== 'weak' && nameOf(alias) !== '') counted.onName({ entryId: uid, name: nameOf(alias) });
    entries += 1;
  });
  const file = await readBytes(fileSource(path), xml);
  const { head } = xml;
  const [, month, day, year] = /<Publish_Date>(\d\d)\/(\d\d)\/(\d{4})<\/Publish_Date>/.exec(head) ?? [];
  const [, count] = /<Record_Count>(\d+)<\/Record_Count>/.exec(head) ?? [];
  if (year === undefined || count === undefined)
    throw new ListError(`${file.name} states no date or no number of entries`);
  if (Number(count) !== entries) throw new ListError(`${file.name} has ${entries} entries and states ${count}`);
  return { date: `${year}-${month}-${day}`, entries, files: [{ ...file, names: counted.names() }] };
}
