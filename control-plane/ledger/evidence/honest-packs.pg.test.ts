/** Whatever an honest gateway goes through, nobody who checks its packs accuses it. */
import { signingKeyOf } from '@gw/contract/internal/evidence-keys';
import { type VerifyOptions, verifyPack } from '@gw/evidence/verify';
import { cases, isLongRun } from '@gw/testing/cases';
import { identified, startTestApp, type TestApp } from '@gw/testing/control-plane/app';
import { callAt, type Entry, entryFrom, unattended } from '@gw/testing/control-plane/calls';
import { addresses, testSeals } from '@gw/testing/control-plane/fixtures';
import { longPackOf } from '@gw/testing/control-plane/long-pack';
import { bytesOf } from '@gw/testing/evidence/made-packs';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { appendReceipts } from '../log/append.ts';

let running: TestApp;
let clock: number;
beforeAll(async () => {
  running = await startTestApp(() => new Date(clock));
}, 120_000);
afterAll(() => running?.stop());

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
/** Some days ago: receipts are settled within a week of real time. */
const start = Math.floor((Date.now() - 5 * dayMs) / hourMs) * hourMs;
const key = signingKeyOf('e1'.repeat(32));
const trust = { thumbprint: key.publicJwk.kid };
const urnOf = ({ receipt }: Entry) => `urn:gw:receipt:${receipt.id}:1`;

/** The steps run one after the other. Numbers are minutes, or choose among what is there. */
type Step =
  | { readonly kind: 'pass' | 'restate' | 'settle' | 'spool'; readonly minutes: number }
  | { readonly kind: 'append' | 'appendTwice' | 'burst' | 'call' | 'close' | 'pack' }
  | { readonly kind: 'die'; readonly at: number };
const minutes = fc.nat(600);
const steps = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('pass' as const), minutes: fc.nat(150) }) },
    { weight: 6, arbitrary: fc.record({ kind: fc.constant('call' as const) }) },
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('append' as const) }) },
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('pack' as const) }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('restate' as const, 'settle' as const), minutes }) },
    fc.record({ kind: fc.constant('spool' as const), minutes }),
    fc.record({ kind: fc.constantFrom('appendTwice' as const, 'burst' as const, 'close' as const) }),
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('die' as const), at: fc.nat(40) }) },
  ),
  { minLength: 10, maxLength: 40 },
);

/** A pack that somebody has kept, as far as it is looked at here. */
interface Kept {
  readonly issued: string;
  readonly receipts: readonly unknown[];
  readonly log: { readonly checkpoint: { readonly tree_size: number; readonly issued: string } } | null;
}

/** An account, and all that is true of it. */
class History {
  readonly accountId: string;
  /** Whether a job builds its packs. */
  readonly isLong: boolean;
  readonly entries: Entry[] = [];
  readonly versions = new Map<string, number>();
  /** When a receipt came to Postgres. */
  readonly storedAt = new Map<string, number>();
  readonly packs: Kept[] = [];
  readonly settledAt = new Map<string, number>();

  constructor(accountId: string, isLong: boolean) {
    this.accountId = accountId;
    this.isLong = isLong;
  }

  async call(calledAt: number, isClosed = false): Promise<void> {
    const made = entryFrom(callAt(new Date(calledAt).toISOString()), { accountId: this.accountId });
    this.entries.push(made);
    this.storedAt.set(urnOf(made), clock);
    await running.store(isClosed ? unattended(made, { shown: false }) : made);
  }

  append(db = running.stores.db): Promise<void> {
    return appendReceipts({ addresses, db, now: () => new Date(clock), key, seals: testSeals });
  }

  /** Ends in front of one of its statements, as a process does that is killed. */
  async die(at: number): Promise<void> {
    let left = at;
    const counted = () => {
      left -= 1;
      if (left < 0) throw new Error('Killed here.');
    };
    await this.append(dying(running.stores.db, counted)).catch(() => {});
  }

  async packOf(earlier?: number): Promise<Kept> {
    const asked = {
      from: new Date(start - 10 * dayMs).toISOString(),
      ...(earlier !== undefined && { earlier_tree_size: earlier }),
    };
    const { accountId } = this;
    if (this.isLong)
      return JSON.parse(await longPackOf(running.stores.db, key, { accountId, asked, now: new Date(clock) }));
    const reply = await running.app.inject({
      method: 'POST',
      url: '/v1/gw/evidence-pack',
      headers: identified({ 'x-gw-account-id': accountId, 'x-gw-scopes': 'gw:export' }),
      payload: asked,
    });
    expect(reply.statusCode, reply.body).toBe(200);
    return reply.json();
  }

  verified(pack: Kept, options: Omit<VerifyOptions, 'trust'> = {}) {
    return verifyPack(bytesOf(pack), { ...options, trust });
  }

  /** A pack of now, held against each that was kept. */
  async pack(): Promise<void> {
    for (const kept of [null, ...this.packs.slice(-cases(4, 2))]) {
      const size = kept?.log?.checkpoint.tree_size;
      const pack = await this.packOf(size);
      for (const earlier of kept === null ? [undefined] : [kept, kept.log?.checkpoint ?? kept]) {
        const found = await this.verified(pack, { earlier, account: this.accountId });
        expect(found).toMatchObject({ signature: 'trusted', mismatches: [], receipts: pack.receipts.length });
        this.expectTrue(found.log, kept);
      }
      if (kept === null) this.packs.push(pack);
    }
  }

