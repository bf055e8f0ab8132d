/** The services' role by itself, without the service and its key, can do little with the ledger. */

import { dayMs } from '@gw/contract/internal/durations';
import { ingest, unattended } from '@gw/testing/control-plane/calls';
import { entryOf, receiptIdAt, receiptOf, startStores } from '@gw/testing/control-plane/fixtures';
import { forFile } from '@gw/testing/for-file';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';

const stores = forFile(startStores);
let service: pg.Client;
beforeAll(async () => {
  service = new pg.Client({ connectionString: stores.postgres.serviceUrl });
  await service.connect();
  // The one function that may take a row back makes this setting. Who makes it themselves gets no further.
  await service.query("SET gw.restores = 'on'");
});
afterAll(async () => {
  await service?.end();
});
beforeEach(() => stores.empty('receipts', 'receipt_replacements'));
afterEach(() => service.query('ROLLBACK'));

type Entry = Parameters<typeof unattended>[0];
const made = (): Entry => entryOf() as Entry;

async function rowOf(id: string): Promise<Record<string, unknown>> {
  const { rows } = await service.query(
    `SELECT *, content_sha256 AS replaces, created_at::text AS created_at, body::text AS text FROM receipts WHERE id = $1`,
    [id],
  );
  return rows[0];
}
const settle = async (row: Record<string, unknown>): Promise<number | null> =>
  (await service.query('SELECT * FROM settle_receipts($1)', [JSON.stringify([row])])).rowCount;

