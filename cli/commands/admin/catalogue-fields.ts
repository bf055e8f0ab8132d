/** How the fields of the catalogue are typed in a shell, and shown to people in the same form. */
import { Problem } from '@gw/stack/problem';
import type { Row } from './table.ts';

/** `option`: its name, for the complaint. Throws a Problem that shows how it is written. */
export type Read = (text: string, option: string) => unknown;

export interface CatalogueField {
  readonly option: string;
  /** In the operator API. */
  readonly field: string;
  readonly help: string;
  readonly read: Read;
  /** Whether an entry cannot be added without it. */
  readonly needed?: boolean;
}

export interface CatalogueGroup {
  /** `models`: the word in the shell and in the path. */
  readonly name: string;
  readonly idField: 'id' | 'code';
  readonly fields: readonly CatalogueField[];
  readonly columns: readonly string[];
  /** As people read it. */
  readonly shown: (entry: Row) => Row;
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

/** What is not known, or no more. */
const orNone =
  (read: Read): Read =>
  (given, option) =>
    given === 'none' ? null : read(given, option);

const field = (option: string, name: string, help: string, read: Read = text): CatalogueField => ({
  option,
  field: name,
  help,
  read,
});
const needed = (option: string, name: string, help: string, read: Read = text): CatalogueField => ({
  ...field(option, name, help, read),
  needed: true,
});

type Range = { readonly min: number; readonly max: number } | null;
const rangeText = (range: unknown): unknown => {
  const { min, max } = (range as Range) ?? {};
  return min === undefined ? null : min === max ? min : `${min}-${max}`;
};

export const modelGroup: CatalogueGroup = {
  name: 'models',
  idField: 'id',
  columns: ['id', 'kind', 'owned_by', 'active_parameters_b', 'total_parameters_b', 'model_class', 'context_window'],
  fields: [
    needed('owned-by', 'owned_by', 'who made it'),
    needed('kind', 'kind', 'chat or embedding'),
    field('context-window', 'context_window', 'tokens, or none', orNone(number)),
    field('modalities', 'modalities', 'of text, image, audio, video, separated by commas', words),
    field('takes-temperature', 'takes_temperature', 'yes or no', yesOrNo),
    field('tokenizer', 'tokenizer', 'o200k_base, cl100k_base, p50k_base, r50k_base or none', orNone(text)),
    field('active', 'active_parameters_b', 'billions of active parameters: 8, 30-40 or none', orNone(parameters)),
    field('total', 'total_parameters_b', 'billions of parameters: 8, 30-40 or none', orNone(parameters)),
    field('class', 'model_class', 'small, medium, large, moe_small_active, frontier, embedding or none', orNone(text)),
    field('bits', 'quantization_bits', 'bits of a weight, or none', orNone(number)),
    field('tokens-per-s', 'tokens_per_s', 'measured output tokens per second, or none', orNone(number)),
    field('ttft', 'ttft_s', 'measured seconds to the first token, or none', orNone(number)),
  ],
  shown: ({ active_parameters_b: active, modalities, total_parameters_b: total, ...rest }) => ({
    ...rest,
    modalities: (modalities as readonly string[]).join(','),
    active_parameters_b: rangeText(active),
    total_parameters_b: rangeText(total),
  }),
};

export const regionGroup: CatalogueGroup = {
  name: 'regions',
  idField: 'code',
  columns: ['code', 'name', 'country', 'grid_zone', 'status', 'preference'],
  fields: [
    needed('name', 'name', 'for people'),
    needed('country', 'country', 'two letters as of ISO 3166-1, or unknown'),
    needed('zone', 'grid_zone', 'of the electricity grid, for example SWE'),
    field('status', 'status', 'active, degraded, saturated or decommissioned'),
    field('preference', 'preference', 'lower comes first; 100 unless given', number),
  ],
  shown: (entry) => entry,
};

export const providerGroup: CatalogueGroup = {
  name: 'providers',
  idField: 'id',
  columns: ['id', 'name', 'kind', 'base_url', 'auth_header', 'credential_ref'],
  fields: [
    needed('name', 'name', 'for people'),
    needed('url', 'base_url', 'up to and without the endpoint: https://llm.example.com/v1'),
    field('kind', 'kind', 'openai (unless given) or simulator'),
    field('credential', 'credential_ref', 'NAME of GW_CREDENTIAL_<NAME>, or none; never the credential', orNone(text)),
    field('auth-header', 'auth_header', 'that carries it, or none; authorization unless given', orNone(text)),
    field('auth-scheme', 'auth_scheme', 'in front of it, or none; Bearer unless given', orNone(text)),
  ],
  shown: (entry) => entry,
};

export const deploymentGroup: CatalogueGroup = {
  name: 'deployments',
  idField: 'id',
  columns: ['id', 'provider', 'region', 'models', 'pue', 'telemetry', 'accelerators'],
  fields: [
    needed('provider', 'provider', 'id of the provider'),
    needed('region', 'region', 'code of the region'),
    needed('pue', 'pue', 'power usage effectiveness of the data centre, at least 1', number),
    field('wue', 'wue_onsite_l_per_kwh', 'litres of water per kWh on site, or none', orNone(number)),
    field('telemetry', 'telemetry', 'shape of measured energy in its replies, gpu_counters, or none', orNone(text)),
    field('accelerators', 'accelerators', 'of the whole deployment: "8 x H100", or none', orNone(accelerators)),
  ],
  shown: ({ accelerators: stated, models, ...rest }) => {
    const { count, model } = (stated as { readonly count: number; readonly model: string } | null) ?? {};
    const offered = Object.entries(models as Readonly<Record<string, string>>);
    return {
      ...rest,
      models: offered.map(([id, name]) => (id === name ? id : `${id}=${name}`)).join(','),
      accelerators: model === undefined ? null : `${count} x ${model}`,
    };
  },
};
