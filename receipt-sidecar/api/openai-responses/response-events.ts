/**
 * Reads the streams of `POST /v1/responses`: named events with a number each, the last of which has the whole response. The receipt rides in
 * that response.
 *
 * Invariant: an event is unchanged but for text that is not well-formed, and for a response in it: that says `store: false`, and nothing that
 * only the gateway may say.
 */
import type { ApiError } from '@gw/contract/errors';
import type { JsonObject } from '@gw/contract/internal/strict-json';
import { wellFormed } from '@gw/contract/internal/well-formed';
import { type Additions, addToObject, parseObject, withoutForgery } from '../../wire/json-body.ts';
import { dataEvent } from '../../wire/write-events.ts';
import { doneMark, isError } from '../openai/chunk.ts';
import { HalfPairs } from '../openai/half-pairs.ts';
import { KnownDeltas, paddingIn, type Slot, slotOf } from '../openai/known-deltas.ts';
import type { KnownDelta, LastResort, StreamEvent, StreamReader, Written } from '../port/shape.ts';
import { isObject } from './items.ts';
import { ResponseTally } from './response-tally.ts';
import { changedLiteral, changedMember, notStored, wordsForClient } from './response-text.ts';

/** The events that end a stream, with the whole response; `response.failed` is a failure. */
const ends: ReadonlySet<string> = new Set(['response.completed', 'response.incomplete']);
const failed = 'response.failed';
const textDelta = 'response.output_text.delta';

const ofNothing = {
  id: '@id@',
  object: '"response"',
  created_at: '@created@',
  status: '"failed"',
  error: '{"code":"server_error","message":"The stream ended before the response was complete."}',
  incomplete_details: 'null',
  model: '@model@',
  output: '[]',
  store: 'false',
  gw: '@gw@',
};
const lastWords = Object.entries(ofNothing)
  .map(([name, json]) => `"${name}":${json}`)
  .join();

export const lastResort: LastResort = {
  // Only a stream that ends without any of the carriers gets it.
  event: `event: ${failed}\ndata: {"type":"${failed}","response":{${lastWords}}}\n\n`,
  idPrefix: 'resp_',
  end: '',
  endEvent: '',
  carriers: [...ends, failed],
  carrierMember: 'response',
};

