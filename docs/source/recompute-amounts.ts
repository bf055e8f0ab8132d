/** The lists of numbers in docs/examples/recompute_words.py, from the schema of the receipt. */
import { receiptSchema } from '@gw/contract/receipt';
import { amounts } from '@gw/methodology/amounts';

const takes = (field: (typeof amounts)[number], value: null | undefined): boolean =>
  receiptSchema.shape[field].safeParse(value).success;

/** No step gives them, so the file states them by itself. */
const steps = amounts.filter((field) => !field.startsWith('energy_failed_attempts_'));
const lists = {
  AMOUNTS: steps.filter((field) => !takes(field, undefined)),
  OWN_AMOUNTS: steps.filter((field) => takes(field, undefined) && takes(field, null)),
};

/** The text of the file with its lists made anew. */
export function withAmounts(text: string): string {
  let filled = text;
  for (const [name, fields] of Object.entries(lists))
    filled = filled.replace(new RegExp(`^${name} = ("""[^"]*"""|"")$`, 'm'), `${name} = """${wrapped(fields)}"""`);
  return filled;
}

function wrapped(fields: readonly string[]): string {
  const lines: string[] = [];
  let line = '';
  for (const field of fields) {
    if (line !== '' && line.length + field.length > 110) {
      lines.push(line);
      line = field;
    } else line = line === '' ? field : `${line} ${field}`;
  }
  return [...lines, line].join('\n');
}
