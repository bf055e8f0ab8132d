/** Reads replies of Responses, whole or event by event. */
import type { JsonObject } from '@gw/contract/internal/strict-json';
import { readClaim } from '../../openai/usage-claims.ts';
import { sumOf } from '../../openai/usage-names.ts';
import type { Terms } from '../../port/translator.ts';
import { isObject, objectsOf, textIn, textOf } from '../model/json.ts';
import { bareId, type Ending, hidden, type Kind, type ReplyReader, type Usage } from '../model/reply.ts';
import type { Sequence } from '../model/sequence.ts';
import { hiddenMark } from './settings.ts';

/** The events that bring a piece of text, and the kind of block that it belongs to. */
const pieces: Readonly<Record<string, Kind>> = {
  'response.output_text.delta': 'text',
  'response.refusal.delta': 'refusal',
  'response.reasoning_text.delta': 'thinking',
  'response.reasoning_summary_text.delta': 'thinking',
};

export class ResponsesReader implements ReplyReader {
  readonly #to: Sequence;
  readonly #terms: Terms;
  /** The blocks that are open, by their items. */
  readonly #open = new Map<string, Set<string>>();
  /** The items that are over. */
  readonly #over = new Set<string>();
  #hasRefused = false;
  #hasCalled = false;

  constructor(to: Sequence, terms: Terms) {
    this.#to = to;
    this.#terms = terms;
  }

  take(event: JsonObject): void {
    const item = `item ${String(event.output_index)}`;
    const { delta, type } = event;
    const kind = pieces[String(type)];
    if (kind !== undefined) {
      const index = event.content_index ?? `summary ${String(event.summary_index)}`;
      const logprobs = Array.isArray(event.logprobs) && event.logprobs.length > 0 ? event.logprobs : null;
      return this.#say(item, `${item}/${String(index)}`, kind, textIn(delta), logprobs);
    }
    switch (type) {
      case 'response.created':
      case 'response.in_progress':
        if (isObject(event.response)) this.#start(event.response);
        return;
      case 'response.output_item.added':
        if (isObject(event.item)) this.#begin(item, event.item);
        return;
      case 'response.function_call_arguments.delta':
      case 'response.custom_tool_call_input.delta':
        if (this.#open.get(item)?.has(item)) this.#to.add(item, textIn(delta));
        else this.#to.fail();
        return;
      case 'response.output_item.done':
        if (isObject(event.item)) this.#finish(item, event.item);
        return;
      case 'response.completed':
      case 'response.incomplete':
        if (isObject(event.response)) this.#end(event.response);
    }
  }

  takeText(like: JsonObject, delta: string): void {
    this.take({ ...like, delta });
  }

  whole(response: JsonObject): boolean {
    if (!Array.isArray(response.output)) return false;
    this.#end(response);
    return true;
  }

  /** The last event is the end itself. */
  end(): void {}

  #start({ created_at: at, id, model }: JsonObject): void {
    const created = typeof at === 'number' ? Math.trunc(at) : this.#terms.created;
    this.#to.start({ id: bareId(id), model: textOf(model) || this.#terms.model, created });
  }

  #begin(key: string, item: JsonObject): void {
    const isFree = item.type === 'custom_tool_call';
    if (!isFree && item.type !== 'function_call') return;
    this.#hasCalled = true;
    if (this.#over.has(key)) return this.#to.fail();
    this.#to.open(key, isFree ? 'free' : 'use', textIn(item.call_id), textIn(item.name));
    this.#open.set(key, new Set([key]));
  }

  #say(item: string, key: string, kind: Kind, text: string, logprobs: readonly unknown[] | null): void {
    if (this.#over.has(item)) return this.#to.fail();
    if (kind === 'refusal') this.#hasRefused = true;
    this.#to.say(key, kind, text, logprobs);
    this.#open.set(item, (this.#open.get(item) ?? new Set()).add(key));
  }

  /** An item that came without its pieces is told whole. */
  #finish(key: string, item: JsonObject): void {
    const known = this.#open.get(key);
    const { arguments: json, content, encrypted_content: sealed, input, summary, type } = item;
    if (type === 'function_call' || type === 'custom_tool_call') {
      if (known === undefined) this.#begin(key, item);
      if (known === undefined || this.#to.isEmpty(key))
        this.#to.add(key, textIn(type === 'function_call' ? json : input));
    } else if (known === undefined) {
      const shown = type === 'reasoning' && objectsOf(content).length === 0 ? summary : content;
      for (const [index, part] of objectsOf(shown).entries()) {
        const kind = type === 'reasoning' ? 'thinking' : part.type === 'refusal' ? 'refusal' : 'text';
        const logprobs = Array.isArray(part.logprobs) && part.logprobs.length > 0 ? part.logprobs : null;
        this.#say(key, `${key}/${index}`, kind, textOf(part.text) ?? textIn(part.refusal), logprobs);
      }
    }
    if (type === 'reasoning' && textOf(sealed)) this.#seal(key, String(sealed));
    for (const each of this.#open.get(key) ?? []) this.#to.close(each);
    this.#open.delete(key);
    this.#over.add(key);
  }

  /** The seal is of the whole item, and stands on its last block. */
  #seal(key: string, seal: string): void {
    const last = [...(this.#open.get(key) ?? [])].at(-1);
    if (last !== undefined) return this.#to.seal(last, seal);
    const isHidden = seal.startsWith(hiddenMark);
    this.#to.open(key, 'thinking', '', isHidden ? hidden : '');
    this.#to.seal(key, isHidden ? seal.slice(hiddenMark.length) : seal);
    this.#open.set(key, new Set([key]));
  }

  #end(response: JsonObject): void {
    this.#start(response);
    for (const [index, item] of objectsOf(response.output).entries()) {
      const key = `item ${index}`;
      if (!this.#over.has(key)) this.#finish(key, item);
    }
    this.#to.end(this.#endingOf(response), usageOf(response.usage));
  }

  #endingOf({ incomplete_details: details, status }: JsonObject): Ending {
    const reason = isObject(details) ? details.reason : null;
    const rest = { sequence: null, explanation: null };
    if (status === 'incomplete') return { why: reason === 'content_filter' ? 'filter' : 'length', ...rest };
    return { why: this.#hasRefused ? 'refusal' : this.#hasCalled ? 'tools' : 'end', ...rest };
  }
}

function usageOf(usage: unknown): Usage | null {
  const claim = readClaim(usage);
  if (claim === null) return null;
  const details = isObject(usage) && isObject(usage.input_tokens_details) ? usage.input_tokens_details : {};
  return {
    prompt: sumOf(claim.prompt),
    completion: sumOf(claim.completion),
    cached: sumOf(claim.cached),
    stored: typeof details.cache_write_tokens === 'number' ? details.cache_write_tokens : 0,
    reasoning: sumOf(claim.reasoning),
  };
}
