/** Reads the items of a request of Responses: what the model said in one go becomes one turn. */
import type { JsonObject } from '@gw/contract/internal/strict-json';
import type { Part, Said, Thinking, Turn } from '../model/call.ts';
import { objectsOf, textOf } from '../model/json.ts';
import type { Losses } from '../model/losses.ts';
import { hiddenMark } from './settings.ts';

export function turnsOf(input: unknown, losses: Losses): readonly Turn[] {
  if (typeof input === 'string')
    return [{ by: 'user', at: 'input', content: [{ kind: 'text', text: input, at: 'input' }] }];
  const turns: Turn[] = [];
  /** The parts that the model says in the turn that is being read. */
  let said: Said[] | null = null;
  for (const [index, item] of objectsOf(input).entries()) {
    const at = `input[${index}]`;
    const spoken = saidIn(item, at, losses);
    if (spoken === null) {
      said = null;
      turns.push(...turnOf(item, at, losses));
    } else if (said !== null && goesOn(said, spoken)) said.push(...spoken);
    else {
      said = [...spoken];
      turns.push({ by: 'model', at, content: said });
    }
  }
  return turns;
}

/** A call belongs to what was said before it, a message to the thought before it, and to a call all that is said before its result. */
const goesOn = (before: readonly Said[], [next]: readonly Said[]): boolean =>
  next?.kind === 'use' || before.every(({ kind }) => kind === 'thinking') || before.some(({ kind }) => kind === 'use');

const messageFields = new Set(['type', 'role', 'content', 'id', 'status', 'phase']);
const callFields = new Set(['type', 'id', 'call_id', 'name', 'arguments', 'input', 'status']);
const outputFields = new Set(['type', 'id', 'call_id', 'output', 'status']);

/** Returns null for an item that is not the model's. */
function saidIn(item: JsonObject, at: string, losses: Losses): readonly Said[] | null {
  switch (item.type ?? 'message') {
    case 'message':
      return item.role === 'assistant' ? answer(item, at, losses) : null;
    case 'reasoning':
      return [thought(item, at)];
    case 'function_call':
    case 'custom_tool_call': {
      losses.only(item, callFields, at);
      const isFree = item.type === 'custom_tool_call';
      const input = String(isFree ? item.input : item.arguments);
      return [{ kind: 'use', id: String(item.call_id), name: String(item.name), input, isFree, at }];
    }
    default:
      return null;
  }
}

function answer(item: JsonObject, at: string, losses: Losses): readonly Said[] {
  losses.only(item, messageFields, at);
  const { content } = item;
  if (typeof content === 'string') return [{ kind: 'text', text: content, at: `${at}.content` }];
  return objectsOf(content).map((part, index): Said => {
    const place = `${at}.content[${index}]`;
    if (part.type === 'refusal') return { kind: 'refusal', text: String(part.refusal), at: place };
    if (textOf(part.text) === null) losses.refuse(place, 'an answer holds text alone there');
    return { kind: 'text', text: String(part.text), at: place };
  });
}

function thought({ content, encrypted_content: sealed, summary }: JsonObject, at: string): Thinking {
  const texts = (list: unknown) => objectsOf(list).flatMap(({ text }) => textOf(text) ?? []);
  const shown = texts(content);
  const text = (shown.length > 0 ? shown : texts(summary)).join('\n');
  const seal = textOf(sealed) || null;
  const isHidden = seal?.startsWith(hiddenMark) === true;
  return { kind: 'thinking', text, seal: isHidden ? seal.slice(hiddenMark.length) : seal, isHidden, at };
}

function turnOf(item: JsonObject, at: string, losses: Losses): readonly Turn[] {
  const { role, type = 'message' } = item;
  if (type === 'message') {
    losses.only(item, messageFields, at);
    const by = role === 'user' ? 'user' : 'system';
    return [{ by, at, content: partsOf(item.content, `${at}.content`, losses) }];
  }
  if (type === 'function_call_output' || type === 'custom_tool_call_output') {
    losses.only(item, outputFields, at);
    const content = partsOf(item.output, `${at}.output`, losses);
    const isFree = type === 'custom_tool_call_output';
    return [{ by: 'tool', at, id: String(item.call_id), content, hasFailed: false, isFree }];
  }
  losses.refuse(`${at}.type`, `an item of this kind (\`${String(type)}\`) has no counterpart there`);
  return [];
}

function partsOf(content: unknown, at: string, losses: Losses): readonly Part[] {
  if (typeof content === 'string') return content === '' ? [] : [{ kind: 'text', text: content, at }];
  return objectsOf(content).flatMap((part, index) => partOf(part, `${at}[${index}]`, losses));
}

function partOf(part: JsonObject, at: string, losses: Losses): Part[] {
  if (part.prompt_cache_breakpoint != null) losses.leave(`${at}.prompt_cache_breakpoint`);
  switch (part.type) {
    case 'input_text':
    case 'output_text':
    case 'text':
      return [{ kind: 'text', text: String(part.text), at }];
    case 'input_image': {
      const url = textOf(part.image_url);
      if (url === null) break;
      return [{ kind: 'picture', url, detail: part.detail === 'auto' ? null : textOf(part.detail), at }];
    }
    case 'input_file': {
      const url = textOf(part.file_data) ?? textOf(part.file_url);
      if (url === null) break;
      return [{ kind: 'document', url, name: textOf(part.filename), at }];
    }
  }
  losses.refuse(at, 'it has no counterpart there; send text, or a picture or a file with its content');
  return [];
}
