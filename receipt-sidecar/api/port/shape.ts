/**
 * The port for an API of inference: everything that the gateway knows about the form of one API's requests and replies.
 *
 * To add an API, write a folder beside this file that implements `ApiShape`, and list it in shapes.ts. No other folder of
 * the sidecar knows the field names of any API; shapes.test.ts searches for them.
 */
import type { Addresses, ApiError } from '@gw/contract/errors';
import type { SnapshotModel } from '@gw/contract/internal/snapshot';
import type { JsonObject } from '@gw/contract/internal/strict-json';
import type { TokenUsage } from '@gw/methodology/assess';
import type { Texts } from '@gw/policy/find-rules';
import type { z } from 'zod';
import type { Additions } from '../../wire/json-body.ts';
import type { Affinity } from './affinity.ts';
import type { PromptSize } from './prompt-size.ts';

/** One API: the requests of one path, and the replies to them. */
export interface ApiShape {
  /** Identifies the shape in parsed requests and on threads. */
  readonly name: string;
  /** The path that clients and the ledger know it by. */
  readonly path: string;
  /** The API whose prompts its calls only have counted, by the model's tokenizer or a provider: they generate nothing; absent: they do. */
  readonly counts?: string;
  /** The kind of model that serves it. A call of kind `embedding` generates no tokens. */
  readonly kind: SnapshotModel['kind'];
  /** Returns the body of an error reply. `requestId`: of the call; null where it is not known. */
  errorBody(error: ApiError, addresses: Addresses, requestId: string | null): string;
  readonly request: RequestShape;
  readonly reply: ReplyShape;
}

/** The JSON of each value of a body by its name, in the client's order. */
export type FieldTexts = ReadonlyMap<string, string>;

export interface RequestShape {
  /** Its top-level keys are the fields that belong to the API; other fields are left to the provider. */
  readonly schema: z.ZodType & { readonly shape: object };
  /** The field that errors about the length of the prompt name. */
  readonly promptField: string;
  /** The field that may hold many texts, or lists of tokens; null if there is none. */
  readonly list: ListField | null;
  /** Returns the first contradiction between fields of a body that the schema has accepted; null if there is none. */
  contradiction(body: JsonObject): ApiError | null;
  /** Summarises a validated body of `promptBytes` bytes. */
  describe(body: JsonObject, promptBytes: number): RequestSummary;
  /** Returns the prompt as far as its tokens can be counted for certain. */
  prompt(body: JsonObject): Prompt;
  /** Returns the texts to screen. `decoded` are the texts of the body's token lists, in their order. */
  texts(body: JsonObject, decoded: readonly string[] | undefined): Texts;
  /** Its top-level fields that are whole numbers. */
  readonly integers: readonly string[];
  /** Returns the fields, as JSON, that the gateway sets in a stream's body so that the provider reports usage in it. */
  askingForUsage(body: JsonObject, texts: FieldTexts): FieldTexts;
  /** The fields, as JSON, that the gateway sends whatever the client wrote in them. */
  readonly fixed: FieldTexts;
  /** How each answer of a request without a limit can be bounded; null: not at all. */
  readonly bound: AnswerBound | null;
  /** Whether the API has a temperature, whose default differs between servers. */
  readonly hasTemperature: boolean;
  /** Bodies without a model, by which the code is warmed up at start. */
  readonly samples: readonly JsonObject[];
}

export interface AnswerBound {
  /** A field that every server knows. */
  readonly field: string;
  /** The length that the API itself gives an answer without a limit, in tokens; null: as long as the model likes. */
  readonly usual: number | null;
}

export interface ListField {
  readonly field: string;
  /** Whether a value is one of the texts that the list may hold. */
  readonly isText: (value: unknown) => boolean;
}

