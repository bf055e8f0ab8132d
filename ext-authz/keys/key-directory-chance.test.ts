/** The list of ids against a table of keys that changes, through polls that get lost and readings that take long or fail. */
import { cases } from '@gw/testing/cases';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { budget, KeyDirectory } from './key-directory.ts';

const id = (n: number) => `key${String(n).padStart(9, '0')}`;
/** Changes that Postgres tells apart; so few that there are often more. */
const most = 4;

/** The state of Postgres, as far as the list is concerned. */
class Table {
  readonly keys = new Map<string, { issuedAt: number; told: boolean }>();
  readonly #changes: (string | null)[] = [];

  get generation() {
    return this.#changes.length;
  }
  newest() {
    return [...this.keys.keys()].at(-1);
  }
  /** A key, or an account. */
  change(publicId: string | null) {
    this.#changes.push(publicId);
  }
  issue(many: number, issuedAt: number) {
    for (let i = 0; i < many; i += 1) {
      const publicId = id(this.generation);
      this.keys.set(publicId, { issuedAt, told: false });
      this.change(publicId);
    }
  }
  changesSince(known: number | null) {
    const isKnown = known !== null && this.generation - known <= most;
    const publicIds = isKnown ? this.#changes.slice(known).flatMap((each) => each ?? []) : [];
    return { generation: this.generation, since: isKnown ? { publicIds, accountIds: [] } : null };
  }
  read() {
    return Buffer.from([...this.keys.keys()].sort().join(''), 'latin1');
  }
}

class World {
  nowMs = 0;
  loads = 0;
  readonly table = new Table();
  readonly directory = new KeyDirectory({ now: () => this.nowMs, load: () => this.#load() });
  #known: number | null = null;
  #asked: { at: number; changes: ReturnType<Table['changesSince']> } | null = null;
  #endLoad: ((ok: boolean) => void) | null = null;

  #load(): Promise<Buffer> {
    this.loads += 1;
    // A key that is issued during the read is not in the list.
    const read = this.table.read();
    return new Promise((resolve, reject) => {
      this.#endLoad = (ok) => (ok ? resolve(read) : reject(new Error('away')));
    });
  }
  ask() {
    this.#asked = { at: this.nowMs, changes: this.table.changesSince(this.#known) };
  }
  answer() {
    if (this.#asked === null) return;
    const { at, changes } = this.#asked;
    this.#asked = null;
    void this.directory.confirm(this.#known, changes, at).catch(() => undefined);
    this.#known = changes.generation;
  }
  lose() {
    this.#asked = null;
  }
  async endLoad(ok: boolean) {
    this.#endLoad?.(ok);
    this.#endLoad = null;
    await new Promise(setImmediate);
  }
  tell() {
    const newest = this.table.newest();
    const key = newest && this.table.keys.get(newest);
    if (!newest || !key) return;
    this.directory.tell(newest);
    key.told = true;
  }
  touch() {
    const [oldest] = this.table.keys.keys();
    if (oldest) this.table.change(oldest);
  }
  remove() {
    const [oldest] = this.table.keys.keys();
    if (!oldest) return;
    this.table.keys.delete(oldest);
    this.table.change(oldest);
  }
  /** While a flood has spent the budget, no key is refused that was told of or is older than a second. */
  judge() {
    for (let i = 0; i < budget.burst; i += 1) this.directory.admit(id(900_000 + i));
    for (const [publicId, { issuedAt, told }] of this.table.keys) {
      const admission = this.directory.admit(publicId);
      if (told) expect(admission).toBe('look_up');
      if (this.nowMs - issuedAt > 1000) expect(admission).not.toBe('unknown');
    }
  }
  /** Once stores answer again, everybody is told right at once. */
  async settle() {
    await this.endLoad(true);
    for (let i = 0; i < 2; i += 1) {
      this.ask();
      this.answer();
      await this.endLoad(true);
    }
    for (let i = 0; i < budget.burst; i += 1) this.directory.admit(id(900_000 + i));
    for (const publicId of this.table.keys.keys()) expect(this.directory.admit(publicId)).toBe('look_up');
    expect(this.directory.admit(id(800_000))).toBe('unknown');
  }
}

const steps: Readonly<Record<string, (world: World) => unknown>> = {
  issue: ({ table, nowMs }) => table.issue(1, nowMs),
  issueMany: ({ table, nowMs }) => table.issue(most + 1, nowMs),
  touch: (world) => world.touch(),
  changeAccount: ({ table }) => table.change(null),
  remove: (world) => world.remove(),
  tell: (world) => world.tell(),
  ask: (world) => world.ask(),
  answer: (world) => world.answer(),
  poll: (world) => [world.ask(), world.answer()],
  lose: (world) => world.lose(),
  endLoad: (world) => world.endLoad(true),
  failLoad: (world) => world.endLoad(false),
  passSome: (world) => {
    world.nowMs += 1;
  },
  passMuch: (world) => {
    world.nowMs += 600;
  },
};

it('refuses no key that is told of or older than a second, whatever is lost, slow or fails, and knows all in the end', async () => {
  const sequence = fc.array(fc.constantFrom(...Object.keys(steps)), { maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(sequence, async (names) => {
      const world = new World();
      for (const name of names) {
        await steps[name]?.(world);
        world.judge();
      }
      await world.settle();
    }),
    { numRuns: cases(20_000) },
  );
});

it('reads the table once as long as every poll tells all that has changed', async () => {
  const known = ['issue', 'touch', 'changeAccount', 'remove', 'tell', 'passSome', 'passMuch'] as const;
  const sequence = fc.array(fc.constantFrom(...known), { maxLength: 100 });
  await fc.assert(
    fc.asyncProperty(sequence, async (names) => {
      const world = new World();
      await world.settle();
      for (const [at, name] of names.entries()) {
        steps[name]?.(world);
        if (at % most === 0) steps.poll?.(world);
        world.judge();
      }
      await world.settle();
      expect(world.loads).toBe(1);
    }),
    { numRuns: cases(2000) },
  );
});
