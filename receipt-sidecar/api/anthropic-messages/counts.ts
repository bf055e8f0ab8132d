/**
 * Tallies what a message says of its tokens: the counts that the provider states, and the text that it delivered.
 *
 * Invariant: taking in a message or an event costs no more than its length.
 */
import type { JsonObject } from '@gw/contract/internal/strict-json';
import { count, field, sumOf } from '../openai/usage-names.ts';
import { jsonBytes } from '../port/prompt-size.ts';
import type { ClaimedUsage, ReplyTally } from '../port/shape.ts';

/** The parts of a prompt that `input_tokens` leaves out. */
const names = { read: 'cache_read_input_tokens', stored: 'cache_creation_input_tokens' } as const;
type Counts = Record<'input' | 'output' | 'thinking' | keyof typeof names, number | null>;

const isObject = (value: unknown): value is JsonObject =>
  value !== null && typeof value === 'object' && !Array.isArray(value);
const bytesOf = (value: unknown): number => (typeof value === 'string' ? Buffer.byteLength(value) : 0);
const bytesOfAny = (value: unknown): number =>
  typeof value === 'string' ? Buffer.byteLength(value) : value === undefined || value === null ? 0 : jsonBytes(value);

/** Fields of a block that are no text of the model. */
const notText = new Set(['type', 'id', 'tool_use_id', 'caller', 'index']);

/** Tallies a message, whole or event by event. */
export class MessageCounts implements ReplyTally {
  claim: ClaimedUsage | null = null;
  isStale = false;
  answerBytes = 0;
  reasoningBytes = 0;
  otherBytes = 0;
  isFiltered = false;
  readonly #counts: Counts = { input: null, read: null, stored: null, output: null, thinking: null };

  /** Whether nothing was delivered that a model could have written. */
  get isEmpty(): boolean {
    return this.answerBytes + this.reasoningBytes === 0;
  }

  /** The tokens of the prompt that were written to a cache. */
  get stored(): number | null {
    return this.#counts.stored;
  }

  take({ content, stop_reason: reason, usage }: JsonObject): void {
    if (Array.isArray(content)) for (const block of content) this.takeBlock(block);
    this.takeStop(reason);
    this.takeUsage(usage);
  }

  /** Takes a block in, or the beginning of one in a stream. Returns whether it holds text. */
  takeBlock(block: unknown): boolean {
    if (!isObject(block)) return false;
    const before = this.answerBytes + this.reasoningBytes + this.otherBytes;
    for (const name in block) {
      const value = block[name];
      if (notText.has(name) || value === null) continue;
      if (name === 'thinking') this.reasoningBytes += bytesOf(value);
      else if (name === 'text' || (block.type === 'tool_use' && name === 'name')) this.answerBytes += bytesOf(value);
      else if (block.type === 'tool_use' && name === 'input')
        this.answerBytes += isEmptyObject(value) ? 0 : bytesOfAny(value);
      else if (name !== 'citations' && name !== 'input') this.otherBytes += bytesOfAny(value);
    }
    return this.#toldText(before);
  }

  /** The same for what a stream adds to a block. */
  takeDelta(delta: unknown): boolean {
    if (!isObject(delta)) return false;
    const before = this.answerBytes + this.reasoningBytes + this.otherBytes;
    this.answerBytes += bytesOf(delta.text) + bytesOf(delta.partial_json);
    this.reasoningBytes += bytesOf(delta.thinking);
    this.otherBytes += bytesOf(delta.signature) + bytesOfAny(delta.citation);
    return this.#toldText(before);
  }

  /** The same for a delta with nothing but plain text. */
  takeText(bytes: number, name: string): void {
    if (name === 'thinking') this.reasoningBytes += bytes;
    else this.answerBytes += bytes;
    this.isStale = this.claim !== null;
  }

  #toldText(before: number): boolean {
    const hasText = this.answerBytes + this.reasoningBytes + this.otherBytes > before;
    if (hasText) this.isStale = this.claim !== null;
    return hasText;
  }

  takeStop(reason: unknown): void {
    if (reason === 'refusal') this.isFiltered = true;
  }

  /**
   * A stream states the prompt at its beginning and what was written at its end. Some servers fill what they do not know yet with zeros, or
   * leave it out. Returns whether it says how much was written.
   */
  takeUsage(usage: unknown): boolean {
    if (!isObject(usage)) return false;
    const counts = this.#counts;
    // Where the rest of a prompt is stated, so is what of it was cached, by a zero, too.
    const isSplit = sumOf(count(usage.input_tokens)) > 0;
    keep(counts, 'input', usage.input_tokens);
    for (const key of ['read', 'stored'] as const) keep(counts, key, usage[names[key]], isSplit);
    keep(counts, 'output', usage.output_tokens);
    keep(counts, 'thinking', field(usage.output_tokens_details, 'thinking_tokens'));
    const { input, output, read, stored, thinking } = counts;
    if (input === null && output === null) return false;
    this.claim = {
      prompt: input === null ? null : sumOf(input, read, stored),
      completion: output,
      total: null,
      cached: read,
      reasoning: thinking,
      rejected: null,
    };
    this.isStale = false;
    return count(usage.output_tokens) !== null;
  }
}

function keep(counts: Counts, key: keyof Counts, value: unknown, holds = false): void {
  const stated = count(value);
  if (stated !== null && (holds || stated > 0 || counts[key] === null)) counts[key] = stated;
}

const isEmptyObject = (value: unknown): boolean => isObject(value) && Object.keys(value).length === 0;
