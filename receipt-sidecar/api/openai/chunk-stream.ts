/**
 * Reads OpenAI's streams of chunks. The receipt rides on the last chunk that has choices, and on the usage chunk as well if
 * the client asked for one. Some providers give their usage chunk choices that say nothing, or put the usage on a chunk with
 * text; some count as they go, so the last count that covers all of the text holds.
 *
 * Invariant: a chunk is unchanged but for a usage that nobody asked for, text that is not well-formed (split-pairs.ts), and what clients
 * need and it lacks (missing-parts.ts). One that is there for such a usage alone is dropped with all that stands on it, since clients fail at a chunk without choices.
 */
import type { ApiError } from '@gw/contract/errors';
import type { JsonObject } from '@gw/contract/internal/strict-json';
import type { TokenUsage } from '@gw/methodology/assess';
import { type Additions, addToObject, withoutUsage } from '../../wire/json-body.ts';
import { dataEvent } from '../../wire/write-events.ts';
import type { KnownDelta, RequestSummary, StreamEvent, StreamReader, StreamShape } from '../port/shape.ts';
import { isPromptBlocked } from './blocked-prompt.ts';
import { ChoiceEnds } from './choice-ends.ts';
import { doneMark, isError, type Origin, originOf } from './chunk.ts';
import { KnownDeltas, slotsOfChunk } from './known-deltas.ts';
import { MissingParts } from './missing-parts.ts';
import { ReplyCounts } from './reply-counts.ts';
import { SplitPairs } from './split-pairs.ts';
import { type ChoiceForm, wholeAsChunks } from './whole-as-chunks.ts';

const done = '[DONE]';
const doneEvent = Buffer.from(`data: ${done}\n\n`);

/** `object` is what the chunks call themselves, `idPrefix` what their ids begin with. */
export const chunkStream = (object: string, idPrefix: string, form: ChoiceForm): StreamShape => {
  const choices = [{ index: 0, ...form.nothing, finish_reason: null }];
  const last = JSON.stringify(choices);
  return {
    lastResort: {
      event: `data: {"id":@id@,"object":"${object}","created":@created@,"model":@model@,"choices":${last},"gw":@gw@}\n\n`,
      idPrefix,
      end: done,
      endEvent: doneEvent.toString(),
      carriers: [],
      carrierMember: null,
    },
    open: (request) => new ChunkReader(request, object, choices),
    whole: (reply) => wholeAsChunks(reply, object, form, doneEvent),
  };
};

class ChunkReader implements StreamReader {
  readonly said = new ReplyCounts();
  readonly endEvent = doneEvent;
  readonly needsEnd = false;
  readonly #wantsUsage: boolean;
  readonly #object: string;
  /** A chunk that has nothing to say has these choices, since clients read the first one without looking. */
  readonly #choices: readonly JsonObject[];
  readonly #ends: ChoiceEnds;
  readonly #deltas: KnownDeltas;
  readonly #pairs = new SplitPairs();
  readonly #missing = new MissingParts();
  #origin: Origin | null = null;
  #sawUsage = false;

  constructor(
    { answers, wantsUsage }: Pick<RequestSummary, 'answers' | 'wantsUsage'>,
    object: string,
    choices: readonly JsonObject[],
  ) {
    this.#choices = choices;
    this.#wantsUsage = wantsUsage;
    this.#object = object;
    this.#ends = new ChoiceEnds(answers);
    this.#deltas = new KnownDeltas(slotsOfChunk, (letters) => {
      this.said.takeText(letters);
      this.#ends.takeText();
    });
  }

  get isEmpty(): boolean {
    return this.said.isEmpty;
  }

  get hasBegunToEnd(): boolean {
    return this.#ends.hasBegun;
  }

  get isWritten(): boolean {
    return this.#ends.isCredible;
  }

  get isComplete(): boolean {
    return this.#ends.areAll;
  }

  get isBlank(): boolean {
    return this.said.isEmpty && this.said.otherBytes === 0 && !this.#ends.hasBegun;
  }

  get isRefuted(): boolean {
    return this.#ends.isRefuted;
  }

  get lacksUsage(): boolean {
    return this.#wantsUsage && !this.#sawUsage;
  }

  isEnd(data: string): boolean {
    return doneMark.test(data);
  }

  isFailure(chunk: JsonObject, name: string | null): boolean {
    return name === 'error' || isError(chunk) || isPromptBlocked(chunk);
  }

  take(given: string, parsed: JsonObject): StreamEvent {
    const mended = this.#pairs.mended(given, parsed);
    const { text: data, value: chunk } = this.#missing.added(mended.text, mended.value);
    this.#origin ??= originOf(chunk);
    this.said.take(chunk);
    const choices = Array.isArray(chunk.choices) ? chunk.choices : [];
    const isBare = choices.length === 0 || (this.#ends.isAtEnd && this.#ends.sayNothing(choices));
    if (chunk.usage) this.#sawUsage = true;
    if (chunk.usage && isBare) {
      this.#ends.takeUsage();
      return { role: this.#wantsUsage ? 'usage' : 'dropped', hasText: false, text: data, value: chunk };
    }
    const hasText = this.#ends.take(choices);
    const { text, value } = this.#wantsUsage ? { text: data, value: chunk } : withoutUsage(data, chunk);
    return { role: choices.length > 0 && this.#ends.isAtEnd ? 'carrier' : 'passes', hasText, text, value };
  }

  takeKnown(bytes: Buffer, name: string | null): KnownDelta | null {
    return name === 'error' || this.#pairs.isWaiting ? null : this.#deltas.known(bytes);
  }

  learn(bytes: Buffer, data: string, chunk: JsonObject): void {
    this.#deltas.learn(bytes, data, chunk);
  }

  add(text: string, value: JsonObject, additions: Additions): string {
    return addToObject(text, value, additions);
  }

  nameOf(): null {
    return null;
  }

  errorEvent(_error: ApiError, body: string): Buffer {
    return dataEvent(body);
  }

  ownEvent(additions: Additions, usage: TokenUsage | null): Buffer {
    const said = usage ? { choices: [], usage: usageOf(usage) } : { choices: this.#choices };
    const chunk = { ...this.#origin, object: this.#object, ...said };
    return dataEvent(addToObject(JSON.stringify(chunk), chunk, additions));
  }
}

const usageOf = ({ completionTokens, promptTokens }: TokenUsage) => ({
  prompt_tokens: promptTokens,
  completion_tokens: completionTokens,
  total_tokens: promptTokens + completionTokens,
});
