/**
 * Puts the blocks of a reply in order. Providers may tell of several calls at once, piece by piece; clients of other APIs expect one block
 * to end before the next begins, so what belongs to a later block waits until the calls before it are whole.
 *
 * Invariant: each text comes out once, in a block of its kind, and what waits is bounded. What no order of events allows fails the stream.
 */
import type { Block, Ending, Flow, Kind, Origin, Stop, Usage } from './reply.ts';

/** Characters that may wait, or that a writer may keep: as much as a whole reply that is read on the event loop may have. */
export const mostKept = 16 * 1024 * 1024;
const mostBlocks = 4096;
/** Ends by which the arguments of a call may be missing. */
const cutsOff: ReadonlySet<Stop> = new Set(['length', 'context', 'filter', 'refusal']);

interface Placed extends Block {
  readonly key: string;
  readonly shape: JsonShape | null;
  /** Told before its turn. */
  readonly waiting: [text: string, logprobs: readonly unknown[] | null][];
  seal: string | null;
  hasText: boolean;
  isClosed: boolean;
}

export class Sequence {
  readonly #flow: Flow;
  readonly #blocks = new Map<string, Placed>();
  readonly #queue: Placed[] = [];
  #current: Placed | null = null;
  #origin: Origin | null = null;
  #kept = 0;
  #hasEnded = false;
  hasFailed = false;

  constructor(flow: Flow) {
    this.#flow = flow;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  start(origin: Origin): void {
    if (this.#origin !== null) return;
    this.#origin = origin;
    this.#flow.start(origin);
  }

  has(key: string): boolean {
    return this.#blocks.has(key);
  }

  /** Whether a block has no text yet. */
  isEmpty(key: string): boolean {
    return this.#blocks.get(key)?.hasText !== true;
  }

  open(key: string, kind: Kind, id = '', name = ''): void {
    if (this.#blocks.has(key) || this.#blocks.size >= mostBlocks) return this.fail();
    const shape = kind === 'use' ? new JsonShape() : null;
    const block: Placed = { key, kind, id, name, shape, waiting: [], seal: null, hasText: false, isClosed: false };
    this.#blocks.set(key, block);
    this.#queue.push(block);
    this.#goOn();
  }

  /** Adds to a block, which is opened if it holds text and is not there. */
  say(key: string, kind: Kind, text: string, logprobs: readonly unknown[] | null = null): void {
    const block = this.#blocks.get(key);
    // Text behind what had ended it begins a block of its own.
    if (block?.isClosed && block.shape === null && block.kind !== 'free') this.#blocks.delete(key);
    if (!this.#blocks.has(key)) this.open(key, kind);
    this.add(key, text, logprobs);
  }

  add(key: string, text: string, logprobs: readonly unknown[] | null = null): void {
    const block = this.#blocks.get(key);
    if (block === undefined || block.isClosed) {
      if (block === undefined || text.trim() !== '') this.fail();
      return;
    }
    if (text === '' && logprobs === null) return;
    block.hasText ||= text !== '';
    block.shape?.take(text);
    if (block === this.#current) this.#flow.add(text, logprobs);
    else {
      this.#kept += text.length;
      if (this.#kept > mostKept) return this.fail();
      block.waiting.push([text, logprobs]);
    }
    if (this.#queue.length > 0) this.#goOn();
  }

  seal(key: string, seal: string): void {
    const block = this.#blocks.get(key);
    if (block?.kind !== 'thinking' || block.isClosed) return;
    if (block === this.#current) this.#flow.seal(seal);
    else block.seal = seal;
  }

  close(key: string): void {
    const block = this.#blocks.get(key);
    if (block === undefined || block.isClosed) return;
    block.isClosed = true;
    if (block === this.#current) this.#leave();
    this.#goOn();
  }

  end(ending: Ending, usage: Usage | null): void {
    if (this.#hasEnded || this.hasFailed) return;
    this.#hasEnded = true;
    while (this.#current !== null || this.#queue.length > 0) {
      this.#leave(cutsOff.has(ending.why));
      this.#goOn();
    }
    this.#flow.end(ending, usage);
  }

  fail(): void {
    this.hasFailed = true;
  }

  /** A call without arguments gets an empty object, which every client can read. */
  #leave(isCut = false): void {
    if (this.#current === null) return;
    const { hasText, shape } = this.#current;
    if (shape !== null && !hasText && !isCut) this.#flow.add('{}', null);
    this.#current.isClosed = true;
    this.#current = null;
    this.#flow.close();
  }

  /** Lets the next block begin, unless that before it is a call that is not whole. */
  #goOn(): void {
    while (this.#queue.length > 0) {
      if (this.#current?.shape?.isWhole === false) return;
      this.#leave();
      const next = this.#queue.shift();
      if (next === undefined) return;
      this.#current = next;
      this.#flow.open(next);
      for (const [text, logprobs] of next.waiting.splice(0)) {
        this.#kept -= text.length;
        this.#flow.add(text, logprobs);
      }
      if (next.seal !== null) this.#flow.seal(next.seal);
      if (next.isClosed) this.#leave();
    }
  }
}

/** Sees where JSON that comes in pieces ends, in constant memory. */
class JsonShape {
  #depth = 0;
  #inText = false;
  #isEscaped = false;
  #hasBegun = false;

  get isWhole(): boolean {
    return this.#hasBegun && this.#depth === 0 && !this.#inText;
  }

  take(text: string): void {
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (this.#isEscaped) this.#isEscaped = false;
      else if (code === 0x22) this.#inText = !this.#inText;
      else if (this.#inText) this.#isEscaped = code === 0x5c;
      else if (code === 0x7b || code === 0x5b) this.#depth += 1;
      else if (code === 0x7d || code === 0x5d) this.#depth -= 1;
      this.#hasBegun ||= code > 0x20;
    }
  }
}
