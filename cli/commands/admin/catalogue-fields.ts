/** How the fields of the catalogue are typed in a shell, and shown to people in the same form. */
import { type AliasTarget, aliasFields } from '@gw/contract/internal/catalogue/alias-fields';
import { deploymentFields } from '@gw/contract/internal/catalogue/deployment-fields';
import type { Evidence } from '@gw/contract/internal/catalogue/evidence';
import type { CatalogueField, FieldTable } from '@gw/contract/internal/catalogue/field';
import { modelFields } from '@gw/contract/internal/catalogue/model-fields';
import { providerFields } from '@gw/contract/internal/catalogue/provider-fields';
import { regionFields } from '@gw/contract/internal/catalogue/region-fields';
import { Problem } from '@gw/stack/problem';
import type { TableRow } from './table.ts';
import { readTextFile } from './text-file.ts';

/** `option`: its name, for the complaint. Throws a Problem that shows how it is written. */
type Read = (text: string, option: string) => unknown;

export interface ShellField {
  readonly option: string;
  /** In the operator API. */
  readonly field: string;
  readonly help: string;
  readonly read: Read;
  /** Whether an entry cannot be added without it. */
  readonly needed: boolean;
}

export interface CatalogueGroup {
  /** `models`: the word in the shell and in the path. */
  readonly name: string;
  /** `a model`, of which the last word is that for one. */
  readonly one: string;
  readonly idField: 'id' | 'code';
  readonly fields: readonly ShellField[];
  readonly columns: readonly string[];
  /** As people read it. */
  readonly shown: (entry: TableRow) => TableRow;
}

const text: Read = (given) => given;

const number: Read = (given, option) => {
  if (!/^\d+(\.\d+)?$/.test(given)) throw new Problem(`--${option} takes a number, for example --${option} 1.5.`);
  return Number(given);
};

export const yesOrNo: Read = (given, option) => {
  if (given !== 'yes' && given !== 'no') throw new Problem(`--${option} takes yes or no.`);
  return given === 'yes';
};

const words: Read = (given) => given.split(',').map((word) => word.trim());

/** `8`, or `30-40` where only a range is known. */
const parameters: Read = (given, option) => {
  const [, min, max] = /^(\d+(?:\.\d+)?)(?:-(\d+(?:\.\d+)?))?$/.exec(given) ?? [];
  if (min === undefined) throw new Problem(`--${option} takes billions of parameters: --${option} 8, or 30-40.`);
  return { min: Number(min), max: Number(max ?? min) };
};

const accelerators: Read = (given, option) => {
  const [, count, model] = /^(\d+) ?x ?(\S.*)$/.exec(given) ?? [];
  if (model === undefined) throw new Problem(`--${option} takes count and model: --${option} "8 x H100".`);
  return { model, count: Number(count) };
};

/** Kind, period if there is one, and source. */
const evidence: Read = (given, option) => {
  const [, kind, period, source] = /^(\S+)\s+(?:(\d\S*\/\d\S*)\s+)?(\S.*)$/.exec(given) ?? [];
  if (kind === undefined)
    throw new Problem(
      `--${option} takes kind, period and source: --${option} "reported 2025-01-01/2026-01-01 https://…".`,
    );
  return { kind, source, period: period ?? null };
};

/** `name=value,…`; without a value: null. */
const pairs: Read = (given, option) =>
  Object.fromEntries(
    given.split(',').map((pair) => {
      const [, name, value] = /^\s*([^=\s]+)\s*=\s*(.*?)\s*$/.exec(pair) ?? [];
      if (name === undefined) throw new Problem(`--${option} takes name=value, separated by commas.`);
      return [name, value === '' ? null : value];
    }),
  );

/** The name of a file, whose text is the value. */
const file: Read = (given) => readTextFile(given);

/** `model=provider,model,…` */
const targets: Read = (given) =>
  given.split(',').map((each) => {
    const [model = '', ...provider] = each.trim().split('=');
    return provider.length === 0 ? { model } : { model, provider: provider.join('=') };
  });

/** `none` means that the value is unknown, or no longer known. */
const orNone =
  (read: Read): Read =>
  (given, option) =>
    given === 'none' ? null : read(given, option);

const readers: Readonly<Record<Exclude<CatalogueField['form'], undefined | 'offers'>, Read>> = {
  number,
  yes_or_no: yesOrNo,
  words,
  range: parameters,
  accelerators,
  evidence,
  pairs,
  file,
  targets,
};

const rangeText = ({ max, min }: { readonly min: number; readonly max: number }) =>
  min === max ? min : `${min}-${max}`;

/** A value as it is typed; what has no form of its own stays. */
function shownValue(value: unknown, form: CatalogueField['form']): unknown {
  if (value === null || value === undefined) return value;
  switch (form) {
    case 'words':
      return (value as readonly string[]).join(',');
    case 'range':
      return rangeText(value as Parameters<typeof rangeText>[0]);
    case 'accelerators': {
      const { count, model } = value as { readonly count: number; readonly model: string };
      return `${count} x ${model}`;
    }
    case 'evidence': {
      const { kind, period, source } = value as Evidence;
      return [kind, ...(period === null ? [] : [period]), source].join(' ');
    }
    case 'pairs':
      return Object.entries(value as Readonly<Record<string, string | null>>)
        .map(([name, text]) => `${name}=${text ?? ''}`)
        .join(',');
    case 'targets':
      return (value as readonly AliasTarget[])
        .map(({ model, provider }) => (provider === undefined ? model : `${model}=${provider}`))
        .join(',');
    case 'offers':
      return Object.entries(value as Readonly<Record<string, string>>)
        .map(([id, name]) => (id === name ? id : `${id}=${name}`))
        .join(',');
    default:
      return value;
  }
}

function groupOf(name: string, idField: 'id' | 'code', table: FieldTable, columns: readonly string[]): CatalogueGroup {
  const fields = Object.entries(table).flatMap(([field, { entry, form, help, needed = false, option }]) => {
    if (option === undefined || form === 'offers') return [];
    const read = form === undefined ? text : readers[form];
    return { option, field, help, needed, read: entry.safeParse(null).success ? orNone(read) : read };
  });
  const shown = (entry: TableRow): TableRow =>
    Object.fromEntries(Object.entries(entry).map(([field, value]) => [field, shownValue(value, table[field]?.form)]));
  const one = name === 'aliases' ? 'an alias' : `a ${name.slice(0, -1)}`;
  return { name, one, idField, fields, columns, shown };
}

export const modelGroup = groupOf('models', 'id', modelFields, [
  'id',
  'kind',
  'owned_by',
  'active_parameters_b',
  'total_parameters_b',
  'model_class',
  'context_window',
]);
export const regionGroup = groupOf('regions', 'code', regionFields, ['code', ...Object.keys(regionFields)]);
export const providerGroup = groupOf('providers', 'id', providerFields, [
  'id',
  'name',
  'kind',
  'base_url',
  'auth_header',
  'credential_ref',
]);
export const deploymentGroup = groupOf('deployments', 'id', deploymentFields, [
  'id',
  'provider',
  'region',
  'models',
  'pue',
  'telemetry',
  'accelerators',
]);
export const aliasGroup = groupOf('aliases', 'id', aliasFields, ['id', ...Object.keys(aliasFields)]);
