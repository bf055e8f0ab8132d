/** `./gw admin catalogue export|diff|import`: the whole catalogue as one YAML file, for whoever keeps it in git. */
import { Problem } from '@gw/stack/problem';
import { isNode, LineCounter, parseDocument, stringify } from 'yaml';
import { z } from 'zod';
import { ApiRefusal } from './api.ts';
import type { AdminCall, AdminCommand, AdminResult } from './command.ts';
import { readTextFile } from './text-file.ts';

const path = '/operator/v1/catalogue';
const heading =
  '# The catalogue of the gateway. ./gw admin catalogue diff shows what it would change, … import applies it.\n' +
  '# docs/catalogue.md says what the fields mean, docs/gw.schema.json tells it to editors.\n';

const fields = z.record(z.string(), z.unknown()).nullable();
const importSchema = z.object({
  dry_run: z.boolean(),
  changes: z.array(
    z.object({ kind: z.string(), id: z.string(), before: fields, after: fields, warnings: z.array(z.string()) }),
  ),
});
type Change = z.infer<typeof importSchema>['changes'][number];

/** Throws a Problem that names file, line and column at the first thing that is no YAML. */
function readYaml(file: string) {
  const lines = new LineCounter();
  const document = parseDocument(readTextFile(file), { lineCounter: lines, prettyErrors: false });
  const at = (offset: number): string => {
    const { col, line } = lines.linePos(offset);
    return `${file}:${line}:${col}`;
  };
  const [broken] = document.errors;
  if (broken !== undefined) throw new Problem(`${at(broken.pos[0])}: ${broken.message}`);
  const value = plainValue(document, at);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Problem(`${at(0)}: holds no catalogue: ./gw admin catalogue export shows what one looks like.`);
  /** Where the field is, or what it should be in. */
  const placeOf = (param: string): string => {
    const names = [...param.matchAll(/\[(\d+)\]|[^.[\]]+/g)].map(([name, index]) => (index ? Number(index) : name));
    for (; names.length > 0; names.pop()) {
      const node = document.getIn(names, true);
      if (isNode(node) && node.range) return at(node.range[0]);
    }
    return at(0);
  };
  return { value, placeOf };
}

function plainValue(document: ReturnType<typeof parseDocument>, at: (offset: number) => string): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch {
    throw new Problem(`${at(0)}: refers to itself, or repeats more than a catalogue does.`);
  }
}

async function send({ api, arg }: AdminCall, isDryRun: boolean): Promise<AdminResult> {
  const file = arg(0);
  const { placeOf, value } = readYaml(file);
  const reply = await api
    .send('PUT', `${path}?dry_run=${isDryRun}`, value)
    .catch((error: unknown) => Promise.reject(withPlace(error, file, placeOf)));
  const { changes } = importSchema.parse(reply);
  const warnings = changes.flatMap(({ id, warnings }) => warnings.map((each) => `Warning: ${id}: ${each}\n`));
  const next = isDryRun && changes.length > 0 ? `To apply it: ./gw admin catalogue import ${file}\n` : '';
  return { value: reply, text: differenceText(changes), note: warnings.join('') + next };
}

function withPlace(error: unknown, file: string, placeOf: (param: string) => string): unknown {
  if (!(error instanceof ApiRefusal)) return error;
  // Another server's answer, or none, says nothing of what has become of it.
  if (!error.isRefusal) return error;
  return new Problem(`${error.param === null ? file : placeOf(error.param)}: ${error.message} Nothing was changed.`);
}

/** `+` added, `~` changed, `-` removed. */
function differenceText(changes: readonly Change[]): string {
  const count = { added: 0, changed: 0, removed: 0 };
  const lines = changes.flatMap(({ after, before, id, kind }) => {
    const verb = before === null ? 'added' : after === null ? 'removed' : 'changed';
    count[verb] += 1;
    const sign = { added: '+', changed: '~', removed: '-' }[verb];
    const shown = Object.entries(after ?? {}).filter(([field, value]) => before !== null || isTold(field, value));
    return [
      `${sign} ${kind} ${id}`,
      ...shown.map(([field, value]) =>
        before === null
          ? `    ${field}: ${textOf(value)}`
          : `    ${field}: ${textOf(before[field])} → ${textOf(value)}`,
      ),
    ];
  });
  const sum = `${count.added} added, ${count.changed} changed, ${count.removed} removed.`;
  return `${[...lines, changes.length === 0 ? 'Nothing differs.' : sum].map(onOneLine).join('\n')}\n`;
}

const isTold = (field: string, value: unknown): boolean =>
  value !== null && !['id', 'code', 'object', 'created_at'].includes(field);
const textOf = (value: unknown): string =>
  value === null || value === undefined ? 'none' : typeof value === 'string' ? value : JSON.stringify(value);
/** A terminal obeys control characters; whoever names an entry must not command it. */
const onOneLine = (line: string): string => line.replace(/[\p{Cc}\p{Cf}]/gu, '\u{FFFD}');

export const catalogueFileCommands: readonly AdminCommand[] = [
  {
    name: 'catalogue export',
    args: [],
    options: {},
    summary: 'print the whole catalogue as YAML: > gw.yaml',
    run: async ({ api }) => {
      const value = await api.get(path);
      return { value, text: heading + stringify(value, { lineWidth: 120, compat: 'yaml-1.1' }) };
    },
  },
  {
    name: 'catalogue diff',
    args: ['file'],
    options: {},
    summary: 'check a file as a whole and print what it would change; changes nothing',
    run: (call) => send(call, true),
  },
  {
    name: 'catalogue import',
    args: ['file'],
    options: {},
    summary: 'make the catalogue what the file says: entries that a section does not name are removed',
    run: (call) => send(call, false),
  },
];
