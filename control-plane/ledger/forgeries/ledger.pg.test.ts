/** Whoever holds a role of the control plane in the database changes no number of the ledger, adds none and hides none unnamed. */
import { tableRights } from '@gw/prisma/roles';
import { unattended } from '@gw/testing/control-plane/calls';
import { roundAtOnce, silentLog } from '@gw/testing/control-plane/fixtures';
import { forgeAudit } from '@gw/testing/control-plane/forge-audit';
import {
  type Attempt,
  account,
  answerTo,
  type Exam,
  evidenceKey,
  examine,
} from '@gw/testing/control-plane/forgeries/exam';
import { expect } from 'vitest';
import { checkBatches } from '../integrity/check-batches.ts';
import { trustIn } from '../log/sign.ts';

/** Tables of which no role may change or remove a row. */
const growing = Object.entries(tableRights)
  .filter(([, byRole]) => {
    const rights = Object.values(byRole).flat();
    return rights.length > 0 && rights.every((right) => /^(SELECT|INSERT)/.test(right));
  })
  .map(([table]) => table);

const onEach =
  (statementsOf: (table: string, columns: readonly string[]) => readonly string[]): Attempt =>
  async ({ app, asEach, store }) => {
    await store(1);
    const found = await app.stores.db.$queryRaw<{ table: string; columns: string[] }[]>`
      SELECT table_name::text AS table, array_agg(column_name::text) AS columns FROM information_schema.columns
      WHERE table_schema = 'public' AND table_name = ANY (${growing}) GROUP BY 1`;
    expect(found.map(({ table }) => table)).toEqual(expect.arrayContaining(['audit', 'receipts', 'receipt_log']));
    return () => asEach(found.flatMap(({ columns, table }) => statementsOf(table, columns)));
  };

/** A receipt that was stored as a stand-in and settled since. */
async function settled({ app, call, issued }: Exam): Promise<string> {
  const entry = call();
  await app.store(issued(unattended(entry, { shown: false })));
  await app.store(entry);
  return entry.receipt.id;
}

/** A receipt that the owner has altered, and that was found. */
async function found({ app, run }: Exam, id: string): Promise<void> {
  await app.stores.tamper(`UPDATE receipts SET key_id = 'another' WHERE id = '${id}'`);
  await run('receipts');
}

const idOf = async ({ store }: Exam): Promise<string> => {
  const [entry] = await store(3);
  return entry?.receipt.id ?? expect.fail();
};

