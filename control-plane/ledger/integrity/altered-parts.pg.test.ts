/** Receipts stay safe when a part of their facts is altered in the database, or removed. */
import { seedOperators } from '@gw/testing/control-plane/access';
import { runAs } from '@gw/testing/control-plane/admin';
import { startTestApp } from '@gw/testing/control-plane/app';
import { callAt, type Entry, entryFrom, hourly } from '@gw/testing/control-plane/calls';
import { roundAtOnce, silentLog } from '@gw/testing/control-plane/fixtures';
import { forFile } from '@gw/testing/for-file';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { checkAll, checkNewest } from './check-receipts.ts';

const running = forFile(startTestApp);
let token: string;
beforeAll(async () => {
  token = (await seedOperators(running.context)).admin;
  await running.stores.tamper('ALTER TABLE facts_parts DROP CONSTRAINT facts_parts_content_check');
});
beforeEach(() => running.stores.empty('receipts', 'integrity_faults', 'facts_parts'));

const time = '2026-11-21T09:10:00Z';
const callWith = (gPerKwh: number): Entry => entryFrom(callAt(time, { grid: hourly(time, { gPerKwh }) }));
const idOf = ({ receipt }: Entry) => receipt.id;
const digestOf = async (gPerKwh: number): Promise<string> => {
  const [part] = await running.stores.db.$queryRaw<{ sha256: string }[]>`
    SELECT sha256 FROM facts_parts WHERE content ->> 'gPerKwh' = ${String(gPerKwh)}`;
  return part?.sha256 ?? '';
};
const faults = async () =>
  (await running.stores.db.integrityFault.findMany({ where: { mendedAt: null } })).map(
    ({ fault, kind, name, number }) => `${kind} ${name} ${number} ${fault}`,
  );
const checkWhole = () => {
  const { db, seals } = running.stores;
  return checkAll({ db, log: silentLog, seals, ...roundAtOnce });
};

async function verify(): Promise<string> {
  const { code, out } = await runAs(running, token, ['receipts', 'verify']);
  return `${code} ${out}`;
}

test.each([
  ['altered', (digest: string) => `UPDATE facts_parts SET content = '{"gPerKwh":1}' WHERE sha256 = '${digest}'`],
  ['missing', (digest: string) => `DELETE FROM facts_parts WHERE sha256 = '${digest}'`],
])(
  'a part that is %s is found by its digest, and no lineage is shown of a receipt that names it',
  async (fault, tampering) => {
    const { db, seals, tamper } = running.stores;
    const [first, second, other] = [callWith(41), callWith(41), callWith(42)];
    await running.store(first, second, other);
    const lineage = async (entry: Entry) => running.get(`/v1/gw/lineage/${idOf(entry)}`);
    for (const entry of [first, second, other]) expect((await lineage(entry)).statusCode).toBe(200);
    const digest = await digestOf(41);
    const [kept] = await db.factsPart.findMany({ where: { sha256: digest } });
    await tamper(tampering(digest));

    for (const entry of [first, second]) {
      const refused = await lineage(entry);
      expect([refused.statusCode, refused.json().error.code]).toEqual([500, 'receipt_integrity_failed']);
      // The receipt is in its row, under its seal.
      const receipt = await running.get(`/v1/gw/receipts/${idOf(entry)}`);
      expect([receipt.statusCode, receipt.json()]).toEqual([200, entry.receipt]);
    }
    expect((await lineage(other)).statusCode).toBe(200);
    expect((await running.get('/v1/gw/receipts')).json().altered).toBeUndefined();

    const expected = [`receipt ${digest} 0 ${fault}`];
    for (const look of [() => checkNewest({ db, log: silentLog, seals }), checkWhole]) {
      await running.stores.empty('integrity_faults');
      await look();
      expect(await faults()).toEqual(expected);
    }
    const health = (await running.operator.inject('/healthz')).json();
    expect(health).toMatchObject({ status: 'degraded', receipt_integrity_faults: 1 });
    const told = await verify();
    expect(told).toMatch(/^1 .*\n3 versions of receipts, 2 with faults\.\n$/s);
    for (const entry of [first, second]) expect(told).toMatch(new RegExp(`${idOf(entry)} +1 +facts ${fault}\\n`));

    // From a backup.
    await tamper(`DELETE FROM facts_parts WHERE sha256 = '${digest}'`);
    await tamper(`INSERT INTO facts_parts VALUES ('${digest}', '${JSON.stringify(kept?.content)}')`);
    await checkWhole();
    expect(await faults()).toEqual([]);
    expect((await lineage(first)).statusCode).toBe(200);
  },
);

test('a row that is made to name another part is altered itself', async () => {
  const [first, second] = [callWith(41), callWith(42)];
  await running.store(first, second);
  const [from, to] = [await digestOf(41), await digestOf(42)];
  await running.stores.tamper(`UPDATE receipts SET facts = replace(facts::text, '${from}', '${to}')::json`);
  expect((await running.get(`/v1/gw/receipts/${idOf(first)}`)).json().error.code).toBe('receipt_integrity_failed');
  expect((await running.get(`/v1/gw/receipts/${idOf(second)}`)).statusCode).toBe(200);
});