describe('the function that settles a receipt', () => {
  const changes: [string, (row: Record<string, unknown>) => Record<string, unknown>][] = [
    ['other numbers', (row) => ({ carbon_g: 0.5, body: { ...(row.body as object), carbon_g: 0.5 } })],
    ['other numbers as what was shown', (row) => ({ shown: true, carbon_g: 0.5, body: row.body })],
    [
      'numbers in the columns of a degraded one',
      () => ({ shown: true, tier: 'degraded', energy_wh: 1, carbon_g: null }),
    ],
    [
      'another account',
      () => ({ account_id: 'acct_other', shown: true, tier: 'degraded', energy_wh: null, carbon_g: null }),
    ],
    ['other facts', () => ({ facts: { others: true } })],
    ['no facts', () => ({ facts: null })],
    ['another trace', () => ({ routing_trace: {} })],
    ['no seal', () => ({ shown: true, tier: 'degraded', energy_wh: null, carbon_g: null, seal: null })],
    [
      'another receipt as what was shown',
      () => ({ shown: true, tier: 'degraded', energy_wh: null, carbon_g: null, body: {} }),
    ],
  ];

  test.each(changes)('refuses, of a receipt with numbers and facts: %s', async (_, change) => {
    const entry = made();
    await ingest(stores.db, entry);
    const before = await rowOf(entry.receipt.id);
    // The account is not part of what the function takes: there the row stays as it was, or is refused.
    await settle({ ...before, ...change(before) }).catch((error: Error) => {
      expect(error.message).toContain('append-only');
    });
    await service.query('ROLLBACK');
    const after = await rowOf(entry.receipt.id);
    if ('account_id' in change(before)) expect(after.account_id).toBe(before.account_id);
    else expect(after).toEqual(before);
  });

  const shownOf = (row: Record<string, unknown>, body: object = {}, columns: object = {}) => {
    const without = { tier: 'degraded', energy_wh: null, carbon_g: null };
    return { ...row, ...without, ...columns, shown: true, body: { ...(row.body as object), ...without, ...body } };
  };

  test.each<[string, object, object]>([
    ['energy in the receipt alone', { energy_wh: 1 }, {}],
    ['carbon in the receipt alone', { carbon_g: 1 }, {}],
    ['another tier in the receipt', { tier: 'measured' }, {}],
    ['another model in the receipt', { model: 'other' }, {}],
    ['another region in the column', {}, { region: 'other' }],
    ['another status in the column', {}, { status: 'other' }],
    ['other tokens in the column', {}, { prompt_tokens: 5_000_000 }],
    ['other tokens in the receipt', { completion_tokens: 5_000_000 }, {}],
  ])('refuses what says one thing in the receipt and another in the columns: %s', async (_, body, columns) => {
    const entry = made();
    await ingest(stores.db, entry);
    const before = await rowOf(entry.receipt.id);
    await expect(settle(shownOf(before, body, columns))).rejects.toThrow('append-only');
    expect(await rowOf(entry.receipt.id)).toEqual(before);
    expect(await settle(shownOf(before))).toBe(1);
  });

  test('leaves receipts of more than a week ago as they are, whoever asks', async () => {
    const old = { ...made(), receipt: receiptOf({ id: receiptIdAt(new Date(Date.now() - 8 * dayMs)) }) };
    const entries = [
      old,
      { ...old, receipt: receiptOf({ id: receiptIdAt(new Date(Date.now() - 8 * dayMs)) }), facts: null },
    ];
    await ingest(stores.db, ...(entries as Entry[]));
    for (const { receipt } of entries) {
      const before = await rowOf(receipt.id);
      await expect(settle(shownOf(before))).rejects.toThrow('append-only');
      if (before.facts === null) await expect(settle({ ...before, facts: { late: 1 } })).rejects.toThrow('append-only');
    }
  });

  test('lets it become what was shown once, keeps the row as it was, and refuses the way back', async () => {
    const entry = made();
    await ingest(stores.db, entry);
    const before = await rowOf(entry.receipt.id);
    await ingest(stores.db, unattended(entry, { shown: true }));
    const settled = await rowOf(entry.receipt.id);
    expect(settled).toMatchObject({ tier: 'degraded', carbon_g: null, shown: true });
    const kept = await stores.db.receiptReplacement.findMany();
    expect(kept).toMatchObject([{ receiptId: entry.receipt.id, version: 1, replaced: { seal: before.seal } }]);
    expect(JSON.stringify((kept[0]?.replaced as { body: unknown } | undefined)?.body)).toBe(before.text);
    for (const back of [
      { ...before, replaces: settled.replaces },
      { ...settled, status: 'other' },
    ])
      await expect(settle(back)).rejects.toThrow('append-only');
    await ingest(stores.db, unattended(entry, { shown: true }), entry);
    expect(await rowOf(entry.receipt.id)).toEqual(settled);
    expect(await stores.db.receiptReplacement.count()).toBe(1);
  });

  test('lets a close become what the sidecar made, and no other receipt', async () => {
    const entry = made();
    await ingest(stores.db, unattended(entry, { shown: false }));
    const closed = await rowOf(entry.receipt.id);
    expect(closed).toMatchObject({ tier: 'degraded', shown: false });
    await ingest(stores.db, entry);
    const settled = await rowOf(entry.receipt.id);
    expect(settled).toMatchObject({ tier: entry.receipt.tier, carbon_g: String(entry.receipt.carbon_g), shown: false });
    expect(settled.body).toEqual(entry.receipt);
    expect(await stores.db.receiptReplacement.findMany()).toMatchObject([{ replaced: { seal: closed.seal } }]);
    // Nothing else, and no second time.
    await expect(settle({ ...closed, replaces: settled.replaces })).rejects.toThrow('append-only');
    await ingest(stores.db, unattended(entry, { shown: false }));
    expect(await rowOf(entry.receipt.id)).toEqual(settled);
    const shown = made();
    await ingest(stores.db, unattended(shown, { shown: true }));
    const before = await rowOf(shown.receipt.id);
    const numbers = { tier: shown.receipt.tier, carbon_g: shown.receipt.carbon_g, energy_wh: shown.receipt.energy_wh };
    await expect(settle({ ...before, ...numbers, body: shown.receipt, shown: false })).rejects.toThrow('append-only');
  });

  test.each([
    ['closed, made', ['closed', 'made']],
    ['made, closed', ['made', 'closed']],
    ['closed, shown, made', ['closed', 'shown', 'made']],
    ['made, closed, shown', ['made', 'closed', 'shown']],
    ['closed, made, shown', ['closed', 'made', 'shown']],
  ] as const)('ends the same in one batch and in several: %s', async (_, order) => {
    const entry = made();
    const forms = {
      made: entry,
      closed: unattended(entry, { shown: false }),
      shown: unattended(entry, { shown: true }),
    };
    const other = { ...entry, receipt: { ...entry.receipt, id: receiptIdAt(new Date()) } };
    const named = (id: string, form: Entry): Entry => ({ ...form, receipt: { ...form.receipt, id } });
    for (const form of order) await ingest(stores.db, forms[form]);
    await ingest(stores.db, ...order.map((form) => named(other.receipt.id, forms[form])));
    const last = order.includes('shown' as never) ? forms.shown : forms.made;
    for (const id of [entry.receipt.id, other.receipt.id]) {
      const row = await rowOf(id);
      expect(row.body).toEqual({ ...last.receipt, id });
      expect(row.facts).toEqual(entry.facts);
    }
  });

  test('leaves a row alone that is another one by now', async () => {
    const entry = { ...made(), facts: null };
    await ingest(stores.db, entry);
    const before = await rowOf(entry.receipt.id);
    expect(await settle({ ...before, facts: { late: 1 }, replaces: 'f'.repeat(64) })).toBe(0);
    expect(await settle({ ...before, facts: { late: 1 }, replaces: null })).toBe(0);
    expect(await rowOf(entry.receipt.id)).toEqual(before);
  });

  test('never touches a later version', async () => {
    const first = made();
    const later = entryOf({ id: first.receipt.id, version: 2, supersedes: 1 }) as Entry;
    await ingest(stores.db, first, { ...later, facts: null });
    await ingest(stores.db, { ...later, facts: { late: 1 } as never });
    const row = await stores.db.receipt.findFirstOrThrow({ where: { version: 2 } });
    expect(row.facts).toBeNull();
  });
});

test('a row with a replacement that nobody may change or take out', async () => {
  const entry = made();
  await ingest(stores.db, entry, unattended(entry, { shown: true }));
  await ingest(stores.db, unattended(entry, { shown: true }));
  for (const statement of [
    'DELETE FROM receipt_replacements',
    `INSERT INTO receipt_replacements VALUES (1, 'x', 1, now(), '{}')`,
  ])
    await expect(service.query(statement)).rejects.toThrow('permission denied');
});
