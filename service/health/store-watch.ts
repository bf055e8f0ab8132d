/**
 * Finds out whether a store takes writes, by a small one every few seconds: an open connection says nothing about packets that are dropped, a
 * server that is full, a replica or a node of a cluster. Calls pay nothing for it.
 */
import { oneAtATime } from '../one-at-a-time.ts';
import type { Troubles } from './troubles.ts';

export interface StoreWatch {
  /** Whether it took a write in the last seconds. */
  isWell(): boolean;
  /** Resolves when the first write was taken or failed. */
  readonly first: Promise<void>;
  stop(): void;
}

export interface StoreWatchOptions {
  /** The name of the trouble. */
  readonly name: string;
  readonly write: () => Promise<unknown>;
  /** Names the cause of a failure, and its cure; the same for the same cause. */
  readonly sentence: (error: unknown) => string;
  readonly everyMs: number;
  /** How long a write that was taken holds, ms. */
  readonly holdsMs: number;
  readonly troubles: Troubles;
  /** A monotonic clock, ms. */
  readonly now: () => number;
}

export class NoAnswer extends Error {}

export function watchStore({ everyMs, holdsMs, name, now, sentence, troubles, write }: StoreWatchOptions): StoreWatch {
  let takenAt: number | null = null;
  const isWell = () => takenAt !== null && now() - takenAt <= holdsMs;
  const tryOnce = async (): Promise<void> => {
    try {
      await within(write(), everyMs);
      takenAt = now();
      troubles.over(name);
    } catch (error) {
      if (!isWell()) troubles.tell(name, sentence(error), error);
    }
  };
  const attempt = oneAtATime(tryOnce);
  const timer = setInterval(() => void attempt(), everyMs);
  return { isWell, first: attempt(), stop: () => clearInterval(timer) };
}

async function within<T>(answer: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new NoAnswer(`It took no write within ${ms / 1000} s.`)), ms);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
