/**
 * The model of a call: what a request says, in no API's words. Each API has a reader into it and a writer out of it.
 *
 * `at` is a place in the client's request, for errors that name it.
 */

/** JSON as it was written: numbers keep their digits, and names their order. */
export type Json = string;

export interface Call {
  readonly stream: boolean;
  /** The instructions in front of the first turn. */
  readonly system: readonly Text[];
  readonly turns: readonly Turn[];
  readonly tools: readonly Tool[];
  readonly choice: Choice | null;
  readonly parallel: Placed<boolean> | null;
  readonly format: Format | null;
  /** How much the model shall reason. */
  readonly effort: Placed<string> | null;
  /** Whether the client asks for the words of the reasoning, which some providers keep back otherwise. */
  readonly showsReasoning: boolean;
  readonly stops: Placed<readonly string[]> | null;
  /** Whether the client wants the log probabilities of the answer's tokens. */
  readonly logprobs: Placed<true> | null;
  /** The other fields. */
  readonly settings: readonly Setting[];
}

interface InRequest {
  readonly at: string;
}
export interface Placed<T> extends InRequest {
  readonly is: T;
}

export type Part = Text | Picture | Document;
export interface Text extends InRequest {
  readonly kind: 'text';
  readonly text: string;
}
export interface Picture extends InRequest {
  readonly kind: 'picture';
  /** A link, or `data:` with base64. */
  readonly url: string;
  readonly detail: string | null;
}
export interface Document extends InRequest {
  readonly kind: 'document';
  readonly url: string;
  readonly name: string | null;
}

/** A part of what the model has said. */
export type Said = Text | Refusal | Thinking | Use;
export interface Refusal extends InRequest {
  readonly kind: 'refusal';
  readonly text: string;
}
export interface Thinking extends InRequest {
  readonly kind: 'thinking';
  readonly text: string;
  /** The provider's own proof of it, or its encrypted form, without which it takes nothing back; null: there is none. */
  readonly seal: string | null;
  /** Whether the provider keeps the text to itself. */
  readonly isHidden: boolean;
}
export interface Use extends InRequest {
  readonly kind: 'use';
  readonly id: string;
  readonly name: string;
  /** JSON of the arguments, or the text for a tool of free form. */
  readonly input: string;
  readonly isFree: boolean;
}

export type Turn = Spoken | ModelTurn | ToolTurn;
export interface Spoken extends InRequest {
  readonly by: 'user' | 'system';
  readonly content: readonly Part[];
}
export interface ModelTurn extends InRequest {
  readonly by: 'model';
  readonly content: readonly Said[];
}
export interface ToolTurn extends InRequest {
  readonly by: 'tool';
  readonly id: string;
  readonly content: readonly Part[];
  readonly hasFailed: boolean;
  readonly isFree: boolean;
}

export interface Tool extends InRequest {
  readonly name: string;
  readonly description: string | null;
  /** The schema of the arguments; null: there is none, or the tool takes free text. */
  readonly schema: Json | null;
  readonly strict: true | null;
  /** A tool of free form, and the form of its text. */
  readonly free: FreeForm | null;
}
export interface FreeForm {
  readonly grammar: { readonly definition: string; readonly syntax: string } | null;
}

export interface Choice extends InRequest {
  readonly mode: 'none' | 'auto' | 'required';
  /** The tools among which it is; null: all. */
  readonly among: readonly ChosenTool[] | null;
  /** Whether it names one tool, which has to be used. */
  readonly isOne: boolean;
}
export interface ChosenTool {
  readonly name: string;
  readonly isFree: boolean;
}

/** An answer in JSON; of any schema if that is null. */
export interface Format extends InRequest {
  readonly name: string;
  readonly description: string | null;
  readonly schema: Json | null;
  readonly strict: true | null;
}

export interface Setting extends InRequest {
  /** Its name in the model: that of chat where chat has it. */
  readonly name: string;
  readonly json: Json;
}
