/** Reads replies of Messages, whole or event by event. */
import type { JsonObject } from '@gw/contract/internal/strict-json';
import { MessageCounts } from '../../anthropic-messages/counts.ts';
import { sumOf } from '../../openai/usage-names.ts';
import type { Terms } from '../../port/translator.ts';
import { isObject, listOf, memberOf, objectsOf, textIn, textOf } from '../model/json.ts';
import { bareId, type Ending, hidden, type Kind, type ReplyReader, type Stop, type Usage } from '../model/reply.ts';
import type { Sequence } from '../model/sequence.ts';

const stops: Readonly<Record<string, Stop>> = {
  end_turn: 'end',
  max_tokens: 'length',
  stop_sequence: 'sequence',
  tool_use: 'tools',
  pause_turn: 'pause',
  refusal: 'refusal',
  model_context_window_exceeded: 'context',
};

const kinds: Readonly<Record<string, Kind>> = {
  text: 'text',
  thinking: 'thinking',
  redacted_thinking: 'thinking',
  tool_use: 'use',
};

/** Blocks that are open at once; a provider has one. */
const mostOpen = 1024;

export class MessagesReader implements ReplyReader {
  readonly #to: Sequence;
  readonly #terms: Terms;
  /** The input that a call began with, by its block, until a piece of it comes. */
  readonly #inputs = new Map<string, string>();
  readonly #signatures = new Map<string, string>();
  #ending: Ending | null = null;
  readonly #counts = new MessageCounts();

  constructor(to: Sequence, terms: Terms) {
    this.#to = to;
    this.#terms = terms;
  }

  take(event: JsonObject): void {
    const key = `block ${String(event.index)}`;
    switch (event.type) {
      case 'message_start':
        if (isObject(event.message)) this.#start(event.message);
        return;
      case 'content_block_start':
        if (isObject(event.content_block)) this.#open(key, event.content_block);
        return;
      case 'content_block_delta':
        if (isObject(event.delta)) this.#add(key, event.delta);
        return;
      case 'content_block_stop':
        return this.#close(key);
      case 'message_delta':
        this.#counts.takeUsage(event.usage);
        if (isObject(event.delta) && textOf(event.delta.stop_reason) !== null) this.#ending = endingOf(event.delta);
        return;
      case 'message_stop':
        return this.end();
    }
  }

  takeText({ index }: JsonObject, text: string): void {
    this.#add(`block ${String(index)}`, { text });
  }

  whole(message: JsonObject, json: string): boolean {
    if (!Array.isArray(message.content)) return false;
    this.#start(message);
    const written = listOf(memberOf(json, 'content'));
    for (const [index, block] of objectsOf(message.content).entries()) {
      const key = `block ${index}`;
      // The input of a call is passed on as it is written.
      this.#open(key, block, memberOf(written[index], 'input') ?? '{}');
      this.#close(key);
    }
    this.#ending = endingOf(message);
    this.end();
    return true;
  }

  end(): void {
    if (this.#ending !== null) this.#to.end(this.#ending, usageOf(this.#counts));
  }

  #start({ id, model, usage }: JsonObject): void {
    this.#counts.takeUsage(usage);
    const { created, model: asked } = this.#terms;
    this.#to.start({ id: bareId(id), model: textOf(model) || asked, created });
  }

  #open(key: string, block: JsonObject, input = JSON.stringify(block.input ?? {})): void {
    const kind = kinds[String(block.type)];
    // Blocks of other kinds are of tools that a translated call does not have.
    if (kind === undefined) return;
    this.#to.open(key, kind, textIn(block.id), block.type === 'redacted_thinking' ? hidden : textIn(block.name));
    this.#to.add(key, textOf(block.text) ?? textIn(block.thinking));
    const seal = textOf(block.data) ?? textOf(block.signature);
    if (seal) this.#signed(key, seal);
    if (kind === 'use' && this.#inputs.size < mostOpen) this.#inputs.set(key, input);
  }

  #signed(key: string, part: string): void {
    const signature = textIn(this.#signatures.get(key)) + part;
    if (this.#signatures.size < mostOpen && signature.length <= longestSignature) this.#signatures.set(key, signature);
    else this.#to.fail();
  }

  #add(key: string, delta: JsonObject): void {
    const seal = textOf(delta.signature);
    if (seal) return this.#signed(key, seal);
    if (!this.#to.has(key)) return;
    const text = textOf(delta.text) ?? textOf(delta.thinking) ?? textIn(delta.partial_json);
    if (text !== '') this.#inputs.delete(key);
    this.#to.add(key, text);
  }

  #close(key: string): void {
    const [input, signature] = [this.#inputs.get(key), this.#signatures.get(key)];
    this.#inputs.delete(key);
    this.#signatures.delete(key);
    if (input !== undefined) this.#to.add(key, input);
    if (signature !== undefined) this.#to.seal(key, signature);
    this.#to.close(key);
  }
}

const longestSignature = 1024 * 1024;

function endingOf({ stop_details: details, stop_reason: reason, stop_sequence: sequence }: JsonObject): Ending {
  const explanation = isObject(details) ? textOf(details.explanation) : null;
  return { why: stops[String(reason)] ?? 'end', sequence: textOf(sequence), explanation };
}

const usageOf = ({ claim, stored }: MessageCounts): Usage | null =>
  claim && {
    prompt: sumOf(claim.prompt),
    completion: sumOf(claim.completion),
    cached: sumOf(claim.cached),
    stored: sumOf(stored),
    reasoning: sumOf(claim.reasoning),
  };