/** The facts that the gateway needs about a request besides the gateway's own fields. */
export interface RequestSummary extends PromptSize {
  readonly stream: boolean;
  /** Whether the client asked for the usage of a stream. */
  readonly wantsUsage: boolean;
  /** How many prompts the request has, each of which is read separately. */
  readonly prompts: number;
  /** How many answers the client asked for, for all prompts together. */
  readonly answers: number;
  /** How many answers are generated, of which `answers` are delivered. */
  readonly candidates: number;
  /** Whether the reply repeats the prompt. */
  readonly echoes: boolean;
  /** The field by which the client bounds the generated tokens, and that bound for each answer; null: no bound. */
  readonly outputField: string | null;
  readonly maxTokens: number | null;
  /** Whether the request asks the provider to search, or to read what it does not hold. */
  readonly asksToRead: boolean;
  /** The tools that the provider would run by itself; absent: none. */
  readonly hostedTools?: readonly HostedTool[];
  /** True if the answer is to be in sound too; absent: it is not. */
  readonly speaks?: true;
  /** Says which calls begin with the same prompt, as far as the client tells; null: it does not. */
  readonly affinity: Affinity | null;
}

export interface HostedTool {
  /** Its type without a date, as the catalogue allows it. */
  readonly kind: string;
  /** Its place in the request. */
  readonly at: string;
}

export interface Prompt {
  readonly texts: readonly string[];
  /** How many tokens frame the texts. */
  readonly frame: number;
  /** Whether texts and frame are the whole prompt. */
  readonly isWhole: boolean;
  /** Whether all texts form one prompt; otherwise each text is one. */
  readonly together: boolean;
}

export interface ReplyShape {
  /** Returns an empty tally of what a JSON reply says. */
  tally(): ReplyTally;
  /** Whether a JSON object that came with status 200 says that the provider failed. */
  isFailure(value: JsonObject): boolean;
  /** Returns the JSON that a client gets of a JSON reply, and its value. `text` is the JSON of `value`. */
  mended(text: string, value: JsonObject): Written;
  /** Reads a stream; null for an API without streams. */
  readonly stream: StreamShape | null;
}

/** JSON, and the value of that JSON. */
export interface Written {
  readonly text: string;
  readonly value: JsonObject;
}

/** Tokens as the provider states them; null if it does not. Any whole number is possible, even one that cannot be true. */
export interface ClaimedUsage {
  readonly prompt: number | null;
  readonly completion: number | null;
  readonly total: number | null;
  readonly cached: number | null;
  readonly reasoning: number | null;
  /** The tokens of a prediction that were generated and discarded. */
  readonly rejected: number | null;
}

/** The content of a reply so far. The claim is not yet believed: receipt/count.ts judges it by the text. */
export interface SaidSoFar {
  readonly claim: ClaimedUsage | null;
  /** Whether text came after the claim, which was then a running count. */
  readonly isStale: boolean;
  /** UTF-8 bytes of the answer, tool calls and refusals included. */
  readonly answerBytes: number;
  readonly reasoningBytes: number;
  /** UTF-8 bytes that may be text of the model. */
  readonly otherBytes: number;
  /** Whether the provider says that it withheld text of an answer, which was written all the same. */
  readonly isFiltered: boolean;
}

export interface ReplyTally extends SaidSoFar {
  /** Takes in a whole reply. Costs no more than its length. */
  take(value: JsonObject): void;
}

export interface StreamShape {
  /** Envoy's last resort (envoy/degraded.lua) writes this into a stream that this process could not finish. */
  readonly lastResort: LastResort;
  /** Begins to read one stream. `requestId`: of the call, for errors that name it. */
  open(request: Pick<RequestSummary, 'answers' | 'wantsUsage'>, requestId?: string | null): StreamReader;
  /** Returns the stream that says what a whole reply, the JSON of an object, says, as the provider would have sent it. */
  whole(reply: string): Buffer;
}

