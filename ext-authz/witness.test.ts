/** Calls are counted by account and minute, and each count is stated once. */
import { isStatementGenuine, minuteOfReceipt } from '@gw/contract/internal/witness';
import { openLog } from '@gw/service/log';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openWitness, type Witness } from './witness.ts';

const key = Buffer.alloc(32, 3);
const log = openLog('test', 'silent');
const firstMinute = Math.floor(Date.parse('2026-11-29T10:41:00Z') / 60_000);

/** A call that began in this minute. */
function call(accountId: string, minute: number, ms = 0): string {
  const time = (minute * 60_000 + ms).toString(16).padStart(12, '0');
  return `${accountId} rcpt_${time.slice(0, 8)}-${time.slice(8)}-7${'0'.repeat(3)}-8${'0'.repeat(3)}-${'0'.repeat(12)}`;
}

interface Stored {
  readonly life: string;
  readonly seq: number;
  readonly statement: { calls: [number, string, number][]; unsure: [number, number][]; isLast: boolean };
}
let stored: Stored[];
let answers: ('ok' | 'refused' | 'lost')[];
let witness: Witness;

beforeEach(() => {
  vi.useFakeTimers();
  stored = [];
  answers = [];
  witness = openWitness({ db: { $executeRaw: store }, key, log, now: () => performance.now() });
});
afterEach(async () => {
  await witness.stop();
  vi.useRealTimers();
});

/** As Postgres does, with `ON CONFLICT DO NOTHING`. */
async function store(_: TemplateStringsArray, ...values: readonly unknown[]): Promise<number> {
  const [life, seq, statement, code] = values.map(String);
  if (life === undefined || statement === undefined || code === undefined) throw new Error('values are missing');
  const answer = answers.shift() ?? 'ok';
  const place = { life, seq: Number(seq) };
  expect(isStatementGenuine({ current: key, previous: null }, place, statement, code)).toBe(true);
  if (answer !== 'refused' && !stored.some((other) => other.seq === place.seq))
    stored.push({ ...place, statement: JSON.parse(statement) });
  if (answer !== 'ok') throw new Error('timed out');
  return 1;
}
const counted = () => stored.flatMap(({ statement }) => statement.calls);

test('the minute is that of the time in the receipt id, to its last millisecond', () => {
  const idOf = (text: string) => text.split(' ')[1] ?? '';
  expect(minuteOfReceipt(idOf(call('a', firstMinute)))).toBe(firstMinute);
  expect(minuteOfReceipt(idOf(call('a', firstMinute, 59_999)))).toBe(firstMinute);
  expect(minuteOfReceipt('-')).toBeNull();
});

test('a life says at once that it is there, and what it has counted within some seconds', async () => {
  await vi.advanceTimersByTimeAsync(0);
  expect(stored).toMatchObject([{ seq: 1, statement: { calls: [], unsure: [], isLast: false } }]);
  witness.count([call('a', firstMinute), call('b', firstMinute), call('a', firstMinute, 30_000)]);
  witness.count([call('a', firstMinute + 1)]);
  await vi.advanceTimersByTimeAsync(3000);
  expect(counted()).toEqual([
    [firstMinute, 'a', 2],
    [firstMinute, 'b', 1],
    [firstMinute + 1, 'a', 1],
  ]);
  await vi.advanceTimersByTimeAsync(30_000);
  expect(counted()).toHaveLength(3);
  // It goes on saying that it is there, under numbers without a hole.
  expect(stored.length).toBeGreaterThan(6);
  expect(stored.map(({ seq }) => seq)).toEqual(stored.map((_, at) => at + 1));
});

test('a count is stated once, also where the answer was lost or Postgres was away', async () => {
  await vi.advanceTimersByTimeAsync(0);
  answers = ['lost', 'refused', 'refused', 'ok'];
  witness.count([call('a', firstMinute)]);
  await vi.advanceTimersByTimeAsync(2500);
  // It waits for the next statement, since the one under way may be stored already.
  witness.count([call('a', firstMinute)]);
  await vi.advanceTimersByTimeAsync(20_000);
  expect(counted()).toEqual([
    [firstMinute, 'a', 1],
    [firstMinute, 'a', 1],
  ]);
});

test('where Envoy or this process may have lost calls, the time is stated as unsure, by its age', async () => {
  await vi.advanceTimersByTimeAsync(10_000);
  witness.connectionEnded();
  await vi.advanceTimersByTimeAsync(5000);
  const [[from, to] = [0, 0]] = stored.flatMap(({ statement }) => statement.unsure);
  expect([from - to, to < 5000]).toEqual([16_000, true]);
  stored = [];
  // A call that cannot be read is not counted, and not forgotten.
  witness.count(['- -']);
  await vi.advanceTimersByTimeAsync(5000);
  expect(stored.flatMap(({ statement }) => statement.unsure)).toHaveLength(1);
});

test('while Postgres is away as many counts are kept as may be, and then stated in texts that it takes', async () => {
  answers = Array.from({ length: 30 }, () => 'refused');
  const minutes = 1001;
  // Twice as long as the ids that are made.
  const account = (n: number) => `acct_${String(n).padStart(59, '0')}`;
  for (let minute = 0; minute < minutes; minute += 1)
    witness.count(Array.from({ length: 100 }, (_, n) => call(account(n), firstMinute + minute)));
  const registry = new Registry();
  witness.register(registry);
  expect(await registry.metrics()).toMatch(/^gw_witness_counts_kept 100000$/m);
  expect(await registry.metrics()).toMatch(/^gw_witness_calls_uncounted_total 100$/m);
  await vi.advanceTimersByTimeAsync(120_000);
  expect(counted()).toHaveLength(100_000);
  expect(stored.flatMap(({ statement }) => statement.unsure).length).toBeGreaterThan(0);
  // The column takes no more than that.
  for (const { statement } of stored) expect(JSON.stringify(statement).length).toBeLessThan(1_000_000);
});

test('whoever stood still says for how long', async () => {
  await vi.advanceTimersByTimeAsync(10_000);
  stored = [];
  const still = vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 7000);
  await vi.advanceTimersByTimeAsync(1000);
  const [[from, to] = [0, 0]] = stored.flatMap(({ statement }) => statement.unsure);
  expect(from - to).toBeGreaterThanOrEqual(7000 + 15_000);
  still.mockRestore();
});

test('one that ends in order states all that it counted, and that it ends', async () => {
  await vi.advanceTimersByTimeAsync(0);
  witness.count([call('a', firstMinute)]);
  await witness.stop();
  expect(counted()).toEqual([[firstMinute, 'a', 1]]);
  expect(stored.map(({ statement }) => statement.isLast)).toEqual([false, false, true]);
});
