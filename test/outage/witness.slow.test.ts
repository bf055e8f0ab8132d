/** The two witnesses of a gateway with two of each: a receipt that nobody made is named, and what dies under load raises no alarm. */
import { minuteMs } from '@gw/contract/internal/durations';
import { pendingReceiptsKey } from '@gw/contract/internal/redis';
import { openSeals } from '@gw/control-plane/internals/ledger/receipts/sealed-rows';
import { compareWitnesses } from '@gw/control-plane/internals/ledger/witness/job';
import { loadSecrets } from '@gw/stack/secrets';
import { entryOf, receiptIdAt, silentLog } from '@gw/testing/control-plane/fixtures';
import { storeEntries } from '@gw/testing/control-plane/store-entries';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually, type OwnGateway, startOwnGateway } from './own-gateway.ts';
import { type SteadyLoad, startLoad } from './steady-load.ts';

let gateway: OwnGateway;
let redis: Redis;
beforeAll(async () => {
  gateway = await startOwnGateway({ instances: 2 });
  redis = new Redis(gateway.stack.redisUrl, { maxRetriesPerRequest: 20 });
}, 120_000);
afterAll(async () => {
  redis?.disconnect();
  await gateway?.stop();
});

/** Compares as if it were some minutes later, so that the test does not wait; three times, since a difference has to last. */
async function compare(): Promise<void> {
  const { db, dir } = gateway;
  const keys = { current: Buffer.from(loadSecrets(dir).witnessKey, 'hex'), previous: null };
  for (const aheadMs of [3, 4, 5].map((minutes) => minutes * minuteMs))
    await compareWitnesses({ db, redis, log: silentLog, keys, aheadMs });
}

/** The counts of calls and of receipts by verdict, when all that was counted has been stated. */
async function counted(verdicts: readonly string[]) {
  await compare();
  const rows = await gateway.db.callCount.findMany();
  const wanted = rows.filter(({ verdict }) => verdicts.includes(String(verdict)));
  const sum = (of: 'calls' | 'receipts') => wanted.reduce((total, row) => total + (row[of] ?? 0), 0);
  return { minutes: wanted.length, calls: sum('calls'), receipts: sum('receipts') };
}
const faults = async () =>
  (await gateway.db.integrityFault.findMany({ where: { kind: 'minute', mendedAt: null } })).map(({ fault }) => fault);
const untilMore = (load: SteadyLoad, calls: number) => {
  const wanted = load.ended.length + calls;
  return eventually('more calls', async () => load.ended.length >= wanted);
};

test('a receipt that nobody made is named; kills of each part under load and a new Valkey raise no alarm', async () => {
  const { db, dir, owner, stack } = gateway;
  // The minute in which a witness began is not judged, so both have begun an hour ago.
  await eventually('both lives', async () => (await db.witnessLife.count()) >= 2);
  await owner.$executeRaw`UPDATE witness_lives SET first_at = first_at - INTERVAL '1 hour'`;
  await owner.$executeRaw`DELETE FROM witness_gaps`;
  const before = startLoad(stack, 20, 8);
  await untilMore(before, 100);
  await before.stop();
  const calls = before.ended.length;
  await eventually('every call to have two witnesses', async () => {
    const { calls: witnessed, receipts } = await counted(['agrees']);
    return witnessed >= calls && witnessed === receipts;
  });
  expect(await faults()).toEqual([]);

  const secret = Buffer.from(loadSecrets(dir).ledgerKey, 'hex');
  const seals = openSeals({ keys: { current: { id: 1, secret }, others: [] }, report: async () => {} });
  const forged = entryOf({ id: receiptIdAt(new Date()) }, 'acct_demo_enterprise');
  await storeEntries(db, [forged], seals);
  await eventually('the forged receipt to be named', async () => {
    await compare();
    return (await faults()).length === 1;
  });
  const [named] = await faults();

  const load = startLoad(stack, 20, 16);
  await untilMore(load, 100);
  for (const part of ['ext-authz', 'receipt-sidecar', 'envoy'] as const) {
    gateway.kill(part);
    await untilMore(load, 100);
  }
  await stack.part('valkey').restart();
  await untilMore(load, 100);
  await load.stop();
  await gateway.whole();
  const whole = async () => {
    if ((await db.witnessGap.count({ where: { isEnd: true, NOT: { toAt: null } } })) === 0) return false;
    if ((await redis.zcard(pendingReceiptsKey)) > 0) return false;
    const { receipts } = await counted(['agrees', 'not_witnessed', 'extra']);
    const [row] = await db.$queryRaw<
      { receipts: number }[]
    >`SELECT count(*)::int AS receipts FROM receipts WHERE version = 1`;
    return receipts === row?.receipts;
  };
  // Lines of the access log that died with Envoy leave calls pending until their lease is over.
  await eventually('the killed ext-authz to be missed, and each counted call to have its receipt', whole, 90_000);
  // Its minute was judged before it was over, so a call of the load that has no numbers may have made up for the forged receipt since.
  const minute = String(named).slice(0, 24);
  expect((await faults()).filter((fault) => !fault.startsWith(minute))).toEqual([]);
  const sums = await counted(['agrees', 'not_witnessed', 'extra']);
  console.log(`${sums.receipts} receipts, ${sums.calls} of them counted by ext-authz`);
  // How many counts the kills took is the machine's: of a second or two of calls each. After them it goes on.
  expect(sums.calls).toBeGreaterThan(calls);
});