export class ResponseReader implements StreamReader {
  readonly said = new ResponseTally();
  readonly endEvent = Buffer.alloc(0);
  readonly needsEnd = false;
  readonly isRefuted = false;
  /** The last event has the usage, whether asked for or not. */
  readonly lacksUsage = false;
  readonly #pairs = new HalfPairs();
  #hasEnded = false;
  #hasItems = false;
  /** The number of the last event. */
  #number = -1;
  readonly #deltas = new KnownDeltas(slotsOfDelta, (letters) => {
    this.said.takeDelta(textDelta, letters);
    this.#number += 1;
  });

  get isEmpty(): boolean {
    return this.said.isEmpty;
  }

  get hasBegunToEnd(): boolean {
    return this.#hasEnded;
  }

  get isWritten(): boolean {
    return this.#hasEnded;
  }

  get isComplete(): boolean {
    return this.#hasEnded;
  }

  get isBlank(): boolean {
    return !this.#hasItems && !this.#hasEnded && this.said.isEmpty && this.said.otherBytes === 0;
  }

  /** Some servers write a mark behind the last event. */
  isEnd(data: string): boolean {
    return this.#hasEnded && doneMark.test(data);
  }

  isFailure(event: JsonObject, name: string | null): boolean {
    const { response } = event;
    const isOfResponse = isObject(response) && Boolean(response.error);
    const hasFailed = name === 'error' || isError(event) || typeOf(event, name) === failed || isOfResponse;
    // It is the last that the provider says, and has the counts.
    if (hasFailed && isObject(response)) this.said.take(response);
    return hasFailed;
  }

  take(given: string, parsed: JsonObject, name: string | null): StreamEvent {
    const { text, value } = mended(this.#joined(given, parsed, typeOf(parsed, name)), given, parsed);
    const type = typeOf(value, name);
    const { item, response, sequence_number: number } = value;
    if (Number.isSafeInteger(number)) this.#number = number as number;
    const hasText = type.endsWith('.delta') && this.#delta(type, value.delta);
    if (type === 'response.output_item.added') this.#hasItems = true;
    if (type === 'response.output_item.done' && isObject(item)) this.said.takeItem(item);
    if (isObject(response)) this.said.take(response);
    if (!ends.has(type) || !isObject(response)) return { role: 'passes', hasText, text, value };
    this.#hasEnded = true;
    return { role: 'last', hasText: false, text, value };
  }

  /** Returns the JSON of an event with the half of a character in front of its text that the one before it has left. */
  #joined(data: string, { content_index: part, output_index: item, summary_index: summary }: JsonObject, type: string) {
    const isDelta = type.endsWith('.delta');
    if (!this.#pairs.concerns(data) || (!isDelta && !type.endsWith('.done'))) return data;
    const place = [type.slice(0, type.lastIndexOf('.')), item, part, summary, ''].join('/');
    if (!isDelta) this.#pairs.end(place);
    return changedLiteral(data, 'delta', (json) => this.#pairs.mended(json, place));
  }

  #delta(type: string, delta: unknown): boolean {
    if (typeof delta !== 'string' || delta === '') return false;
    this.said.takeDelta(type, Buffer.byteLength(delta));
    return true;
  }

  takeKnown(bytes: Buffer, name: string | null): KnownDelta | null {
    return this.#pairs.isWaiting ? null : this.#deltas.known(bytes, name);
  }

  learn(bytes: Buffer, data: string, event: JsonObject, name: string | null): void {
    if (event.type === textDelta) this.#deltas.learn(bytes, data, event, name);
  }

  add(text: string, value: JsonObject, additions: Additions): string {
    const { response } = value;
    if (!isObject(response)) return text;
    return changedMember(text, 'response', (json) => addToObject(json, response, additions));
  }

  nameOf(_value: JsonObject | null, name: string | null): string | null {
    return name;
  }

  /** A response that has failed carries the receipt, and our words in place of the provider's; any other failure is an event of its own. */
  errorEvent(error: ApiError, body: string, event: Written | null, additions: Additions): Buffer {
    if (event?.value.type === failed && isObject(event.value.response)) {
      const { text, value } = mended(event.text, event.text, event.value);
      const own = changedMember(text, 'response', (json) => wordsForClient(json, value.response, error.message));
      return dataEvent(this.add(own, parseObject(own) ?? value, additions), failed);
    }
    const { code, message, param } = error;
    const told = { type: 'error', sequence_number: this.#number + 1, code, message, param, ...JSON.parse(body) };
    return dataEvent(JSON.stringify(told), 'error');
  }

  /** The stream has come to its end, so there was a last event to carry the receipt. */
  ownEvent(): Buffer {
    return Buffer.alloc(0);
  }
}

/** Returns what differs between deltas of one text; none for a delta without a number, or with logprobs. */
function slotsOfDelta(data: string, event: JsonObject): readonly Slot[] {
  const { delta, logprobs, sequence_number: number } = event;
  if (typeof delta !== 'string' || delta === '' || typeof number !== 'number') return [];
  if (Array.isArray(logprobs) && logprobs.length > 0) return [];
  return [slotOf(data, 'delta', delta), slotOf(data, 'sequence_number', number), ...paddingIn(data, event)];
}

const typeOf = ({ type }: JsonObject, name: string | null): string => (typeof type === 'string' ? type : String(name));

/** Returns the event for the client. `value` is that of `given`. */
function mended(joined: string, given: string, value: JsonObject): Written {
  const text = wellFormed(joined);
  if (!isObject(value.response)) return text === given ? { text, value } : { text, value: parseObject(text) ?? value };
  const changed = changedMember(withoutForgery(text, value), 'response', notStored);
  return changed === given ? { text, value } : { text: changed, value: parseObject(changed) ?? value };
}
