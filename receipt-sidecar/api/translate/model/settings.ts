/** Fields that are one value each: an API says by a table how they are named there. */
import type { FieldTexts } from '../../port/shape.ts';
import type { Json, Setting } from './call.ts';
import type { Losses } from './losses.ts';

/** Field of an API → its name in the model. */
export type SettingNames = Readonly<Record<string, string>>;

/** They label a call, or help caches: no answer depends on them. */
const hints = new Set([
  'metadata',
  'client_metadata',
  'safety_identifier',
  'prompt_cache_key',
  'prompt_cache_retention',
  'prompt_cache_options',
  'cache_control',
  'stream_options',
]);

/** Values by which a field asks for nothing. */
const neutral: Readonly<Record<string, readonly Json[]>> = {
  n: ['1'],
  store: ['false'],
  logprobs: ['false'],
  top_logprobs: ['0'],
  presence_penalty: ['0', '0.0'],
  frequency_penalty: ['0', '0.0'],
  logit_bias: ['{}'],
  modalities: ['["text"]'],
  truncation: ['"disabled"'],
  background: ['false'],
  verbosity: ['"medium"'],
  service_tier: ['"auto"'],
};

/** Returns the fields that no reader has `taken`, by their names in the model. */
export function settingsOf(texts: FieldTexts, names: SettingNames, taken: ReadonlySet<string>): readonly Setting[] {
  const settings: Setting[] = [];
  for (const [field, json] of texts)
    if (!taken.has(field) && json !== 'null') settings.push({ name: names[field] ?? field, json, at: field });
  return settings;
}

/** Puts the settings into a body under the names of its API. */
export function putSettings(settings: readonly Setting[], names: SettingNames, put: Put, losses: Losses): void {
  const fields = new Map(Object.entries(names).map(([field, name]) => [name, field]));
  for (const { at, json, name } of settings) {
    const field = fields.get(name);
    if (field !== undefined) put(field, json);
    else if (hints.has(name)) losses.leave(at);
    else if (!neutral[name]?.includes(json.replaceAll(/\s/g, ''))) losses.refuse(at, 'it has no counterpart there');
  }
}
export type Put = (field: string, json: Json) => void;
