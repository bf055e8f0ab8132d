/** Gathers a reply that is told block by block. */
import type { Block, Ending, Flow, Origin, Reply, Usage, WholeBlock } from './reply.ts';

export class Whole implements Flow {
  #origin: Origin = { id: '', model: '', created: 0 };
  readonly #blocks: WholeBlock[] = [];
  #open: Block | null = null;
  #texts: string[] = [];
  #logprobs: unknown[] | null = null;
  #seal: string | null = null;
  #ending: Ending | null = null;
  #usage: Usage | null = null;

  /** Null until it has ended. */
  get reply(): Reply | null {
    if (this.#ending === null) return null;
    return { origin: this.#origin, blocks: this.#blocks, ending: this.#ending, usage: this.#usage };
  }

  /** Takes the last block out. */
  last(): WholeBlock | undefined {
    return this.#blocks.at(-1);
  }

  start(origin: Origin): void {
    this.#origin = origin;
  }

  open(block: Block): void {
    this.#open = block;
    this.#texts = [];
    this.#logprobs = null;
    this.#seal = null;
  }

  add(text: string, logprobs: readonly unknown[] | null): void {
    this.#texts.push(text);
    if (logprobs === null) return;
    this.#logprobs ??= [];
    for (const each of logprobs) this.#logprobs.push(each);
  }

  seal(seal: string): void {
    this.#seal = seal;
  }

  close(): void {
    if (this.#open === null) return;
    const { id, kind, name } = this.#open;
    this.#blocks.push({ id, kind, name, text: this.#texts.join(''), seal: this.#seal, logprobs: this.#logprobs });
    this.#open = null;
  }

  end(ending: Ending, usage: Usage | null): void {
    this.#ending = ending;
    this.#usage = usage;
  }
}
