/** Reads a chat completion's request into the model. */
import type { JsonObject } from '@gw/contract/internal/strict-json';
import type { Fields } from '../../port/translator.ts';
import type { Call, Choice, ChosenTool, Format, Part, Said, Text, Thinking, Tool, Turn, Use } from '../model/call.ts';
import { isObject, listOf, memberOf, objectsOf, textIn, textOf } from '../model/json.ts';
import type { Losses } from '../model/losses.ts';
import { settingsOf } from '../model/settings.ts';
import { chatSettings } from './settings.ts';

const taken = new Set([
  ...['model', 'stream', 'messages', 'tools', 'tool_choice', 'parallel_tool_calls'],
  ...['response_format', 'reasoning_effort', 'stop', 'logprobs', 'stream_options'],
]);

export function readChat({ body, texts }: Fields, losses: Losses): Call {
  const turns = (body.messages as readonly JsonObject[]).flatMap((message, at) =>
    turnOf(message, `messages[${at}]`, losses),
  );
  const first = turns.findIndex(({ by }) => by !== 'system');
  const leading = turns.slice(0, first === -1 ? turns.length : first);
  const effort = textOf(body.reasoning_effort);
  const stop = typeof body.stop === 'string' ? [body.stop] : ((body.stop ?? []) as readonly string[]);
  return {
    stream: body.stream === true,
    system: leading.flatMap(({ content }) => content.filter((part): part is Text => part.kind === 'text')),
    turns: turns.slice(leading.length),
    tools: toolsOf(body.tools, texts.get('tools'), losses),
    choice: choiceOf(body.tool_choice),
    parallel:
      typeof body.parallel_tool_calls === 'boolean'
        ? { is: body.parallel_tool_calls, at: 'parallel_tool_calls' }
        : null,
    format: formatOf(body.response_format, texts.get('response_format'), losses),
    effort: effort === null ? null : { is: effort, at: 'reasoning_effort' },
    showsReasoning: false,
    stops: stop.length > 0 ? { is: stop, at: 'stop' } : null,
    logprobs: body.logprobs === true ? { is: true, at: 'logprobs' } : null,
    settings: settingsOf(texts, chatSettings, taken),
  };
}

const spokenFields = new Set(['role', 'content', 'tool_call_id', 'cache_control']);
const saidFields = new Set([
  ...['role', 'content', 'refusal', 'tool_calls', 'reasoning_content', 'reasoning', 'thinking_blocks', 'annotations'],
  'cache_control',
]);

function turnOf(message: JsonObject, at: string, losses: Losses): Turn[] {
  const { role } = message;
  losses.only(message, role === 'assistant' ? saidFields : spokenFields, at);
  hint(message, at, losses);
  switch (role) {
    case 'assistant':
      return [{ by: 'model', at, content: saidIn(message, at, losses) }];
    case 'tool': {
      const id = String(message.tool_call_id);
      return [{ by: 'tool', at, id, content: partsOf(message.content, at, losses), hasFailed: false, isFree: false }];
    }
    case 'user':
    case 'system':
    case 'developer':
      return [{ by: role === 'user' ? 'user' : 'system', at, content: partsOf(message.content, at, losses) }];
    default:
      losses.refuse(`${at}.role`, `the role \`${String(role)}\` has no counterpart there; send a \`tool\` message`);
      return [];
  }
}

function hint(value: JsonObject, at: string, losses: Losses): void {
  for (const name of ['cache_control', 'prompt_cache_breakpoint'])
    if (value[name] != null) losses.leave(`${at}.${name}`);
}

function partsOf(content: unknown, at: string, losses: Losses): readonly Part[] {
  if (typeof content === 'string') return content === '' ? [] : [{ kind: 'text', text: content, at: `${at}.content` }];
  return objectsOf(content).flatMap((part, index) => partOf(part, `${at}.content[${index}]`, losses));
}

const partFields = new Set([
  'type',
  'text',
  'image_url',
  'file',
  'refusal',
  'cache_control',
  'prompt_cache_breakpoint',
]);

function partOf(part: JsonObject, at: string, losses: Losses): Part[] {
  hint(part, at, losses);
  if (part.type === 'text') {
    losses.only(part, partFields, at);
    return [{ kind: 'text', text: String(part.text), at }];
  }
  if (part.type === 'image_url') {
    losses.only(part, partFields, at);
    const { image_url: image } = part;
    if (!isObject(image)) return [{ kind: 'picture', url: String(image), detail: null, at }];
    const detail = image.detail === 'auto' ? null : textOf(image.detail);
    return [{ kind: 'picture', url: String(image.url), detail, at }];
  }
  if (part.type === 'file' && isObject(part.file) && typeof part.file.file_data === 'string') {
    losses.only(part, partFields, at);
    return [{ kind: 'document', url: part.file.file_data, name: textOf(part.file.filename), at }];
  }
  losses.refuse(`${at}.type`, `a part of this kind (\`${String(part.type)}\`) has no counterpart there`);
  return [];
}

