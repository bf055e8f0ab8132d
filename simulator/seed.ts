/** A hash of the request determines the id, text and numbers of the answer. */
import { hash } from 'node:crypto';

export interface Seed {
  /** 16 bytes in hex, the variable part of the reply's `id`. */
  readonly id: string;
  readonly number: number;
}

/** `asked` has the messages, the prompt or the input. */
export function seedOf(model: string, asked: unknown): Seed {
  const digest = hash('sha256', `${model}\n${JSON.stringify(asked)}`, 'hex');
  return { id: digest.slice(0, 32), number: Number.parseInt(digest.slice(32, 40), 16) };
}

export const bodyHash = (body: Uint8Array): string => hash('sha256', body, 'hex');

/** Uniform numbers in [0, 1) from a seed (mulberry32). */
export function randomNumbers(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
