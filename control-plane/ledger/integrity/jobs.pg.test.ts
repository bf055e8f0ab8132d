/** The checks find and name whatever the owner changes with the triggers off. */
import { auditHash } from '@gw/contract/internal/audit-chain';
import { ingest } from '@gw/testing/control-plane/calls';
import { entryOf, eventually, type Stores, startStores, testSeals } from '@gw/testing/control-plane/fixtures';
import { forgeAudit } from '@gw/testing/control-plane/forge-audit';
import { type Logger, pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { appendAudit } from '../../people/audit/append.ts';
import { readAudit } from '../../people/audit/read.ts';
import type { RepeatedJob } from '../../shared/repeat.ts';
import { checkAll, checkNewest } from './check-receipts.ts';
import { openAuditRound, startIntegrityJobs } from './jobs.ts';
import { openLedgerSeals } from './open-seals.ts';

const keys = { current: { id: 1, secret: Buffer.alloc(32, 9) }, others: [] };
/** The largest number that a column of entries can hold. */
const maxBigint = '9223372036854775807';
let stores: Stores;
let jobs: RepeatedJob[] = [];
let lines: { level: number; name: string; number: number; fault: string }[] = [];
let log: Logger;

beforeAll(async () => {
  stores = await startStores();
  log = pino({ base: null }, { write: (line) => void lines.push(JSON.parse(line)) });
}, 120_000);
afterAll(() => stores?.stop());
beforeEach(async () => {
  lines = [];
  await stores.empty('receipts', 'receipt_batches', 'integrity_faults', 'audit', 'audit_heads', 'audit_heads_seen');
  await stores.tamper(
    `UPDATE integrity_checks SET claimed_until = NULL, begun_at = NULL, after_id = '', finished_at = NULL`,
  );
});
afterEach(async () => {
  await Promise.all(jobs.map((job) => job.stop()));
  jobs = [];
});

const start = (fullS: number): void => {
  const { db, objects, redis } = stores;
  const seals = openLedgerSeals({ db, keys, log });
  jobs.push(startIntegrityJobs({ db, log, objects, redis, seals, trust: {} }, { everyS: 0.05, fullS, keys }));
};
/** Without those of batches, which check-batches.pg.test.ts is about. */
const faults = async () =>
  (
    await stores.db.integrityFault.findMany({
      where: { mendedAt: null, kind: { not: 'batch' } },
      orderBy: [{ name: 'asc' }, { number: 'asc' }],
    })
  ).map(({ fault, kind, name, number }) => `${kind} ${name} ${number} ${fault}`);
const found = (...expected: string[]) =>
  eventually(async () => JSON.stringify(await faults()) === JSON.stringify(expected));
const fullCheck = (kind: string) =>
  eventually(async () => {
    const check = await stores.db.integrityCheck.findUnique({ where: { kind } });
    return check?.finishedAt != null;
  });
const write = async (accountId: string, count: number): Promise<void> => {
  const actor = { kind: 'system', id: 'test', name: null } as const;
  for (let i = 0; i < count; i++)
    await stores.db.$transaction((tx) =>
      appendAudit(tx, new Date(), { accountId, actor, action: 'a.b', target: 'x', requestId: null }),
    );
};

describe('the audit log', () => {
  test.each([
    ['altered', `UPDATE audit SET action = 'z' WHERE chain = 'acct_c' AND seq = 2`, 'audit acct_c 2 altered'],
    ['taken out', `DELETE FROM audit WHERE chain = 'acct_c' AND seq = 2`, 'audit acct_c 2 missing'],
  ])('an entry that was %s is found by the full check, and named in the log', async (_, statement, expected) => {
    await write('acct_c', 3);
    await write('acct_d', 1);
    start(1);
    await fullCheck('audit');
    expect(await faults()).toEqual([]);
    await stores.tamper(statement);
    await found(expected);
    const [, , , fault] = expected.split(' ');
    expect(lines.filter(({ level }) => level === 50)).toMatchObject([{ name: 'acct_c', number: 2, fault }]);
  });

  test('an entry that somebody with the database has chained is named in the next round, and stays so behind genuine ones', async () => {
    await write('acct_c', 2);
    start(1000);
    await fullCheck('audit');
    await forgeAudit(stores.db, 'acct_c');
    await found('audit acct_c 3 forged');
    await write('acct_c', 2);
    start(1);
    await eventually(async () => (await stores.db.integrityFault.count()) > 0);
    expect(await faults()).toEqual(['audit acct_c 3 forged']);
    expect(lines.filter(({ level }) => level === 50)).toMatchObject([{ name: 'acct_c', number: 3, fault: 'forged' }]);
  });

  test('an end that was cut off together with its head is found by whoever had seen it, and stays found', async () => {
    await write('acct_c', 3);
    start(1000);
    await fullCheck('audit');
    await stores.tamper(`DELETE FROM audit WHERE chain = 'acct_c' AND seq > 1`);
    await stores.tamper(`
      UPDATE audit_heads SET seq = 1, hash = (SELECT hash FROM audit WHERE chain = 'acct_c') WHERE chain = 'acct_c'`);
    await found('audit acct_c 2 missing');
    start(1);
    await eventually(async () => (await stores.db.integrityFault.findFirst())?.fault === 'missing');
    expect(await faults()).toEqual(['audit acct_c 2 missing']);
  });

  test('an end that was written anew after it had been seen is found in the next round', async () => {
    await write('acct_c', 3);
    start(1000);
    await fullCheck('audit');
    await stores.tamper(`DELETE FROM audit WHERE chain = 'acct_c' AND seq > 1`);
    await stores.tamper(`
      UPDATE audit_heads SET seq = 1, hash = (SELECT hash FROM audit WHERE chain = 'acct_c') WHERE chain = 'acct_c'`);
    await write('acct_c', 3);
    await eventually(async () => (await faults()).some((fault) => fault.startsWith('audit acct_c')));
  });

  const rewritten = async (): Promise<void> => {
    const [last] = await readAudit(stores.db, 'acct_c', { order: 'desc', limit: 1 });
    if (last === undefined) throw new Error('the chain is empty');
    const hash = auditHash({ ...last, action: 'z' });
    await stores.tamper(`UPDATE audit SET action = 'z', hash = '${hash}' WHERE chain = 'acct_c' AND seq = 3`);
    await stores.tamper(`UPDATE audit_heads SET hash = '${hash}' WHERE chain = 'acct_c'`);
  };
  /** Once through, in the hands of a process that has seen nothing yet, or of one that goes on. */
  const freshRound = () => openAuditRound({ db: stores.db, log, keys }, 0);

  test('an entry that was written anew with its head stays found until it is what it was, over restarts', async () => {
    await write('acct_c', 3);
    const [last] = await readAudit(stores.db, 'acct_c', { order: 'desc', limit: 1 });
    const round = freshRound();
    await round();
    await rewritten();
    for (const next of [round, round, freshRound(), round, freshRound()]) {
      await next();
      expect(await faults()).toEqual(['audit acct_c 3 forged']);
    }
    // Later changes do not hide it.
    await write('acct_c', 1);
    for (const next of [round, freshRound(), round]) {
      await next();
      expect(await faults()).toContain('audit acct_c 3 forged');
    }
    await stores.tamper(`DELETE FROM audit WHERE chain = 'acct_c' AND seq = 4`);
    await stores.tamper(`UPDATE audit SET action = 'a.b', hash = '${last?.hash}' WHERE chain = 'acct_c' AND seq = 3`);
    await stores.tamper(`UPDATE audit_heads SET seq = 3, hash = '${last?.hash}' WHERE chain = 'acct_c'`);
    for (const next of [round, freshRound()]) await next();
    expect(await faults()).toEqual([]);
  });

  test('an end that was cut off or rewritten while nobody watched is found at the next start', async () => {
    await write('acct_c', 3);
    await freshRound()();
    await rewritten();
    await freshRound()();
    expect(await faults()).toEqual(['audit acct_c 3 forged']);
  });

  test.each([
    ['a time beyond all dates', `UPDATE audit SET at = 'infinity' WHERE chain = 'acct_c' AND seq = 2`, ['2 altered']],
    [
      'half a character',
      `UPDATE audit SET after = '{"a":"\\ud800"}' WHERE chain = 'acct_c' AND seq = 2`,
      ['2 altered'],
    ],
    ['a number beyond all', `UPDATE audit SET after = '1e999' WHERE chain = 'acct_c' AND seq = 2`, ['2 altered']],
    [
      'a head with the largest number',
      `UPDATE audit_heads SET seq = ${maxBigint} WHERE chain = 'acct_c'`,
      ['4 missing'],
    ],
    [
      'an end with the largest number',
      `UPDATE audit SET seq = ${maxBigint} WHERE chain = 'acct_c' AND seq = 3`,
      ['3 missing', `${Number.MAX_SAFE_INTEGER} altered`],
    ],
  ])('%s is found, and so is what was altered in other chains', async (_, statement, expected) => {
    for (const chain of ['acct_b', 'acct_c', 'acct_d']) await write(chain, 3);
    await stores.tamper(statement);
    await stores.tamper(`UPDATE audit SET action = 'z' WHERE chain <> 'acct_c' AND seq = 2`);
    await freshRound()();
    const own = expected.map((fault) => `audit acct_c ${fault}`);
    expect(await faults()).toEqual(['audit acct_b 2 altered', ...own, 'audit acct_d 2 altered']);
  });

  test('entries with numbers beyond what a double tells apart do not keep the check at one page', async () => {
    await write('acct_c', 3);
    await stores.tamper(`INSERT INTO audit SELECT (json_populate_record(a, json_build_object('seq', 4611686018427387904 + n))).*
      FROM audit a, generate_series(1, 250) n WHERE a.chain = 'acct_c' AND a.seq = 3`);
    await stores.tamper(`UPDATE audit_heads SET seq = ${maxBigint} WHERE chain = 'acct_c'`);
    await freshRound()();
    expect(await faults()).toContain('audit acct_c 4 missing');
  });

  test.each([
    ['with a letter of two bytes', `seal = 'é' || substr(seal, 2)`],
    ['in capital letters', 'seal = upper(seal)'],
    ['moved by a space', `seal = ' ' || substr(seal, 1, 63)`],
    ['of another number', `seq = ${maxBigint}`],
    ['of another hash', `hash = 'é'`],
  ])('a noted end with a seal %s is found at the next start, and so is every other fault', async (_, change) => {
    for (const chain of ['acct_b', 'acct_c', 'acct_d']) await write(chain, 3);
    await freshRound()();
    expect(await faults()).toEqual([]);
    await stores.tamper(`UPDATE audit_heads_seen SET ${change} WHERE chain = 'acct_c'`);
    await stores.tamper(`UPDATE audit SET action = 'z' WHERE chain <> 'acct_c' AND seq = 2`);
    await freshRound()();
    expect(await faults()).toEqual(
      expect.arrayContaining(['audit acct_b 2 altered', 'audit acct_c 0 forged', 'audit acct_d 2 altered']),
    );
  });

  test('a head that is gone is found, and what is whole again is forgotten by the next full check', async () => {
    await write('acct_c', 2);
    start(1);
    await fullCheck('audit');
    const [head] = await stores.db.auditHead.findMany();
    await stores.tamper('DELETE FROM audit_heads');
    await found('audit acct_c 2 without a head');
    await stores.tamper(`INSERT INTO audit_heads VALUES ('acct_c', 2, '${head?.hash}')`);
    await found();
  });
});

describe('the ledger', () => {
  const entries = () => Array.from({ length: 600 }, (_, i) => entryOf({ prompt_tokens: i }));
  const idOf = (entry: ReturnType<typeof entryOf> | undefined): string => String(entry?.receipt.id);

  test('an altered receipt is found, named, and forgotten once it is what it was', async () => {
    const all = entries();
    await ingest(stores.db, ...all);
    const id = all.map(idOf).sort()[5];
    start(1);
    await fullCheck('receipt');
    expect(await faults()).toEqual([]);
    await stores.tamper(`UPDATE receipts SET carbon_g = 5 WHERE id = '${id}'`);
    await found(`receipt ${id} 1 altered`);
    expect(lines.filter(({ level }) => level === 50)).toMatchObject([{ name: id, number: 1, fault: 'altered' }]);
    await stores.tamper(`UPDATE receipts SET carbon_g = 0.6 WHERE id = '${id}'`);
    await found();
  });

  test.each([
    ['a seal with a letter of two bytes', `seal = 'é' || substr(seal, 2)`, 'forged'],
    ['a seal in capital letters', 'seal = upper(seal)', 'forged'],
    ['a seal that is moved by a space', `seal = ' ' || substr(seal, 1, 63)`, 'forged'],
    ['a body of null', `body = 'null'`, 'altered'],
    ['a body that is a list', `body = '[]'`, 'altered'],
    ['a body that is a text', `body = '"x"'`, 'altered'],
    ['a body that is a number', `body = '5'`, 'altered'],
    ['a body of lists inside each other', `body = (repeat('[', 20000) || repeat(']', 20000))::json`, 'altered'],
    ['facts with half a character', `facts = '"\\ud800"'`, 'altered'],
    ['more energy than a double can be', 'energy_wh = 1e400', 'altered'],
    ['less carbon than a double can be', 'carbon_g = 1e-400', 'altered'],
    ['a time beyond all dates', `created_at = 'infinity'`, 'altered'],
  ])('%s is found by both checks, and so is every other fault of its page', async (_, change, fault) => {
    const all = entries().slice(0, 30);
    await ingest(stores.db, ...all);
    const [first, odd, last] = [3, 15, 29].map((at) => String(all.map(idOf).sort()[at]));
    await stores.tamper(`UPDATE receipts SET ${change} WHERE id = '${odd}'`);
    await stores.tamper(`UPDATE receipts SET key_id = 'another' WHERE id IN ('${first}', '${last}')`);
    const expected = [`receipt ${first} 1 altered`, `receipt ${odd} 1 ${fault}`, `receipt ${last} 1 altered`];
    const seals = openLedgerSeals({ db: stores.db, keys, log });
    await checkNewest({ db: stores.db, log, seals });
    expect(await faults()).toEqual(expected);
    await stores.empty('integrity_faults');
    await checkAll({ db: stores.db, log, seals, fullS: 1000, signal: new AbortController().signal });
    expect(await faults()).toEqual(expected);
  });

  test.each(['infinity', '-infinity', '20000-01-01', '0044-01-01 BC'])(
    'a full check that is said to have begun at %s goes on, and ends',
    async (time) => {
      await ingest(stores.db, ...entries().slice(0, 3));
      await stores.tamper(`UPDATE integrity_checks SET begun_at = '${time}' WHERE kind = 'receipt'`);
      await checkAll({ db: stores.db, log, seals: testSeals, fullS: 1000, signal: new AbortController().signal });
      expect(await stores.db.integrityCheck.findUnique({ where: { kind: 'receipt' } })).toMatchObject({
        finishedAt: expect.any(Date),
        begunAt: null,
      });
    },
  );

  test.each(['receipt', 'batch'])(
    'nobody makes the full check of kind %s begin at a number that no version has',
    async (kind) => {
      for (const version of ['2147483648', '-2147483649'])
        await expect(
          stores.tamper(`UPDATE integrity_checks SET after_version = ${version} WHERE kind = '${kind}'`),
        ).rejects.toThrow('integrity_checks');
    },
  );

  test('one among the newest is found in the next round, long before the next full check', async () => {
    const all = entries();
    await ingest(stores.db, ...all);
    start(100_000);
    await fullCheck('receipt');
    const id = all.map(idOf).sort().at(-3);
    await stores.tamper(`UPDATE receipts SET facts = '{}' WHERE id = '${id}'`);
    await found(`receipt ${id} 1 altered`);
  });

  test('a first version that was taken out from under the second is found', async () => {
    const first = entryOf();
    const { id } = first.receipt;
    await ingest(stores.db, first, entryOf({ id, version: 2, supersedes: 1 }), ...entries());
    await stores.tamper(`DELETE FROM receipts WHERE id = '${id}' AND version = 1`);
    start(1);
    await found(`receipt ${id} 1 missing`);
  });

  test('what one instance has begun another one goes on with, and a claim keeps others away', async () => {
    const all = entries();
    await ingest(stores.db, ...all);
    const sorted = all.map(idOf).sort();
    const run = () =>
      checkAll({ db: stores.db, log, seals: testSeals, fullS: 1000, signal: new AbortController().signal });
    const place = { after_id: sorted[299], after_version: 1 };
    await stores.tamper(`UPDATE integrity_checks SET begun_at = now(), claimed_until = now() + INTERVAL '1 minute',
      after_id = '${place.after_id}', after_version = 1 WHERE kind = 'receipt'`);
    await run();
    expect(await stores.db.integrityCheck.findUnique({ where: { kind: 'receipt' } })).toMatchObject({
      finishedAt: null,
    });
    await stores.tamper(
      `UPDATE integrity_checks SET claimed_until = now() - INTERVAL '1 second' WHERE kind = 'receipt'`,
    );
    await run();
    const done = await stores.db.integrityCheck.findUnique({ where: { kind: 'receipt' } });
    expect(done).toMatchObject({ finishedAt: expect.any(Date), begunAt: null, afterId: '', claimedUntil: null });
    await run();
    expect(await stores.db.integrityCheck.findUnique({ where: { kind: 'receipt' } })).toEqual(done);
  });
});
