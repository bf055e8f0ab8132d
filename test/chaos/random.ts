/** Random numbers that a seed gives again. */
import { createHash } from 'node:crypto';
import { elementAt } from '@gw/contract/internal/defined';

export interface Random {
  /** A whole number, both ends included. */
  between(low: number, high: number): number;
  /** Throws if there is none. */
  pick<T>(items: readonly T[]): T;
  chance(probability: number): boolean;
}

export function randomOf(seed: number): Random {
  let count = 0;
  const next = (): number => {
    const digest = createHash('sha256').update(`${seed} ${count++}`).digest();
    return digest.readUInt32LE() / 2 ** 32;
  };
  const between = (low: number, high: number): number => low + Math.floor(next() * (high - low + 1));
  return {
    between,
    pick: (items) => elementAt(items, between(0, items.length - 1)),
    chance: (probability) => next() < probability,
  };
}
