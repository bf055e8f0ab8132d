/** Reads the conversation of a request of Messages. */
import type { JsonObject } from '@gw/contract/internal/strict-json';
import type { Json, ModelTurn, Part, Said, Spoken, ToolTurn, Turn } from '../model/call.ts';
import { isObject, listOf, memberOf, objectsOf, textIn, textOf } from '../model/json.ts';
import type { Losses } from '../model/losses.ts';

export function systemOf(system: unknown, losses: Losses): readonly Part[] {
  return partsOf(system, 'system', losses);
}

export function turnsOf(list: readonly JsonObject[], json: Json | undefined, losses: Losses): readonly Turn[] {
  const written = listOf(json);
  return list.flatMap((message, index) => {
    const at = `messages[${index}]`;
    losses.only(message, new Set(['role', 'content']), at);
    if (message.role !== 'assistant') return spoken(message, at, losses);
    // The arguments of a call are passed on as it is written.
    const blocks = listOf(memberOf(written[index], 'content'));
    const content = saidIn(message.content, blocks, `${at}.content`, losses);
    return [{ by: 'model', at, content } satisfies ModelTurn];
  });
}

/** A message holds what tools returned, and what the user says. */
function spoken({ content, role }: JsonObject, at: string, losses: Losses): readonly Turn[] {
  const turns: Turn[] = [];
  let parts: Part[] = [];
  const by = role === 'system' ? 'system' : 'user';
  const say = () => {
    if (parts.length > 0) turns.push({ by, at, content: parts } satisfies Spoken);
    parts = [];
  };
  if (typeof content === 'string') return [{ by, at, content: partsOf(content, `${at}.content`, losses) }];
  for (const [index, block] of objectsOf(content).entries()) {
    const place = `${at}.content[${index}]`;
    if (block.type === 'tool_result') {
      say();
      turns.push(resultOf(block, place, losses));
    } else parts.push(...partOf(block, place, losses));
  }
  say();
  return turns;
}

function resultOf(block: JsonObject, at: string, losses: Losses): ToolTurn {
  losses.only(block, new Set(['type', 'tool_use_id', 'content', 'is_error', 'cache_control']), at);
  hint(block, at, losses);
  const content = partsOf(block.content, `${at}.content`, losses);
  return { by: 'tool', at, id: String(block.tool_use_id), content, hasFailed: block.is_error === true, isFree: false };
}

export function hint(value: JsonObject, at: string, losses: Losses): void {
  if (value.cache_control != null) losses.leave(`${at}.cache_control`);
}

function partsOf(content: unknown, at: string, losses: Losses): readonly Part[] {
  if (typeof content === 'string') return content === '' ? [] : [{ kind: 'text', text: content, at }];
  return objectsOf(content).flatMap((block, index) => partOf(block, `${at}[${index}]`, losses));
}

const textFields = new Set(['type', 'text', 'cache_control']);
const imageFields = new Set(['type', 'source', 'cache_control']);
const documentFields = new Set(['type', 'source', 'title', 'citations', 'cache_control']);

function partOf(block: JsonObject, at: string, losses: Losses): Part[] {
  hint(block, at, losses);
  const { source, type } = block;
  if (type === 'text') {
    // Citations are of servers that search.
    if (!Array.isArray(block.citations) || block.citations.length > 0) losses.only(block, textFields, at);
    return [{ kind: 'text', text: String(block.text), at }];
  }
  if (type === 'document' && isObject(source) && (source.type === 'text' || source.type === 'content'))
    return documentIn(block, source, at, losses);
  const url = isObject(source) ? urlOf(source) : null;
  if (type === 'image' || type === 'document') {
    if (url === null) {
      losses.refuse(`${at}.source`, 'a source other than `base64` and `url` has no counterpart there');
      return [];
    }
    if (type === 'image') {
      losses.only(block, imageFields, at);
      return [{ kind: 'picture', url, detail: null, at }];
    }
    losses.only(block, documentFields, at);
    cited(block, at, losses);
    return [{ kind: 'document', url, name: textOf(block.title), at }];
  }
  losses.refuse(`${at}.type`, `a block of this kind (\`${String(type)}\`) has no counterpart there`);
  return [];
}

/** A document of text is told as text. */
function documentIn(block: JsonObject, source: JsonObject, at: string, losses: Losses): Part[] {
  losses.only(block, new Set([...documentFields, 'context']), at);
  cited(block, at, losses);
  const words = [block.title, block.context].flatMap((text) => textOf(text) || []);
  const content = source.type === 'text' ? source.data : source.content;
  return [...words.map((text) => ({ kind: 'text', text, at }) as const), ...partsOf(content, `${at}.source`, losses)];
}

function cited({ citations }: JsonObject, at: string, losses: Losses): void {
  if (isObject(citations) && citations.enabled === true) losses.refuse(`${at}.citations`, 'nothing is cited there');
}

function urlOf({ data, media_type: type, type: kind, url }: JsonObject): string | null {
  if (kind === 'url') return textOf(url);
  return kind === 'base64' ? `data:${String(type)};base64,${String(data)}` : null;
}

const useFields = new Set(['type', 'id', 'name', 'input', 'caller', 'cache_control']);

function saidIn(content: unknown, written: readonly Json[], at: string, losses: Losses): readonly Said[] {
  if (typeof content === 'string') return content === '' ? [] : [{ kind: 'text', text: content, at }];
  return objectsOf(content).flatMap((block, index): Said[] => {
    const place = `${at}[${index}]`;
    if (block.type === 'tool_use') {
      losses.only(block, useFields, place);
      hint(block, place, losses);
      const input = memberOf(written[index], 'input') ?? '{}';
      const isFree = false;
      return [{ kind: 'use', id: String(block.id), name: String(block.name), input, isFree, at: place }];
    }
    if (block.type === 'thinking' || block.type === 'redacted_thinking') {
      const isHidden = block.type === 'redacted_thinking';
      const seal = textOf(isHidden ? block.data : block.signature);
      return [{ kind: 'thinking', text: textIn(block.thinking), seal: seal || null, isHidden, at: place }];
    }
    const parts = partOf(block, place, losses);
    return parts.flatMap((part) => {
      if (part.kind === 'text') return [part];
      losses.refuse(place, 'an assistant message holds text alone there');
      return [];
    });
  });
}
