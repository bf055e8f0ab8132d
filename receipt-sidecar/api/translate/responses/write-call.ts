/** Writes the model of a call as a request of Responses. */
import type { JsonObject } from '@gw/contract/internal/strict-json';
import type { Call, Choice, ChosenTool, Format, Part, Said, Tool, Turn } from '../model/call.ts';
import { Written } from '../model/json.ts';
import type { Losses } from '../model/losses.ts';
import { putSettings } from '../model/settings.ts';
import { hiddenMark, logprobs, responsesSettings, sealed } from './settings.ts';

export function writeResponses(call: Call, losses: Losses): JsonObject {
  // The gateway keeps no replies, and lets none be kept.
  const body: JsonObject = { store: false, include: [sealed, ...(call.logprobs ? [logprobs] : [])] };
  const verbosity = call.settings.find(({ name }) => name === 'verbosity');
  const rest = call.settings.filter(({ name }) => name !== 'verbosity' && name !== 'store');
  const kept = call.settings.find(({ json, name }) => name === 'store' && json === 'true');
  if (kept) losses.refuse(kept.at, 'nothing is stored there');
  putSettings(rest, responsesSettings, (field, json) => (body[field] = new Written(json)), losses);
  if (call.stops) losses.refuse(call.stops.at, 'it has no counterpart there');
  if (call.effort || call.showsReasoning)
    body.reasoning = { effort: call.effort?.is, summary: call.showsReasoning ? 'auto' : undefined };
  if (call.parallel) body.parallel_tool_calls = call.parallel.is;
  if (call.choice) body.tool_choice = choiceOf(call.choice);
  if (call.format || verbosity)
    body.text = {
      format: call.format ? formatOf(call.format) : undefined,
      verbosity: verbosity ? new Written(verbosity.json) : undefined,
    };
  if (call.tools.length > 0) body.tools = call.tools.map(toolOf);
  if (call.stream) body.stream = true;
  const [first, ...others] = call.system;
  const isOne = first !== undefined && others.length === 0;
  if (isOne) body.instructions = first.text;
  const system = call.system.length > 1 ? [spoken('system', call.system)] : [];
  body.input = [...system, ...call.turns.flatMap((turn) => itemsOf(turn, losses))];
  return body;
}

const spoken = (role: string, content: readonly Part[]): JsonObject => ({ role, content: contentOf(content) });

function itemsOf(turn: Turn, losses: Losses): readonly JsonObject[] {
  if (turn.by === 'tool') {
    const type = turn.isFree ? 'custom_tool_call_output' : 'function_call_output';
    const note: readonly Part[] = turn.hasFailed ? [{ kind: 'text', text: 'The tool failed.', at: turn.at }] : [];
    return [{ type, call_id: turn.id, output: contentOf([...note, ...turn.content]) }];
  }
  if (turn.by !== 'model') return [spoken(turn.by, turn.content)];
  const thoughts = turn.content.flatMap((said) => thoughtOf(said, losses));
  const answer = turn.content.flatMap(answerOf);
  const calls = turn.content.flatMap(callOf);
  // A message of the model that has no id is given by its role alone.
  const message = answer.length > 0 ? [{ role: 'assistant', content: answer }] : [];
  return [...thoughts, ...message, ...calls];
}

function thoughtOf(said: Said, losses: Losses): readonly JsonObject[] {
  if (said.kind !== 'thinking') return [];
  if (said.seal === null) {
    losses.leave(said.at);
    return [];
  }
  const sealedText = said.isHidden ? hiddenMark + said.seal : said.seal;
  const content = said.text === '' ? undefined : [{ type: 'reasoning_text', text: said.text }];
  return [{ type: 'reasoning', summary: [], content, encrypted_content: sealedText }];
}

function answerOf(said: Said): readonly JsonObject[] {
  if (said.kind === 'text') return [{ type: 'output_text', text: said.text }];
  return said.kind === 'refusal' ? [{ type: 'refusal', refusal: said.text }] : [];
}

function callOf(said: Said): readonly JsonObject[] {
  if (said.kind !== 'use') return [];
  const { id, input, isFree, name } = said;
  return [
    isFree
      ? { type: 'custom_tool_call', call_id: id, name, input }
      : { type: 'function_call', call_id: id, name, arguments: input },
  ];
}

function contentOf(parts: readonly Part[]): unknown {
  const [first] = parts;
  if (first === undefined) return '';
  return parts.length === 1 && first.kind === 'text' ? first.text : parts.map(partOf);
}

function partOf(part: Part): JsonObject {
  if (part.kind === 'text') return { type: 'input_text', text: part.text };
  if (part.kind === 'picture') return { type: 'input_image', image_url: part.url, detail: part.detail ?? 'auto' };
  const where = part.url.startsWith('data:') ? 'file_data' : 'file_url';
  return { type: 'input_file', [where]: part.url, filename: part.name ?? undefined };
}

function toolOf({ description, free, name, schema, strict }: Tool): JsonObject {
  const named = { name, description: description ?? undefined };
  if (free)
    return { type: 'custom', ...named, format: free.grammar ? { type: 'grammar', ...free.grammar } : undefined };
  // Without `strict` this API takes a schema as strict, and chat does not.
  return {
    type: 'function',
    ...named,
    parameters: schema === null ? null : new Written(schema),
    strict: strict ?? false,
  };
}

const chosen = ({ isFree, name }: ChosenTool): JsonObject => ({ type: isFree ? 'custom' : 'function', name });

function choiceOf({ among, isOne, mode }: Choice): unknown {
  if (among === null) return mode;
  return isOne ? among.map(chosen)[0] : { type: 'allowed_tools', mode, tools: among.map(chosen) };
}

function formatOf({ description, name, schema, strict }: Format): JsonObject {
  if (schema === null) return { type: 'json_object' };
  const rest = { description: description ?? undefined, schema: new Written(schema), strict: strict ?? undefined };
  return { type: 'json_schema', name, ...rest };
}