examine('ledger', {
  'chain an audit entry': async ({ app, store }) => {
    await store(1);
    return () => forgeAudit(app.stores.databases.ledger, account);
  },
  'settle a receipt with a made-up seal': async (exam) => {
    const id = await settled(exam);
    return () =>
      exam.as(
        'ledger',
        `SELECT * FROM settle_receipts((SELECT json_agg(json_build_object('id', id, 'created_at', created_at, 'replaces', content_sha256,
          'model', model, 'region', region, 'tier', 'degraded', 'status', status, 'prompt_tokens', prompt_tokens,
          'completion_tokens', completion_tokens, 'energy_wh', NULL, 'carbon_g', NULL, 'routing_trace', routing_trace, 'facts', facts,
          'shown', TRUE, 'content_sha256', repeat('a', 64), 'seal', repeat('a', 64), 'seal_key', 1,
          'body', (body::jsonb || '{"tier":"degraded","energy_wh":null,"carbon_g":null}')::json)) FROM receipts WHERE id = '${id}'))`,
      );
  },
  'hide a receipt behind a version 2': async (exam) => {
    const id = await idOf(exam);
    const columns = JSON.stringify({ version: 2, carbon_g: 0, arrived: null });
    return () =>
      exam.as(
        'ledger',
        `INSERT INTO receipts SELECT (json_populate_record(r, '${columns}')).* FROM receipts r WHERE id = '${id}'`,
      );
  },
  'plant the first row of a log': async (exam) => {
    await idOf(exam);
    return () =>
      exam.as(
        'ledger',
        `INSERT INTO receipt_log (account_id, index, receipt_id, version, created_at, leaf_hash, content_sha256, seal, seal_key)
         SELECT account_id, 0, id, 7, created_at, sha256('x'), content_sha256, sha256('x'), 1 FROM receipts LIMIT 1`,
      );
  },
  'stop the checks until 2099': async (exam) => {
    const id = await idOf(exam);
    const { db, objects, redis, seals, tamper } = exam.app.stores;
    return async () => {
      await exam.as('ledger', `UPDATE integrity_checks SET claimed_until = '2099-01-01', begun_at = '2099-01-01'`);
      await tamper(`DELETE FROM receipts WHERE id = '${id}'`);
      const trust = trustIn(evidenceKey);
      await checkBatches({ db, objects, redis, seals, trust, log: silentLog, ...roundAtOnce });
      expect(await exam.faults()).toHaveLength(1);
    };
  },
  'as any role: DELETE from what only grows': onEach((table) => [`DELETE FROM ${table}`]),
  // Each column of each is tried with the rights (prisma/grant.pg.test.ts).
  'as any role: UPDATE it': onEach((table, [column]) => [`UPDATE ${table} SET "${column}" = DEFAULT`]),
  'as any role: TRUNCATE it': onEach((table) => [`TRUNCATE ${table}`]),
  'as any role: DROP it': onEach((table) => [`DROP TABLE ${table} CASCADE`]),
  'as any role: switch its triggers off': onEach((table) => [
    `ALTER TABLE ${table} DISABLE TRIGGER ALL`,
    'SET session_replication_role = replica',
  ]),
  'plant a signed head': async (exam) => {
    await idOf(exam);
    return () => exam.as('ledger', `INSERT INTO receipt_heads (last, first, signed) VALUES (999999, 1, '{}')`);
  },
  'sign the newest head with another key': async (exam) => {
    await idOf(exam);
    return () =>
      exam.as(
        'ledger',
        `INSERT INTO receipt_heads (last, first, signed)
         SELECT number, 1, json_build_object('format', 'gw.receipt_batches/1', 'first', 1, 'last', number, 'head', encode(head, 'hex'),
           'root_hash', encode(head, 'hex'), 'issued', now(), 'signature', json_build_object('alg', 'EdDSA', 'kid', 'x', 'value', 'x'))
         FROM receipt_batches ORDER BY number DESC LIMIT 1`,
      );
  },
  'put another seal on a batch': async (exam) => {
    await idOf(exam);
    return () => answerTo(exam.as('ledger', `UPDATE receipt_batches SET seal = repeat('0', 64) WHERE number = 1`));
  },
  'put an older genuine row back': async (exam) => {
    const id = await settled(exam);
    return () =>
      exam.as(
        'ledger',
        `SELECT restore_receipt((SELECT min(seq) FROM receipt_replacements), (SELECT content_sha256 FROM receipts WHERE id = '${id}'))`,
      );
  },
  'call a fault mended': async (exam) => {
    const id = await idOf(exam);
    return async () => {
      await found(exam, id);
      await exam.as('ledger', `UPDATE integrity_faults SET mended_at = now(), seen_at = now() + INTERVAL '1 year'`);
      expect(await exam.faults()).toEqual([]);
    };
  },
  'acknowledge a fault': async (exam) => {
    const id = await idOf(exam);
    const word = { at: '2026-11-29T00:00:00Z', by: 'op_first', name: null, reason: 'x', seal: '0'.repeat(64), key: 1 };
    return async () => {
      await found(exam, id);
      await exam.as('ledger', `UPDATE integrity_faults SET acknowledgement = '${JSON.stringify(word)}'`);
    };
  },
  'change the sums of a minute': async (exam) => {
    await idOf(exam);
    return () =>
      exam.as(
        'ledger',
        `WITH gone AS (DELETE FROM usage_minutes RETURNING *)
         INSERT INTO usage_minutes OVERRIDING SYSTEM VALUE
         SELECT (jsonb_populate_record(NULL::usage_minutes, to_jsonb(g) || '{"carbon_g":0}')).* FROM gone g`,
      );
  },
});
