/** Whoever owns the database, and switches its triggers off, changes no number of the ledger, adds none and hides none unnamed. */
import type { Entry } from '@gw/testing/control-plane/calls';
import { type Attempt, account, type Exam, examine, otherAccount } from '@gw/testing/control-plane/forgeries/exam';
import { expect } from 'vitest';
import { appendAudit } from '../../people/audit/append.ts';

/** Three receipts in one batch and two in the next, of which the first is meant. */
const on =
  (
    statementsOf: (id: string, entries: readonly Entry[], exam: Exam) => readonly string[] | Promise<readonly string[]>,
  ): Attempt =>
  async (exam) => {
    const entries = await exam.store(3, 2);
    const id = entries[0]?.receipt.id ?? expect.fail();
    return async () => {
      for (const statement of await statementsOf(id, entries, exam)) await exam.app.stores.tamper(statement);
    };
  };

examine('owner', {
  'change a number, in the column and in the receipt': on((id) => [
    `UPDATE receipts SET carbon_g = 1e-9, body = (body::jsonb || '{"carbon_g":1e-9}')::json WHERE id = '${id}'`,
  ]),
  'halve the column alone, which sums read': on((id) => [
    `UPDATE receipts SET carbon_g = carbon_g / 2 WHERE id = '${id}'`,
  ]),
  'move a receipt to another account': on((id) => [
    `UPDATE receipts SET account_id = '${otherAccount}' WHERE id = '${id}'`,
  ]),
  'delete a receipt of this hour': on((id) => [`DELETE FROM receipts WHERE id = '${id}'`]),
  'change an old audit entry': async ({ app: { stores } }) => {
    const actor = { kind: 'operator', id: 'op_first', name: 'First' } as const;
    for (const action of ['account.suspended', 'account.reinstated'])
      await stores.db.$transaction((tx) =>
        appendAudit(tx, new Date(), {
          accountId: account,
          actor,
          action,
          target: `account:${account}`,
          requestId: null,
        }),
      );
    return () => stores.tamper(`UPDATE audit SET action = 'account.reinstated' WHERE chain = '${account}' AND seq = 1`);
  },
  'go back to a state of before': on((_, entries) => [
    `DELETE FROM receipts WHERE id IN (${entries
      .slice(3)
      .map(({ receipt }) => `'${receipt.id}'`)
      .join()})`,
    'DELETE FROM receipt_batches WHERE number = 2',
  ]),
  'detach the partition of a month': on(async (id, _, { afterwards, app }) => {
    const [part] = await app.stores.db.$queryRaw<{ name: string; bound: string }[]>`
      SELECT c.relname::text AS name, pg_get_expr(c.relpartbound, c.oid) AS bound
      FROM receipts r JOIN pg_class c ON c.oid = r.tableoid WHERE r.id = ${id}`;
    afterwards(`ALTER TABLE receipts ATTACH PARTITION ${part?.name} ${part?.bound}`);
    return [`ALTER TABLE receipts DETACH PARTITION ${part?.name}`];
  }),
  'move a receipt in the order of arrival': on((id) => [`UPDATE receipts SET arrived = 3 WHERE id = '${id}'`]),
  'copy a genuine row under another id': on((id) => [
    `INSERT INTO receipts SELECT (json_populate_record(r, json_build_object('id', left(id, -4) || '${
      id.endsWith('0000') ? '1111' : '0000'
    }'))).* FROM receipts r WHERE id = '${id}'`,
  ]),
});
