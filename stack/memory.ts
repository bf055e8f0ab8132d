/**
 * Settings that keep the memory of the services small. docker-compose.yml has the same (deploy/compose.test.ts).
 *
 * V8 takes its limits from the machine's memory and lets garbage pile up accordingly; glibc keeps what was freed.
 */
interface Memory {
  /** Arguments of Node. */
  readonly args: readonly string[];
  /** Variables of glibc. */
  readonly env: Readonly<Record<string, string>>;
}

export const memoryOf = {
  /**
   * It makes the most garbage and never holds more than a batch. V8 of Node 24 counts the young generation to the limit of the old one
   * too: with the 48 MB or more that V8 chooses for the young one, a load took it to the limit, and it collected without end. With 8 MB in place of 4
   * it takes 10 MB more, and collects a sixth less of its time.
   *
   * A full collection marks some 50 MB that are nearly all needed, and is mostly caused by the bytes of batches, which lie outside of the heap. Letting
   * all of that double first (`--heap-growing-percent=100`) takes a seventh less processor time and 40 MB more, with which a pack of a
   * million receipts takes more than 300 MiB (test/long/million-receipts.test.ts).
   *
   * The threads that compress packs share what they use, where each would keep memory of its own. What is freed goes back sooner, some 10 MB: by
   * themselves the bounds of glibc grow with the largest piece that was ever freed. To set the one fixes the other as well: a piece of 128 KiB
   * or more is memory of its own.
   */
  'control-plane': {
    args: ['--max-old-space-size=192', '--max-semi-space-size=8'],
    env: { MALLOC_ARENA_MAX: '2', MALLOC_TRIM_THRESHOLD_: '131072' },
  },
  /** Its young generation would grow to 48 MB and more under load: 70 MB more for no time that could be measured. */
  'ext-authz': { args: ['--max-semi-space-size=8'], env: {} },
  /**
   * It needs room for replies of 64 MiB. With a young generation of 16 MB it takes some 70 MB less than with what V8 chooses; with 8 it
   * collects twice as long. Of its old one 25 MB are needed for small calls; it may fill half as much again before it is collected, from 40 MB
   * on: by itself V8 let it grow to anything up to 110. The threads that read large bodies have these bounds too, each for itself.
   *
   * Each large body is memory of its own, which goes back when it was read, and threads share what they use.
   */
  'receipt-sidecar': {
    args: ['--max-semi-space-size=16', '--initial-old-space-size=40', '--heap-growing-percent=50'],
    env: { MALLOC_ARENA_MAX: '2', MALLOC_MMAP_THRESHOLD_: '262144' },
  },
  simulator: { args: [], env: {} },
} as const satisfies Readonly<Record<string, Memory>>;
