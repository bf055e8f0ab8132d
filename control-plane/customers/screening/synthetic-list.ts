/**
 * The plain form of a list, for lists that come in no form of their own (dual-use lists, an own block list), and the
 * list of invented names for trials and tests. Whoever bears such a name in truth is meant by nobody.
 *
 * The form: CSV in UTF-8 with the columns `id,name`, one row for each name; aliases repeat the id. The last row is
 * `end,<number of ids>`, so that a cut file is found.
 */
import { CsvRecords } from './csv.ts';
import {
  type ByteSource,
  counting,
  fileSource,
  type ListContent,
  ListError,
  type OnName,
  readBytes,
} from './list-stream.ts';

const syntheticList = `id,name
synthetic-1,"Borealis Munitions Ltd."
synthetic-1,"Borealis Arms & Munitions"
synthetic-2,"Zarya Metall OOO"
synthetic-2,"ООО Заря Металл"
synthetic-3,"PETRUNOV, Igor Sergeyevich"
synthetic-3,"Игорь Петрунов"
synthetic-4,"al-Rashidani, Muhammad"
synthetic-5,"Corvina Centrifuge Works"
end,5
`;

/** Reads a list in the plain form. Throws a ListError if it does not end with its last row, or has another form. */
export const readNamesCsv = (path: string, onName: OnName): Promise<ListContent> =>
  readNames(fileSource(path), null, onName);

export const readSynthetic = (onName: OnName): Promise<ListContent> =>
  readNames({ name: 'synthetic', chunks: onePiece(syntheticList) }, '2026-01-01', onName);

async function* onePiece(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

async function readNames(source: ByteSource, date: string | null, onName: OnName): Promise<ListContent> {
  const ids = new Set<string>();
  const counted = counting(onName);
  let rows = 0;
  let stated: number | null = null;
  const records = new CsvRecords(',', (fields) => {
    const [id = '', name = ''] = fields;
    rows += 1;
    if (rows === 1) {
      if (fields.join(',').replace(/^\ufeff/, '') !== 'id,name') throw new ListError('does not begin with id,name');
    } else if (stated !== null) throw new ListError('goes on after its end');
    else if (fields.length !== 2 || id === '' || name === '')
      throw new ListError(`has no id and name in record ${rows}`);
    else if (id === 'end') stated = Number(name);
    else {
      ids.add(id);
      counted.onName({ entryId: id, name });
    }
  });
  const file = await readBytes(source, records);
  if (stated !== ids.size) throw new ListError(`${file.name} does not end with end,${ids.size}: it is not whole`);
  return { date, entries: ids.size, files: [{ ...file, names: counted.names() }] };
}
