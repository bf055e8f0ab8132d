/** How large the rows of the ledger are, with receipts, facts and traces as the product makes them. */
import { ingest } from '@gw/testing/control-plane/calls';
import { type Stores, startStores } from '@gw/testing/control-plane/fixtures';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Call, madeCall } from './calls.ts';

let stores: Stores;
beforeAll(async () => {
  stores = await startStores();
}, 120_000);
afterAll(() => stores?.stop());

const entry = { catalogueVersion: 7, changedAt: '2026-10-01T00:00:00.000Z', changedBy: 'somebody' };
const pueEvidence = {
  kind: 'reported',
  source: 'https://example.com/report',
  period: '2025-01-01/2026-01-01',
} as const;
/** What the catalogue says of them is as much as it can say. */
const calls: readonly Call[] = [
  { entry: { entry, parametersSource: 'model card' }, site: { entry, regionEntry: entry, pueEvidence } },
  { model: 'sim-small', region: 'eu-west', site: { entry, regionEntry: entry, pueEvidence } },
  { model: 'sim-embed', region: 'eu-west', usage: { promptTokens: 900, cachedPromptTokens: 0, completionTokens: 0 } },
];

/**
 * Bytes of text in each row, on average. A field of 50 bytes in every receipt is seen; that which many receipts share belongs into
 * `facts_parts` (docs/decisions/0026). Raise one only with what the new bytes are for.
 */
const most = { facts: 480, body: 1950, trace: 1040 };

test('a row holds no more bytes than it is known to need', async () => {
  const made = Array.from({ length: 300 }, (_, at) => madeCall(1000 + at, calls[at % calls.length] ?? {}));
  const entries = made.map(({ facts, receipt, trace }) => ({
    ...{ accountId: 'acct_demo_audit', keyId: 'key', endpoint: '/v1/chat/completions' as const },
    ...{ receipt, routingTrace: trace, facts: JSON.parse(facts) },
  }));
  await ingest(stores.db, ...entries);
  const [row] = await stores.db.$queryRaw<
    { rows: number; facts: number; body: number; trace: number; parts: number }[]
  >`
    SELECT count(*)::int AS rows, avg(octet_length(facts::text))::float8 AS facts,
      avg(octet_length(body::text))::float8 AS body, avg(octet_length(routing_trace::text))::float8 AS trace,
      (SELECT count(*)::int FROM facts_parts) AS parts
    FROM receipts WHERE id IN (SELECT json_array_elements_text(${JSON.stringify(made.map(({ receipt }) => receipt.id))}::json))`;
  expect(row?.rows).toBe(300);
  // Else each would be compressed in vain, and lie in two tables.
  const [moved] = await stores.db.$queryRaw<{ bytes: number }[]>`
    SELECT sum(pg_relation_size(c.reltoastrelid))::float8 AS bytes FROM pg_class c
    WHERE c.oid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = 'receipts'::regclass)`;
  expect(moved?.bytes).toBe(0);
  for (const part of ['facts', 'body', 'trace'] as const) {
    expect(row?.[part], part).toBeLessThan(most[part]);
    // A bound that is far off would see nothing.
    expect(row?.[part], part).toBeGreaterThan(most[part] - 120);
  }
});
