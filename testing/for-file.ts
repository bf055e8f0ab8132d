import { afterAll, beforeAll } from 'vitest';

/** Starts something before the first test of a file, and stops it after the last one. Its members are there from then on, not earlier. */
export function forFile<T extends { stop(): unknown }>(start: () => Promise<T>): T {
  const held: Partial<T> = {};
  beforeAll(async () => {
    Object.assign(held, await start());
  }, 120_000);
  afterAll(() => held.stop?.());
  return held as T;
}