export interface LastResort {
  /**
   * The event that carries the receipt. `@id@`, `@created@` and `@model@` stand for those of the stream, `@stop_reason@` and
   * `@output_tokens@` for what its last piece says, as some APIs have it (or `null` and `0`), `@gw@` for the receipt.
   */
  readonly event: string;
  /** Begins the id that is made up if the stream names none. */
  readonly idPrefix: string;
  /** The data of the event behind which the provider says nothing more; empty if the stream has no such event. */
  readonly end: string;
  /** The client gets that event in this form; empty if the stream has none. */
  readonly endEvent: string;
  /** The events of a provider, by their names, of which the first gets the receipt and is the last one; none if there are no such names. */
  readonly carriers: readonly string[];
  /** The member of such an event that the receipt goes into; null: the event itself. */
  readonly carrierMember: string | null;
}

/** Reads the events of one stream, and writes those of the gateway. It costs bounded memory whatever the provider sends. */
export interface StreamReader {
  readonly said: SaidSoFar;
  /** Whether nothing was delivered yet that a model could have generated. */
  readonly isEmpty: boolean;
  /** Whether any answer has come to its end. */
  readonly hasBegunToEnd: boolean;
  /** Whether this is the end of all answers, as far as can be told before the stream itself ends. */
  readonly isWritten: boolean;
  /** Whether each answer that has begun has come to its end, and at least one has. */
  readonly isComplete: boolean;
  /** Whether nothing of an answer has come, not even its end. */
  readonly isBlank: boolean;
  /** Whether text came behind an event that had looked like the end. */
  readonly isRefuted: boolean;
  /** Whether the client asked for usage that no event has named yet. */
  readonly lacksUsage: boolean;
  /** The event that ends a stream in order. */
  readonly endEvent: Buffer;
  /** Whether clients fail without that event, so that it is added where a provider leaves it out. */
  readonly needsEnd: boolean;
  /** Whether the data of an event mark the end of the stream. */
  isEnd(data: string): boolean;
  isFailure(value: JsonObject, name: string | null): boolean;
  /** Takes in an event. `data` is the JSON text of `value`. */
  take(data: string, value: JsonObject, name: string | null): StreamEvent;
  /** Takes in the text of an event that differs from an earlier one in plain letters of text alone; null: it is none. */
  takeKnown(bytes: Buffer, name: string | null): KnownDelta | null;
  /** Remembers an event that went out unchanged, for `takeKnown`. */
  learn(bytes: Buffer, data: string, value: JsonObject, name: string | null): void;
  /** Adds the receipt to the JSON of an event that carries it. */
  add(text: string, value: JsonObject, additions: Additions): string;
  /** Returns the name by which an event goes out; null: by none. `value` is null for an event of which nothing but its bytes is known. */
  nameOf(value: JsonObject | null, name: string | null): string | null;
  /**
   * Returns the event by which a stream ends that has failed. `body` is the error as the body of a reply, `event` the one by which the
   * provider says so, if `isFailure` knows it, and `additions` are those of the receipt, if no event has had it.
   */
  errorEvent(error: ApiError, body: string, event: Written | null, additions: Additions): Buffer;
  /** Returns an event of the gateway's own with the receipt, and with `usage` if the client lacks it. */
  ownEvent(additions: Additions, usage: TokenUsage | null): Buffer;
}

/** Holds until the next event. */
export interface KnownDelta {
  /** The earlier event. */
  readonly like: JsonObject;
  /** Where the text is in the bytes of the event: ASCII without escapes. */
  readonly from: number;
  readonly end: number;
}

export interface StreamEvent extends Written {
  /**
   * The client gets `text`.
   * `passes`: goes on to the client. `carrier`: the receipt may ride on it. `usage`: the same, for an event that has only
   * the usage. `last`: as `carrier`, and the stream ends with it. `dropped`: the client did not ask for it.
   */
  readonly role: 'passes' | 'carrier' | 'usage' | 'last' | 'dropped';
  /** Whether it holds text, so that nothing before it was the end. */
  readonly hasText: boolean;
}
