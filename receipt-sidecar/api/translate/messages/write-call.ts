/** Writes the model of a call as a request of Messages. */
import type { JsonObject } from '@gw/contract/internal/strict-json';
import type { Defaults } from '../../port/translator.ts';
import type { Call, Document, Part, Picture, Said, Setting, Tool, ToolTurn, Turn } from '../model/call.ts';
import { objectIn, Written } from '../model/json.ts';
import type { Losses } from '../model/losses.ts';
import { putSettings } from '../model/settings.ts';
import { efforts, messagesSettings } from './settings.ts';

export function writeMessages(call: Call, losses: Losses, { maxTokens }: Defaults): JsonObject {
  const body: JsonObject = { max_tokens: maxTokens };
  const rest = call.settings.filter((setting) => !label(setting, body, losses));
  putSettings(rest, messagesSettings, (field, json) => (body[field] = new Written(json)), losses);
  if (call.logprobs) losses.refuse(call.logprobs.at, 'it has no counterpart there');
  if (call.stops) body.stop_sequences = call.stops.is;
  const system = contentOf(call.system, losses);
  if (system !== '') body.system = system;
  if (call.tools.length > 0) body.tools = call.tools.map((tool) => toolOf(tool, losses));
  const choice = choiceOf(call, losses);
  if (choice) body.tool_choice = choice;
  putOutput(call, body, losses);
  if (call.stream) body.stream = true;
  body.messages = call.turns.reduce<JsonObject[]>((list, turn) => withTurn(list, turn, losses), []);
  return body;
}

/** Writes a setting that stands elsewhere here. Returns whether it is one. */
function label({ at, json, name }: Setting, body: JsonObject, losses: Losses): boolean {
  const value: unknown = name === 'user' || name === 'service_tier' || name === 'temperature' ? JSON.parse(json) : null;
  if (name === 'user') body.metadata = { user_id: value };
  else if (name === 'service_tier') {
    if (value !== 'auto' && value !== 'default') losses.refuse(at, 'it knows the tiers `auto` and `default` alone');
    body.service_tier = value === 'auto' ? value : 'standard_only';
  } else {
    if (name === 'temperature' && Number(value) > 1) losses.refuse(at, 'it goes up to 1 there');
    return false;
  }
  return true;
}

function putOutput({ effort, format, showsReasoning }: Call, body: JsonObject, losses: Losses): void {
  const config: JsonObject = {};
  if (effort?.is === 'none') body.thinking = { type: 'disabled' };
  else if (effort) {
    if (!efforts.has(effort.is)) losses.refuse(effort.at, `the effort \`${effort.is}\` has no counterpart there`);
    body.thinking = { type: 'adaptive', display: showsReasoning ? 'summarized' : undefined };
    config.effort = effort.is;
  }
  if (format) {
    if (format.schema === null) losses.refuse(format.at, 'it demands a schema: send one of the type `json_schema`');
    else config.format = { type: 'json_schema', schema: new Written(format.schema) };
    for (const name of ['name', 'description', 'strict']) losses.leave(`${format.at}.${name}`);
  }
  if (effort || format) body.output_config = Object.keys(config).length > 0 ? config : undefined;
}

function choiceOf({ choice, parallel, tools }: Call, losses: Losses): JsonObject | null {
  if (choice?.mode === 'none') return { type: 'none' };
  const single = parallel === null ? undefined : !parallel.is;
  if (choice === null) return single === undefined || tools.length === 0 ? null : { type: 'auto', ...alone(single) };
  if (choice.among === null) return { type: choice.mode === 'auto' ? 'auto' : 'any', ...alone(single) };
  const [first] = choice.among;
  if (!choice.isOne || first === undefined)
    losses.refuse(`${choice.at}.allowed_tools`, 'one tool is named there, or none; send the allowed ones alone');
  return { type: 'tool', name: first?.name, ...alone(single) };
}
const alone = (single: boolean | undefined): JsonObject => ({ disable_parallel_tool_use: single });

/** A tool without parameters takes no arguments. */
const noArguments = '{"type":"object","properties":{}}';