  /** Whatever the check says of a receipt is true. */
  expectTrue(log: Awaited<ReturnType<typeof verifyPack>>['log'], kept: Kept | null): void {
    const keptAt = Date.parse(kept?.log?.checkpoint.issued ?? kept?.issued ?? '');
    const calls = new Map(this.entries.map((each) => [urnOf(each), Date.parse(each.receipt.created_at)]));
    const hourEnd = (urn: string) => (Math.floor((calls.get(urn) ?? 0) / hourMs) + 1) * hourMs;
    for (const urn of log.late) {
      // It came after the kept one was signed, and a quarter of an hour after the end of its hour.
      expect(this.storedAt.get(urn)).toBeGreaterThanOrEqual(keptAt);
      expect(this.storedAt.get(urn)).toBeGreaterThanOrEqual(hourEnd(urn) + 15 * minuteMs);
    }
    for (const urn of log.unlogged) expect(clock).toBeGreaterThan(hourEnd(urn) + 15 * minuteMs);
    for (const urn of log.changed) expect(this.settledAt.has(urn)).toBe(true);
    expect(log.fault).toBeNull();
  }
}

/** The same database, in front of each of whose statements something else happens. */
function dying<T extends object>(db: T, before: () => void): T {
  return new Proxy(db, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      if (name === '$transaction')
        return (work: (tx: object) => unknown, ...more: unknown[]) =>
          Reflect.apply(value, target, [(tx: object) => work(dying(tx, before)), ...more]);
      if (name !== '$queryRaw' && name !== '$executeRaw') return value;
      return (...args: unknown[]) => {
        before();
        return Reflect.apply(value, target, args);
      };
    },
  });
}

async function run(history: History, step: Step): Promise<void> {
  const { entries } = history;
  const pick = (n: number): Entry | undefined => entries[n % Math.max(entries.length, 1)];
  if (step.kind === 'pass') clock += step.minutes * minuteMs;
  if (step.kind === 'call') await history.call(clock);
  if (step.kind === 'close') await history.call(clock, true);
  if (step.kind === 'spool') await history.call(clock - step.minutes * minuteMs);
  if (step.kind === 'burst') for (let n = 0; n < 6; n += 1) await history.call(clock - n * hourMs);
  if (step.kind === 'append') await history.append();
  if (step.kind === 'appendTwice') await Promise.all([history.append(), history.append(), history.call(clock)]);
  if (step.kind === 'die') await history.die(step.at);
  if (step.kind === 'pack') await history.pack();
  const entry = step.kind === 'settle' || step.kind === 'restate' ? pick(step.minutes) : undefined;
  if (entry === undefined) return;
  const { id } = entry.receipt;
  if (step.kind === 'settle') {
    // A closed receipt gives way to the one that was made, and that one to the one that the client was shown.
    const isMade = step.minutes % 2 === 0;
    await running.store(isMade ? entry : unattended(entry, { shown: true }));
    history.settledAt.set(urnOf(entry), clock);
    return;
  }
  const version = (history.versions.get(id) ?? 1) + 1;
  history.versions.set(id, version);
  const changes = { id, version, supersedes: version - 1, carbon_g: version };
  await running.store(entryFrom(callAt(entry.receipt.created_at), { accountId: history.accountId, changes }));
}

test('calls, spools, settled and restated receipts, backlogs, two instances and deaths anywhere: every pack verifies', async () => {
  let account = 0;
  await fc.assert(
    fc.asyncProperty(steps, fc.boolean(), async (all, isLong) => {
      clock = start;
      const history = new History(`acct_honest_${account++}`, isLong);
      for (const step of all) await run(history, step);
      await history.append();
      await history.pack();
      // In the end everything is there.
      clock += 3 * hourMs;
      await history.append();
      const { log, mismatches } = await history.verified(await history.packOf());
      expect([mismatches, log.unlogged]).toEqual([[], []]);
    }),
    { numRuns: cases(200, 5) },
  );
}, 900_000);

// A pack that a job builds is read as one reply is, and the histories above have both.
const sizes = isLongRun ? ['short', 'long'] : ['short'];
test.each(sizes)(
  'the ledger of an upgraded gateway, of which nothing is logged yet, is never accused while it is: %s packs',
  async (size) => {
    const hours = cases(130, 40);
    clock = start + 40 * hourMs;
    const history = new History(`acct_upgraded_${size}`, size === 'long');
    for (let hour = 0; hour < hours; hour += 1) await history.call(start - (hours - 30 - hour) * hourMs);
    await history.pack();
    // Killed again and again, so that a pack sees each state on the way.
    for (let at = 30; at < 1000; at = Math.ceil(at * cases(1.6, 2.5))) {
      await history.die(at);
      await history.pack();
      clock += minuteMs;
    }
    await history.append();
    await history.pack();
    // Nobody has to be asked about anything (exit code 0), also against the newest that was kept.
    const kept = history.packs.at(-1);
    const pack = await history.packOf(kept?.log?.checkpoint.tree_size);
    for (const earlier of [undefined, kept, kept?.log?.checkpoint]) {
      const { log, mismatches, signature } = await history.verified(pack, { earlier });
      expect([signature, mismatches, log.late, log.unlogged, log.changed]).toEqual(['trusted', [], [], [], []]);
      expect(log.proven).toBe(hours);
    }
  },
  300_000,
);
