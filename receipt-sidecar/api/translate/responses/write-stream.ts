/** Writes streams of Responses. Its last events repeat the whole reply, so that is kept, within bounds. */
import type { JsonObject } from '@gw/contract/internal/strict-json';
import type { ClientEvent, Terms } from '../../port/translator.ts';
import { write } from '../model/json.ts';
import type { Block, Ending, FlowWriter, Kind, Origin, Usage, WholeBlock } from '../model/reply.ts';
import { mostKept } from '../model/sequence.ts';
import { Whole } from '../model/whole.ts';
import {
  explanationOf,
  Items,
  isAnswer,
  itemOf,
  messageOf,
  partOf,
  responseOf,
  type State,
  statusOf,
} from './write-reply.ts';

/** Characters that a block costs besides its text. */
const blockCost = 256;

const deltas: Readonly<Record<Kind, string>> = {
  text: 'response.output_text.delta',
  refusal: 'response.refusal.delta',
  thinking: 'response.reasoning_text.delta',
  use: 'response.function_call_arguments.delta',
  free: 'response.custom_tool_call_input.delta',
};

interface Open {
  readonly index: number;
  readonly id: string;
  /** The parts of a message so far; null for another item. */
  readonly parts: JsonObject[] | null;
}

export class ResponsesWriter implements FlowWriter {
  readonly #terms: Terms;
  readonly #whole = new Whole();
  #out: ClientEvent[] = [];
  #number = 0;
  #kept = 0;
  #origin: Origin = { id: '', model: '', created: 0 };
  #items = new Items(this.#origin);
  #item: Open | null = null;
  #block: Block | null = null;
  /** The place of the open block, as members of an event. Nearly all events are deltas, so it is written once. */
  #at = '';
  #hasRefused = false;

  constructor(terms: Terms) {
    this.#terms = terms;
  }

  /** Whether the reply is too long to be repeated. */
  get isTooLong(): boolean {
    return this.#kept > mostKept;
  }

  take(): ClientEvent[] {
    const out = this.#out;
    this.#out = [];
    return out;
  }

  start(origin: Origin): void {
    this.#origin = origin;
    this.#items = new Items(origin);
    this.#event('response.created', { response: this.#response('in_progress') });
    this.#event('response.in_progress', { response: this.#response('in_progress') });
  }

  open(block: Block): void {
    this.#whole.open(block);
    this.#block = block;
    this.#hasRefused ||= block.kind === 'refusal';
    this.#kept += blockCost;
    const empty: WholeBlock = { ...block, text: '', seal: null, logprobs: null };
    if (!isAnswer(block) || this.#item?.parts == null) {
      this.#leave();
      const { id, index } = this.#items.begin(block.kind);
      this.#item = { id, index, parts: isAnswer(block) ? [] : null };
      const item = isAnswer(block) ? messageOf(id, [], 'in_progress') : itemOf(id, empty, 'in_progress');
      this.#event('response.output_item.added', { output_index: index, item });
    }
    if (isAnswer(block)) this.#event('response.content_part.added', { ...this.#place(), part: partOf(empty) });
    else if (block.kind === 'thinking')
      this.#event('response.content_part.added', { ...this.#place(), part: { type: 'reasoning_text', text: '' } });
    const isInput = block.kind === 'use' || block.kind === 'free';
    this.#at = JSON.stringify(isInput ? this.#itemPlace() : this.#place()).slice(1, -1);
  }

  add(text: string, logprobs: readonly unknown[] | null): void {
    this.#whole.add(text, logprobs);
    this.#kept += text.length + (logprobs === null ? 0 : blockCost * logprobs.length);
    if (this.#block === null) return;
    const { kind } = this.#block;
    const name = deltas[kind];
    const rest = kind === 'text' ? `,"logprobs":${JSON.stringify(logprobs ?? [])}` : '';
    const said = `"delta":${JSON.stringify(text)}${rest}`;
    this.#out.push({ name, text: `{"type":"${name}","sequence_number":${this.#number++},${this.#at},${said}}` });
  }

  seal(seal: string): void {
    this.#kept += seal.length;
    this.#whole.seal(seal);
  }

  close(): void {
    this.#whole.close();
    const block = this.#whole.last();
    if (block === undefined || this.#item === null) return;
    const { logprobs, name, text } = block;
    const place = this.#place();
    if (block.kind === 'text') this.#event('response.output_text.done', { ...place, text, logprobs: logprobs ?? [] });
    else if (block.kind === 'refusal') this.#event('response.refusal.done', { ...place, refusal: text });
    else if (block.kind === 'use')
      this.#event('response.function_call_arguments.done', { ...this.#itemPlace(), name, arguments: text });
    else if (block.kind === 'free')
      this.#event('response.custom_tool_call_input.done', { ...this.#itemPlace(), input: text });
    else {
      this.#event('response.reasoning_text.done', { ...place, text });
      this.#event('response.content_part.done', { ...place, part: { type: 'reasoning_text', text } });
    }
    if (isAnswer(block)) {
      this.#event('response.content_part.done', { ...place, part: partOf(block) });
      this.#item.parts?.push(partOf(block));
    } else this.#done(itemOf(this.#item.id, block, 'completed'));
    this.#block = null;
  }

  end(ending: Ending, usage: Usage | null): void {
    const words = this.#hasRefused ? null : explanationOf(ending);
    if (words !== null) {
      this.open(words);
      this.add(words.text, null);
      this.close();
    }
    const status = statusOf(ending, this.#hasRefused);
    this.#leave(status);
    const response = this.#response(status, ending, usage);
    this.#event(`response.${status}`, { response });
  }

  /** Ends a message, to which another text could have been added. */
  #leave(status: State['status'] = 'completed'): void {
    if (this.#item?.parts) this.#done(messageOf(this.#item.id, this.#item.parts, status));
  }

  #done(item: JsonObject): void {
    this.#event('response.output_item.done', { output_index: this.#item?.index ?? this.#items.all.length, item });
    this.#items.all.push(item);
    this.#item = null;
  }

  #itemPlace(): JsonObject {
    return { item_id: this.#item?.id, output_index: this.#item?.index };
  }

  #place(): JsonObject {
    return { ...this.#itemPlace(), content_index: this.#item?.parts ? this.#item.parts.length : 0 };
  }

  #response(status: State['status'], ending: Ending | null = null, usage: Usage | null = null): JsonObject {
    return responseOf(this.#origin, this.#terms, { status, output: this.#items.all, ending, usage });
  }

  #event(type: string, rest: JsonObject): void {
    this.#out.push({ name: type, text: write({ type, sequence_number: this.#number++, ...rest }) });
  }
}
