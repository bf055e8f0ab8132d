/** Writes the model of a call as the request of a chat completion. */
import type { JsonObject } from '@gw/contract/internal/strict-json';
import type { Call, Choice, ChosenTool, Format, ModelTurn, Part, Picture, Text, Tool, Turn } from '../model/call.ts';
import { Written } from '../model/json.ts';
import type { Losses } from '../model/losses.ts';
import { putSettings } from '../model/settings.ts';
import { chatSettings } from './settings.ts';

export function writeChat(call: Call, losses: Losses): JsonObject {
  const body: JsonObject = {};
  putSettings(call.settings, chatSettings, (field, json) => (body[field] = new Written(json)), losses);
  if (call.stops) body.stop = call.stops.is;
  if (call.effort) body.reasoning_effort = call.effort.is;
  if (call.logprobs) body.logprobs = true;
  if (call.parallel) body.parallel_tool_calls = call.parallel.is;
  if (call.choice) body.tool_choice = choiceOf(call.choice);
  if (call.format) body.response_format = formatOf(call.format);
  if (call.tools.length > 0) body.tools = call.tools.map(toolOf);
  if (call.stream) body.stream = true;
  const system = call.system.length > 0 ? [{ role: 'system', content: textOf(call.system) }] : [];
  body.messages = [...system, ...messagesOf(call.turns, losses)];
  return body;
}

function messagesOf(turns: readonly Turn[], losses: Losses): readonly JsonObject[] {
  const messages: JsonObject[] = [];
  /** A tool's message holds text alone, so its pictures come in the user's message behind it. */
  let shown: Part[] = [];
  const show = () => {
    if (shown.length > 0) messages.push({ role: 'user', content: contentOf(shown, losses) });
    shown = [];
  };
  for (const turn of turns) {
    if (turn.by === 'tool') {
      const pictures = turn.content.filter(({ kind }) => kind !== 'text');
      const texts = turn.content.filter((part): part is Text => part.kind === 'text');
      const failed: readonly Text[] = turn.hasFailed ? [{ kind: 'text', text: 'The tool failed.', at: turn.at }] : [];
      messages.push({ role: 'tool', tool_call_id: turn.id, content: textOf([...failed, ...texts]) });
      if (pictures.length > 0) {
        const note = `What the tool call ${turn.id} returned beside its text:`;
        shown.push({ kind: 'text', text: note, at: turn.at }, ...pictures);
      }
      continue;
    }
    if (turn.by === 'user') {
      messages.push({ role: 'user', content: contentOf([...shown, ...turn.content], losses) });
      shown = [];
      continue;
    }
    show();
    if (turn.by === 'model') messages.push(...assistant(turn, losses));
    else messages.push({ role: 'system', content: contentOf(turn.content, losses) });
  }
  show();
  return messages;
}

/** Many servers take one text alone as instructions, and of a tool. */
const textOf = (parts: readonly Text[]): string => parts.map(({ text }) => text).join('\n');

/** One text is written as such, since that is what every server takes. */
function contentOf(parts: readonly Part[], losses: Losses): unknown {
  const [first] = parts;
  if (first === undefined) return '';
  return parts.length === 1 && first.kind === 'text' ? first.text : parts.map((part) => partOf(part, losses));
}

function partOf(part: Part, losses: Losses): JsonObject {
  if (part.kind === 'text') return { type: 'text', text: part.text };
  if (part.kind === 'picture') return { type: 'image_url', image_url: imageOf(part) };
  if (/^https?:/i.test(part.url)) losses.refuse(part.at, 'it takes the content of a file, and no link to it');
  return { type: 'file', file: { file_data: part.url, ...(part.name !== null && { filename: part.name }) } };
}
const imageOf = ({ detail, url }: Picture): JsonObject => (detail === null ? { url } : { url, detail });

/** A message that says nothing is refused there. */
function assistant({ at, content }: ModelTurn, losses: Losses): readonly JsonObject[] {
  const texts: Text[] = [];
  const refusals: string[] = [];
  const thoughts: string[] = [];
  const calls: JsonObject[] = [];
  for (const said of content) {
    if (said.kind === 'text') texts.push(said);
    else if (said.kind === 'refusal') refusals.push(said.text);
    // Another provider's seal is on it: its words are of no use to a server that has not thought them.
    else if (said.kind === 'thinking') {
      if (said.seal !== null) losses.leave(said.at);
      else if (said.text !== '') thoughts.push(said.text);
    } else {
      const { id, input, isFree, name } = said;
      calls.push(
        isFree
          ? { id, type: 'custom', custom: { name, input } }
          : { id, type: 'function', function: { name, arguments: input } },
      );
    }
  }
  if (texts.length + refusals.length + calls.length === 0) {
    if (thoughts.length > 0) losses.leave(at);
    return [];
  }
  const message = {
    role: 'assistant',
    content: texts.length > 0 ? contentOf(texts, losses) : null,
    refusal: refusals.length > 0 ? refusals.join('\n') : undefined,
    reasoning_content: thoughts.length > 0 ? thoughts.join('\n') : undefined,
    tool_calls: calls.length > 0 ? calls : undefined,
  };
  return [message];
}

function toolOf({ description, free, name, schema, strict }: Tool): JsonObject {
  const named = { name, description: description ?? undefined };
  if (free) {
    const format = free.grammar ? { type: 'grammar', grammar: free.grammar } : undefined;
    return { type: 'custom', custom: { ...named, format } };
  }
  const parameters = schema === null ? undefined : new Written(schema);
  return { type: 'function', function: { ...named, parameters, strict: strict ?? undefined } };
}

const chosen = ({ isFree, name }: ChosenTool): JsonObject =>
  isFree ? { type: 'custom', custom: { name } } : { type: 'function', function: { name } };

function choiceOf({ among, isOne, mode }: Choice): unknown {
  if (among === null) return mode;
  const tools = among.map(chosen);
  return isOne ? tools[0] : { type: 'allowed_tools', allowed_tools: { mode, tools } };
}

function formatOf({ description, name, schema, strict }: Format): JsonObject {
  if (schema === null) return { type: 'json_object' };
  const named = { name, description: description ?? undefined };
  return { type: 'json_schema', json_schema: { ...named, schema: new Written(schema), strict: strict ?? undefined } };
}