function toolOf({ at, description, free, name, schema, strict }: Tool, losses: Losses): JsonObject {
  if (free) losses.refuse(`${at}.type`, 'tools of free form have no counterpart there');
  return {
    name,
    description: description ?? undefined,
    input_schema: new Written(schema ?? noArguments),
    strict: strict ?? undefined,
  };
}

/** The results of calls that were made together come together. */
function withTurn(list: JsonObject[], turn: Turn, losses: Losses): JsonObject[] {
  if (turn.by === 'tool') {
    const last = list.at(-1);
    const result = resultOf(turn, losses);
    if (last?.role === 'user' && isResults(last.content)) last.content.push(result);
    else list.push({ role: 'user', content: [result] });
  } else if (turn.by === 'model') {
    const content = turn.content.flatMap((said) => saidOf(said, losses));
    const [first] = turn.content;
    const isText = turn.content.length === 1 && first?.kind === 'text';
    if (content.length > 0) list.push({ role: 'assistant', content: isText ? first.text : content });
  } else {
    const content = contentOf(turn.content, losses);
    if (content !== '') list.push({ role: turn.by, content });
  }
  return list;
}

const isResults = (content: unknown): content is JsonObject[] =>
  Array.isArray(content) && (content as readonly JsonObject[]).every(({ type }) => type === 'tool_result');

function resultOf({ content, hasFailed, id, isFree, at }: ToolTurn, losses: Losses): JsonObject {
  if (isFree) losses.refuse(at, 'tools of free form have no counterpart there');
  return {
    type: 'tool_result',
    tool_use_id: id,
    content: contentOf(content, losses) || undefined,
    is_error: hasFailed || undefined,
  };
}

/** Texts that are empty are refused there. */
function contentOf(given: readonly Part[], losses: Losses): unknown {
  const parts = given.filter((part) => part.kind !== 'text' || part.text !== '');
  const [first] = parts;
  if (first === undefined) return '';
  return parts.length === 1 && first.kind === 'text' ? first.text : parts.map((part) => partOf(part, losses));
}

function partOf(part: Part, losses: Losses): JsonObject {
  if (part.kind === 'text') return { type: 'text', text: part.text };
  const source = sourceOf(part, losses);
  if (part.kind === 'document') return { type: 'document', source, title: part.name ?? undefined };
  if (part.detail !== null && part.detail !== 'auto') losses.leave(`${part.at}.detail`);
  return { type: 'image', source };
}

const dataUrl = /^data:([\w.+-]+\/[\w.+-]+);base64,/i;
const pictureTypes = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp']);

function sourceOf({ at, kind, url }: Picture | Document, losses: Losses): JsonObject {
  if (/^https?:/i.test(url)) return { type: 'url', url };
  const [start = '', type = ''] = dataUrl.exec(url) ?? [];
  const isKnown = kind === 'picture' ? pictureTypes.has(type) : type === 'application/pdf';
  if (!isKnown)
    losses.refuse(
      at,
      `it takes links, and ${kind === 'picture' ? 'JPEG, PNG, GIF and WebP' : 'PDF'} as \`data:\` in base64`,
    );
  return { type: 'base64', media_type: type, data: url.slice(start.length) };
}

function saidOf(said: Said, losses: Losses): readonly JsonObject[] {
  if (said.kind === 'text') return said.text === '' ? [] : [{ type: 'text', text: said.text }];
  if (said.kind === 'refusal') {
    losses.refuse(said.at, 'a refusal has no counterpart there; send it as text');
    return [];
  }
  if (said.kind === 'thinking') {
    // Without its signature a thought is refused.
    if (said.seal === null) losses.leave(said.at);
    else if (said.isHidden) return [{ type: 'redacted_thinking', data: said.seal }];
    else return [{ type: 'thinking', thinking: said.text, signature: said.seal }];
    return [];
  }
  if (said.isFree) losses.refuse(said.at, 'tools of free form have no counterpart there');
  const input = objectIn(said.input);
  if (input === null) losses.refuse(said.at, 'its arguments are not the JSON of an object');
  return [{ type: 'tool_use', id: said.id, name: said.name, input: new Written(input ?? '{}') }];
}
