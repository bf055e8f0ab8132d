/**
 * Reads the events of a message. The receipt rides on `message_delta`, which says why the message ended and what it took.
 *
 * Invariant: an event is unchanged but for text that is not well-formed, a usage that `message_delta` lacks, without which clients fail, and
 * what only the gateway may say where clients take it over into the message.
 */
import type { ApiError } from '@gw/contract/errors';
import { type Member, membersOf, objectOf } from '@gw/contract/internal/json-members';
import type { JsonObject } from '@gw/contract/internal/strict-json';
import { wellFormed } from '@gw/contract/internal/well-formed';
import { messagesErrorOf } from '@gw/contract/messages-errors';
import type { TokenUsage } from '@gw/methodology/assess';
import { type Additions, addToObject, parseObject, withoutForgery } from '../../wire/json-body.ts';
import { dataEvent } from '../../wire/write-events.ts';
import { doneMark } from '../openai/chunk.ts';
import { HalfPairs } from '../openai/half-pairs.ts';
import { KnownDeltas, type Slot, slotOf } from '../openai/known-deltas.ts';
import { sumOf } from '../openai/usage-names.ts';
import type { KnownDelta, StreamEvent, StreamReader, StreamShape } from '../port/shape.ts';
import { MessageCounts } from './counts.ts';
import { wholeAsEvents } from './whole-as-events.ts';

