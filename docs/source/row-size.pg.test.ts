/** How large the rows of the ledger are, with receipts, facts and traces as the product makes them. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { inCheckout } from '@gw/stack/checkout';
import { cases } from '@gw/testing/cases';
import { ingest } from '@gw/testing/control-plane/calls';
import { type Stores, startStores } from '@gw/testing/control-plane/fixtures';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Call, type MadeCall, madeCall } from './calls.ts';

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
/** The catalogue says as much as it can about each of them. */
const calls: readonly Call[] = [
  { entry: { entry, parametersSource: 'model card' }, site: { entry, regionEntry: entry, pueEvidence } },
  { model: 'sim-small', region: 'eu-west', site: { entry, regionEntry: entry, pueEvidence } },
  { model: 'sim-embed', region: 'eu-west', usage: { promptTokens: 900, cachedPromptTokens: 0, completionTokens: 0 } },
];

const entryOf = ({ facts, receipt, trace }: MadeCall) => ({
  accountId: 'acct_demo_audit',
  keyId: 'key',
  endpoint: '/v1/chat/completions' as const,
  receipt,
  routingTrace: trace,
  facts: JSON.parse(facts),
});

/** Calls that differ in their tokens and in how long the provider took, as those of clients do. */
const varied = (at: number): MadeCall => {
  const usage = {
    promptTokens: (at * 7919) % 3000,
    cachedPromptTokens: 0,
    completionTokens: 1 + ((at * 104_729) % 900),
  };
  return madeCall(10_000 + at, { ...calls[at % 2], usage, latencyS: 0.1 + ((at * 31) % 997) / 100 });
};
const isStored = async (): Promise<number> => {
  const [size] = await stores.db.$queryRaw<{ bytes: number }[]>`
    SELECT sum(pg_total_relation_size(inhrelid))::float8 AS bytes FROM pg_inherits WHERE inhparent = 'receipts'::regclass`;
  return size?.bytes ?? 0;
};
const store = (made: readonly MadeCall[]) => ingest(stores.db, ...made.map(entryOf));

test('a hundred million receipts take less than 200 GB with their indexes', async () => {
  const count = cases(1000, 500);
  await stores.empty('receipts');
  const before = await isStored();
  for (let from = 0; from < count; from += 500) await store(Array.from({ length: 500 }, (_, at) => varied(from + at)));
  const bytes = ((await isStored()) - before) / count;
  // A field of every receipt is seen here; what many receipts share belongs into `facts_parts` (docs/decisions/0026).
  expect(bytes).toBeLessThan(1750);
  // A bound that is far off would see nothing.
  expect(bytes).toBeGreaterThan(1250);
  // Otherwise a row would lie in two tables.
  const [moved] = await stores.db.$queryRaw<{ bytes: number }[]>`
    SELECT sum(pg_relation_size(c.reltoastrelid))::float8 AS bytes FROM pg_class c
    WHERE c.oid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = 'receipts'::regclass)`;
  expect(moved?.bytes).toBe(0);
});

test('a compressed row is read without the gateway as docs/operations.md says', async () => {
  const made = varied(1);
  await stores.empty('receipts');
  await store([made]);
  const text = readFileSync(inCheckout('docs', 'operations.md'), 'utf8');
  const [, query = ''] = /psql -At -c "([^"]+)"/.exec(text) ?? [];
  const [, program = ''] = /```python\n(# row\.py:[^`]+)```/.exec(text) ?? [];
  const [row] = await stores.db.$queryRawUnsafe<{ encode: string; content: string }[]>(
    query.replace('rcpt_…', made.receipt.id),
  );
  const printed = execFileSync('python3', ['-c', program], { input: `${row?.encode}|${row?.content}\n` }).toString();
  expect(printed).toBe(`${JSON.stringify(made.receipt)}\n${JSON.stringify(made.trace)}\n${printed.split('\n')[2]}\n`);
  expect(JSON.parse(printed.split('\n')[2] ?? '')).toMatchObject({ requestedTier: 'auto', parts: {} });
});