function saidIn(message: JsonObject, at: string, losses: Losses): readonly Said[] {
  const said: Said[] = [...thinkingIn(message, at)];
  const { content } = message;
  if (typeof content === 'string') {
    if (content !== '') said.push({ kind: 'text', text: content, at: `${at}.content` });
  } else
    for (const [index, part] of objectsOf(content).entries()) {
      const place = `${at}.content[${index}]`;
      if (part.type === 'refusal') said.push({ kind: 'refusal', text: String(part.refusal), at: place });
      else
        for (const each of partOf(part, place, losses))
          if (each.kind === 'text') said.push(each);
          else losses.refuse(place, 'an assistant message holds text alone there');
    }
  if (typeof message.refusal === 'string') said.push({ kind: 'refusal', text: message.refusal, at: `${at}.refusal` });
  for (const [index, call] of objectsOf(message.tool_calls).entries())
    said.push(useOf(call, `${at}.tool_calls[${index}]`));
  return said;
}

function useOf(call: JsonObject, at: string): Use {
  const isFree = isObject(call.custom);
  const { name, arguments: json, input } = (isFree ? call.custom : call.function) as JsonObject;
  return { kind: 'use', id: String(call.id), name: String(name), input: String(isFree ? input : json), isFree, at };
}

/** LiteLLM's and others' `thinking_blocks` carry the seals that Messages want back. */
function thinkingIn(message: JsonObject, at: string): readonly Thinking[] {
  const blocks = objectsOf(message.thinking_blocks);
  if (blocks.length > 0)
    return blocks.map((block, index): Thinking => {
      const isHidden = block.type === 'redacted_thinking';
      const seal = textOf(isHidden ? block.data : block.signature);
      const place = `${at}.thinking_blocks[${index}]`;
      return { kind: 'thinking', text: textIn(block.thinking), seal: seal || null, isHidden, at: place };
    });
  const field = typeof message.reasoning_content === 'string' ? 'reasoning_content' : 'reasoning';
  const text = textOf(message[field]);
  if (!text) return [];
  return [{ kind: 'thinking', text, seal: null, isHidden: false, at: `${at}.${field}` }];
}

const toolFields = new Set(['type', 'function', 'custom', 'cache_control']);
const functionFields = new Set(['name', 'description', 'parameters', 'strict']);

function toolsOf(tools: unknown, json: string | undefined, losses: Losses): readonly Tool[] {
  const written = listOf(json);
  return objectsOf(tools).flatMap((tool, index): Tool[] => {
    const at = `tools[${index}]`;
    losses.only(tool, toolFields, at);
    hint(tool, at, losses);
    const { custom, function: called, type } = tool;
    if (type === 'function' && isObject(called)) {
      losses.only(called, functionFields, `${at}.function`);
      const schema = memberOf(memberOf(written[index], 'function'), 'parameters');
      const strict = called.strict === true || null;
      return [{ at, name: String(called.name), description: textOf(called.description), schema, strict, free: null }];
    }
    if (type === 'custom' && isObject(custom)) {
      const grammar = isObject(custom.format) && isObject(custom.format.grammar) ? custom.format.grammar : null;
      const form = grammar && { definition: String(grammar.definition), syntax: String(grammar.syntax) };
      const description = textOf(custom.description);
      return [{ at, name: String(custom.name), description, schema: null, strict: null, free: { grammar: form } }];
    }
    losses.refuse(`${at}.type`, `tools of this kind (\`${String(type)}\`) have no counterpart there`);
    return [];
  });
}

const chosen = (tool: JsonObject): ChosenTool => {
  const isFree = tool.type === 'custom';
  const named = isFree ? tool.custom : tool.function;
  return { name: String(isObject(named) ? named.name : tool.name), isFree };
};

function choiceOf(choice: unknown): Choice | null {
  const at = 'tool_choice';
  if (typeof choice === 'string') {
    const mode = choice === 'none' || choice === 'auto' ? choice : 'required';
    return { at, mode, among: null, isOne: false };
  }
  if (!isObject(choice)) return null;
  if (!isObject(choice.allowed_tools)) return { at, mode: 'required', among: [chosen(choice)], isOne: true };
  const { mode, tools } = choice.allowed_tools;
  return { at, mode: mode === 'required' ? mode : 'auto', among: objectsOf(tools).map(chosen), isOne: false };
}

function formatOf(format: unknown, json: string | undefined, losses: Losses): Format | null {
  const at = 'response_format';
  if (!isObject(format) || format.type === 'text') return null;
  if (format.type === 'json_object' && format.schema === undefined)
    return { at, name: 'json', description: null, schema: null, strict: null };
  const written = memberOf(json, 'json_schema');
  // Some servers have the schema beside the type.
  const schema = memberOf(written, 'schema') ?? memberOf(json, 'schema');
  const { description, name, strict } = isObject(format.json_schema) ? format.json_schema : ({} as JsonObject);
  if (schema === null) losses.refuse(at, 'it names no schema');
  return {
    at,
    name: textOf(name) ?? 'answer',
    description: textOf(description),
    schema,
    strict: strict === true || null,
  };
}