const stop = '{"type":"message_stop"}';
const stopEvent = dataEvent(stop, 'message_stop');
/** No brace before it: it is the type of the event itself. Bedrock adds figures of its own behind it. */
const stopMark = /^\s*\{[^{}]{0,200}?"type"\s*:\s*"message_stop"/;

export const messageStream: StreamShape = {
  lastResort: {
    event:
      'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":@stop_reason@,"stop_sequence":null},"usage":{"output_tokens":@output_tokens@},"gw":@gw@}\n\n',
    idPrefix: 'msg_',
    end: stop,
    endEvent: stopEvent.toString(),
    carriers: [],
    carrierMember: null,
  },
  open: (_request, requestId = null) => new MessageReader(requestId),
  whole: (reply) => wholeAsEvents(reply, stopEvent),
};

const isObject = (value: unknown): value is JsonObject =>
  value !== null && typeof value === 'object' && !Array.isArray(value);
const nothingTold = '{"stop_reason":null,"stop_sequence":null}';
/** The longest end that an event of the gateway repeats, in letters. */
const longestEnd = 4096;

class MessageReader implements StreamReader {
  readonly said = new MessageCounts();
  readonly endEvent = stopEvent;
  readonly needsEnd = true;
  readonly #requestId: string | null;
  readonly #texts = new KnownDeltas(slotsOf('text'), (letters) => this.said.takeText(letters, 'text'));
  readonly #thoughts = new KnownDeltas(slotsOf('thinking'), (letters) => this.said.takeText(letters, 'thinking'));
  readonly #pairs = new HalfPairs();
  hasBegunToEnd = false;
  isRefuted = false;
  #sawUsage = false;
  /** The end as the provider has told it, as JSON: a client takes the last that is told. */
  #end = nothingTold;

  constructor(requestId: string | null) {
    this.#requestId = requestId;
  }

  get isEmpty(): boolean {
    return this.said.isEmpty;
  }

  get isWritten(): boolean {
    return this.hasBegunToEnd && !this.isRefuted;
  }

  get isComplete(): boolean {
    return this.hasBegunToEnd;
  }

  get isBlank(): boolean {
    return this.said.isEmpty && this.said.otherBytes === 0 && !this.hasBegunToEnd;
  }

  get lacksUsage(): boolean {
    return !this.#sawUsage;
  }

  isEnd(data: string): boolean {
    // Some servers write the mark of another API behind the end.
    return stopMark.test(data) || (this.hasBegunToEnd && doneMark.test(data));
  }

  isFailure(event: JsonObject, name: string | null): boolean {
    return name === 'error' || event.type === 'error' || Boolean(event.error);
  }

  take(given: string, parsed: JsonObject): StreamEvent {
    const { text, value } = cleaned(this.#joined(given, parsed), given, parsed);
    switch (value.type) {
      case 'message_start':
        if (isObject(value.message)) this.said.takeUsage(value.message.usage);
        return { role: 'passes', hasText: false, text, value };
      case 'content_block_start':
        return { role: 'passes', hasText: this.#told(this.said.takeBlock(value.content_block)), text, value };
      case 'content_block_delta':
        return { role: 'passes', hasText: this.#told(this.said.takeDelta(value.delta)), text, value };
      case 'message_delta':
        return this.#takeEnd(text, value);
    }
    return { role: 'passes', hasText: false, text, value };
  }

  /** Returns the JSON of an event with the half of a character in front of its text that the one before it has left. */
  #joined(data: string, { index, type }: JsonObject): string {
    if (type === 'content_block_stop') this.#pairs.end(`${String(index)}/`);
    if (type !== 'content_block_delta' || !this.#pairs.concerns(data)) return data;
    const mended = ([name, json]: Member): Member => [
      name,
      json.startsWith('"') && name !== 'type' ? this.#pairs.mended(json, `${String(index)}/${name}`) : json,
    ];
    const members = membersOf(data).map(
      ([name, json]): Member =>
        name === 'delta' && json.startsWith('{') ? [name, objectOf(membersOf(json).map(mended))] : [name, json],
    );
    return objectOf(members);
  }

  #told(hasText: boolean): boolean {
    if (hasText && this.hasBegunToEnd) this.isRefuted = true;
    return hasText;
  }

  #takeEnd(text: string, value: JsonObject): StreamEvent {
    const { delta } = value;
    if (this.said.takeUsage(value.usage)) this.#sawUsage = true;
    if (isObject(delta) && delta.stop_reason) {
      this.said.takeStop(delta.stop_reason);
      this.hasBegunToEnd = true;
      const { stop_details, stop_reason, stop_sequence } = delta;
      const written = JSON.stringify({ stop_reason, stop_sequence, stop_details });
      if (written.length <= longestEnd) this.#end = written;
    }
    const role = this.hasBegunToEnd ? 'carrier' : 'passes';
    if (isObject(value.usage)) return { role, hasText: false, text, value };
    const counted = { ...value, usage: { output_tokens: sumOf(this.said.claim?.completion ?? null) } };
    const members = membersOf(text).filter(([name]) => name !== 'usage');
    return {
      role,
      hasText: false,
      text: objectOf([...members, ['usage', JSON.stringify(counted.usage)]]),
      value: counted,
    };
  }

  takeKnown(bytes: Buffer, name: string | null): KnownDelta | null {
    if (name !== 'content_block_delta' || this.#pairs.isWaiting) return null;
    return this.#texts.known(bytes) ?? this.#thoughts.known(bytes);
  }

  learn(bytes: Buffer, data: string, event: JsonObject): void {
    this.#texts.learn(bytes, data, event);
    this.#thoughts.learn(bytes, data, event);
  }

  add(text: string, value: JsonObject, additions: Additions): string {
    return addToObject(text, value, additions);
  }

  nameOf(value: JsonObject | null, name: string | null): string | null {
    return typeof value?.type === 'string' && /^\w{1,64}$/.test(value.type) ? value.type : name;
  }

  errorEvent(error: ApiError, body: string): Buffer {
    return dataEvent(messagesErrorOf(error, body, this.#requestId), 'error');
  }

  ownEvent(additions: Additions, counts: TokenUsage | null): Buffer {
    const usage = counts ? usageOf(counts) : { output_tokens: sumOf(this.said.claim?.completion ?? null) };
    const text = `{"type":"message_delta","delta":${this.#end},"usage":${JSON.stringify(usage)}}`;
    return dataEvent(addToObject(text, { type: 'message_delta', usage }, additions), 'message_delta');
  }
}

const usageOf = ({ cachedPromptTokens, completionTokens, promptTokens }: TokenUsage) => ({
  input_tokens: promptTokens - cachedPromptTokens,
  cache_read_input_tokens: cachedPromptTokens,
  output_tokens: completionTokens,
});

/** Fields whose objects clients make their message of. */
const takenOver = ['message', 'content_block'] as const;
const couldForge = /gw|routing_trace|__proto__|\\u/i;

/** Returns an event without what only the gateway may say in those objects, and with text that can be sent on. `parsed` is the value of `given`. */
function cleaned(
  joined: string,
  given: string,
  parsed: JsonObject,
): { readonly text: string; readonly value: JsonObject } {
  const written = joined.includes('\\u') ? wellFormed(joined) : joined;
  const isWell = written === given;
  const value = isWell ? parsed : (parseObject(written) ?? parsed);
  const field = takenOver.find((name) => isObject(value[name]));
  if (field === undefined || !couldForge.test(written)) return { text: written, value };
  const members = membersOf(written).map(([name, json]) => {
    const inner = name === field && json.startsWith('{') ? parseObject(json) : null;
    return [name, inner ? withoutForgery(json, inner) : json] as const;
  });
  const text = objectOf(members);
  return { text, value: parseObject(text) ?? value };
}

/** Returns where the text of a delta is that has nothing else; none for any other event. */
const slotsOf =
  (name: 'text' | 'thinking') =>
  (data: string, { delta, index, type, ...others }: JsonObject): readonly Slot[] => {
    if (type !== 'content_block_delta' || typeof index !== 'number' || Object.keys(others).length > 0) return [];
    if (!isObject(delta) || delta.type !== `${name}_delta` || Object.keys(delta).length !== 2) return [];
    const text = delta[name];
    return typeof text === 'string' && text !== '' ? [slotOf(data, name, text)] : [];
  };
