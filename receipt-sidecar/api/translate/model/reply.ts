/**
 * The model of a reply: blocks of text, thoughts and tool calls, one behind the other. Each API has a reader that tells its own replies
 * to a `Flow`, and a writer that is one.
 */
import { randomUUID } from 'node:crypto';
import type { JsonObject } from '@gw/contract/internal/strict-json';
import type { ClientEvent } from '../../port/translator.ts';

/** `use`: a call of a tool with JSON; `free`: one with a free text. */
export type Kind = 'text' | 'refusal' | 'thinking' | 'use' | 'free';

export interface Block {
  readonly kind: Kind;
  /** The id of a call. */
  readonly id: string;
  /** The name of a call's tool; or `hidden`. */
  readonly name: string;
}

/** The name of a thought of which there is nothing but the seal. */
export const hidden = 'hidden';

/** `pause`: it may be asked to go on; `context`: nothing more fits. */
export type Stop = 'end' | 'length' | 'tools' | 'sequence' | 'refusal' | 'filter' | 'pause' | 'context';

export interface Ending {
  readonly why: Stop;
  /** The text that ended it. */
  readonly sequence: string | null;
  /** Why the model refused, in words. */
  readonly explanation: string | null;
}

/** Counts of tokens. `prompt` includes the cached ones. */
export interface Usage {
  readonly prompt: number;
  readonly completion: number;
  readonly cached: number;
  readonly stored: number;
  readonly reasoning: number;
}

export interface Origin {
  /** Without the prefix by which an API marks its ids. */
  readonly id: string;
  readonly model: string;
  /** Seconds since 1970. */
  readonly created: number;
}

const prefixes = /^(?:chatcmpl-|msg_|resp_)/;
/** Returns the id that a provider gives a reply as the model has it; a new one if it gives none. */
export function bareId(id: unknown): string {
  const given = typeof id === 'string' ? id.slice(0, longestId).replace(prefixes, '') : '';
  return given || randomUUID().replaceAll('-', '');
}
/** Each event can repeat it. */
const longestId = 256;

/** Is told a reply in order, one block at a time. */
export interface Flow {
  start(origin: Origin): void;
  open(block: Block): void;
  /** Adds to the open block. */
  add(text: string, logprobs: readonly unknown[] | null): void;
  /** Seals the thought that is open. */
  seal(seal: string): void;
  close(): void;
  end(ending: Ending, usage: Usage | null): void;
}

/** Writes a stream. */
export interface FlowWriter extends Flow {
  /** Takes out the events since the last time. */
  take(): ClientEvent[];
}

/** Reads a stream, or a whole reply. */
export interface ReplyReader {
  take(value: JsonObject): void;
  /** Takes in an event that is `like` an earlier one, but for its text. */
  takeText(like: JsonObject, text: string): void;
  /** Takes in a whole reply; false: it is none. */
  whole(value: JsonObject, json: string): boolean;
  /** The provider has said all. */
  end(): void;
}

export interface WholeBlock extends Block {
  readonly text: string;
  readonly seal: string | null;
  readonly logprobs: readonly unknown[] | null;
}

export interface Reply {
  readonly origin: Origin;
  readonly blocks: readonly WholeBlock[];
  readonly ending: Ending;
  readonly usage: Usage | null;
}
