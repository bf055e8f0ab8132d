/**
 * The port of translation: a call in the words of one API becomes a call in those of another, and the reply comes back.
 *
 * Invariants: it does no I/O. Nothing that a client asks for is lost in silence: what the other API has no counterpart for is refused
 * by the name of its field, and what no answer depends on (hints for caches, labels) is named in `left`.
 */
import type { Result } from '@gw/contract/internal/result';
import type { JsonObject } from '@gw/contract/internal/strict-json';
import type { FieldTexts } from './shape.ts';

/** Fields of a request, as values to judge and as they are written. */
export interface Fields {
  readonly body: JsonObject;
  readonly texts: FieldTexts;
}

export interface Translator {
  /** Translates a validated request. */
  request(given: Fields, defaults: Defaults): Result<TranslatedRequest, NoCounterpart>;
  /** Translates a whole reply, the JSON of an object; null if it is no reply of the provider's API. */
  reply(json: string, terms: Terms): string | null;
  /** Begins to translate a stream. */
  stream(terms: Terms): StreamTranslator;
}

export interface Defaults {
  /** The time, in seconds since 1970. */
  readonly now: number;
  /** The bound of the answer where the provider's API demands one and the client has set none. */
  readonly maxTokens: number;
}

/** The fields of the provider's request, without the model. Values within `body` are plain at its top alone; `texts` hold all. */
export interface TranslatedRequest extends Fields {
  readonly terms: Terms;
}

/** A field that the provider's API cannot express. */
export interface NoCounterpart {
  readonly field: string;
  readonly why: string;
}

/** The facts of a request that its reply is written by; plain and small data. */
export interface Terms {
  /** The fields that were left out since no answer depends on them, by their places in the client's request. */
  readonly left: readonly string[];
  /** The model as the client named it. */
  readonly model: string;
  /** When the call came, in seconds since 1970. */
  readonly created: number;
  /** The texts that end an answer. */
  readonly stops: readonly string[];
  /** Settings that the client's API repeats in its replies, as JSON by their names. */
  readonly repeated: Readonly<Record<string, string>>;
}

/** Costs bounded memory whatever the provider sends. */
export interface StreamTranslator {
  /** Whether the provider has sent what no order of events allows, or more than is kept; it says nothing more then. */
  readonly hasFailed: boolean;
  /** Takes in an event, of which `json` is the text, and returns what the client gets for it, in order. */
  take(json: string, value: JsonObject): readonly ClientEvent[];
  /** Takes in an event that is `like` an earlier one, but for its text. */
  takeText(like: JsonObject, text: string): readonly ClientEvent[];
  /** The provider has come to its end in order. */
  end(): readonly ClientEvent[];
}

export interface ClientEvent {
  /** The name of its `event:` line; null if the client's API has none. */
  readonly name: string | null;
  readonly text: string;
}
