/** Reads replies of chat completions, whole or chunk by chunk. One choice is read: a call that can be translated asks for one. */
import type { JsonObject } from '@gw/contract/internal/strict-json';
import { claimsIn } from '../../openai/usage-claims.ts';
import { sumOf } from '../../openai/usage-names.ts';
import type { Terms } from '../../port/translator.ts';
import { isObject, objectsOf, textIn, textOf } from '../model/json.ts';
import { bareId, type Ending, type ReplyReader, type Stop, type Usage } from '../model/reply.ts';
import { mostKept, type Sequence } from '../model/sequence.ts';

const stops: Readonly<Record<string, Stop>> = {
  length: 'length',
  max_tokens: 'length',
  tool_calls: 'tools',
  function_call: 'tools',
  content_filter: 'filter',
};

/** A call as far as it has come. */
interface Called {
  readonly key: string;
  readonly id: string;
  isOpen: boolean;
  isFree: boolean;
  /** Told before its name. */
  waiting: string;
}

export class ChatReader implements ReplyReader {
  readonly #to: Sequence;
  readonly #terms: Terms;
  /** The calls, by the index that the provider gives a call. */
  readonly #calls = new Map<number, Called>();
  #count = 0;
  #lastIndex = 0;
  #ending: Ending | null = null;
  #hasRefused = false;
  #usage: Usage | null = null;

  constructor(to: Sequence, terms: Terms) {
    this.#to = to;
    this.#terms = terms;
  }

  take(chunk: JsonObject): void {
    const choice = choiceIn(chunk.choices);
    this.#start(chunk);
    this.#tally(chunk);
    if (choice !== undefined) this.#choice(choice, isObject(choice.delta) ? choice.delta : {});
    // The usage on a chunk of its own is the last that a provider says.
    else if (this.#ending !== null && objectsOf(chunk.choices).length === 0 && isObject(chunk.usage)) this.end();
  }

  takeText({ choices }: JsonObject, text: string): void {
    if (choiceIn(choices) !== undefined) this.#to.say('text', 'text', text);
  }

  whole(reply: JsonObject): boolean {
    const choice = choiceIn(reply.choices);
    if (choice === undefined || !isObject(choice.message)) return false;
    this.#start(reply);
    this.#tally(reply);
    const calls = objectsOf(choice.message.tool_calls).map((call, index) => ({ ...call, index }));
    this.#choice(choice, { ...choice.message, tool_calls: calls });
    this.end();
    return true;
  }

  /** Some servers name no reason. */
  end(): void {
    for (const called of this.#calls.values()) if (!called.isOpen) this.#open(called, '');
    this.#to.end(this.#ending ?? this.#endingOf('', {}), this.#usage);
  }

  #start({ created, id, model }: JsonObject): void {
    // Azure's first chunk has none of these.
    const seconds = Number.isSafeInteger(created) && created !== 0 ? Number(created) : this.#terms.created;
    this.#to.start({ id: bareId(id), model: textOf(model) || this.#terms.model, created: seconds });
  }

  #tally(reply: JsonObject): void {
    const claim = claimsIn(reply)[0]?.claim;
    if (claim === undefined) return;
    const prompt = claim.prompt ?? sumOf(this.#usage?.prompt ?? null);
    const rest = claim.total === null ? 0 : Math.max(0, claim.total - prompt);
    const completion = claim.completion ?? (claim.total === null ? sumOf(this.#usage?.completion ?? null) : rest);
    const [cached, reasoning] = [sumOf(claim.cached), sumOf(claim.reasoning)];
    this.#usage = { prompt, completion, cached, stored: 0, reasoning };
  }

  #choice(choice: JsonObject, said: JsonObject): void {
    const logprobs = isObject(choice.logprobs) ? choice.logprobs : {};
    this.#thoughts(said);
    this.#content(said.content, listIn(logprobs.content));
    const refusal = textOf(said.refusal);
    if (refusal) {
      this.#hasRefused = true;
      this.#to.say('refusal', 'refusal', refusal, listIn(logprobs.refusal));
    }
    for (const [at, call] of objectsOf(said.tool_calls).entries()) this.#call(call, at);
    if (isObject(said.function_call)) this.#call({ function: said.function_call }, 0);
    const reason = textOf(choice.finish_reason);
    if (reason) this.#ending = this.#endingOf(reason, choice);
  }

  #endingOf(reason: string, { stop_reason: by }: JsonObject): Ending {
    // vLLM names the text that ended the answer.
    const sequence = typeof by === 'string' && this.#terms.stops.includes(by) ? by : null;
    const why = this.#hasRefused ? 'refusal' : (stops[reason] ?? (sequence === null ? 'end' : 'sequence'));
    return { why: why === 'end' && this.#count > 0 ? 'tools' : why, sequence, explanation: null };
  }

  /** Where two names hold a thought, the older is read. */
  #thoughts({ reasoning, reasoning_content: content, thinking_blocks: blocks }: JsonObject): void {
    const text = textOf(content) ?? textOf(reasoning);
    if (text) this.#to.say('thinking', 'thinking', text);
    for (const block of objectsOf(blocks)) {
      const seal = textOf(block.signature);
      if (seal && this.#to.has('thinking')) this.#to.seal('thinking', seal);
    }
  }

  /** Mistral's is a list of parts when it thinks. */
  #content(content: unknown, logprobs: readonly unknown[] | null): void {
    const text = textOf(content);
    if (text || logprobs) this.#to.say('text', 'text', textIn(content), logprobs);
    for (const part of objectsOf(content)) {
      if (part.type === 'thinking')
        for (const { text: thought } of objectsOf(part.thinking)) this.#to.say('thinking', 'thinking', textIn(thought));
      else if (textOf(part.text)) this.#to.say('text', 'text', textIn(part.text));
    }
  }

  #call(call: JsonObject, at: number): void {
    const isFree = isObject(call.custom);
    const part = isFree ? (call.custom as JsonObject) : isObject(call.function) ? call.function : {};
    const name = textIn(part.name);
    const called = this.#called(call, at, name !== '');
    const { input, arguments: json } = part;
    const text = isObject(json) ? JSON.stringify(json) : textIn(called.isFree || isFree ? input : json);
    if (called.isOpen) return this.#to.add(called.key, text);
    called.isFree = isFree;
    called.waiting += text;
    if (called.waiting.length > mostKept) this.#to.fail();
    if (name !== '') this.#open(called, name);
  }

  #open(called: Called, name: string): void {
    called.isOpen = true;
    this.#to.open(called.key, called.isFree ? 'free' : 'use', called.id, name);
    this.#to.add(called.key, called.waiting);
  }

  /** Some servers number all of their calls 0, or not at all; then another id begins another call. */
  #called({ id, index }: JsonObject, at: number, isNamed: boolean): Called {
    const place = typeof index === 'number' ? index : this.#count > 0 && !isNamed ? this.#lastIndex : at;
    const before = this.#calls.get(place);
    const given = textIn(id);
    this.#lastIndex = place;
    if (before !== undefined && (given === '' || given === before.id || !isNamed)) return before;
    const key = `call ${this.#count}`;
    const called = { key, id: given || `call_${this.#count}`, isOpen: false, isFree: false, waiting: '' };
    this.#count += 1;
    this.#calls.set(place, called);
    return called;
  }
}

const choiceIn = (choices: unknown): JsonObject | undefined =>
  objectsOf(choices).find(({ index }) => index === 0 || index === undefined);
const listIn = (value: unknown): readonly unknown[] | null => (Array.isArray(value) && value.length > 0 ? value : null);
