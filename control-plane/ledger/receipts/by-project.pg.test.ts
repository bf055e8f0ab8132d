/** The receipts of a project are found without reading those of the whole account. */
import { startStores } from '@gw/testing/control-plane/fixtures';
import { forFile } from '@gw/testing/for-file';
import { expect, test } from 'vitest';

const stores = forFile(startStores);

test('a project of few receipts is found by an index, which has only receipts with a project', async () => {
  await stores.tamper(`
    INSERT INTO receipts (id, version, created_at, account_id, key_id, endpoint, model, region, tier, status, body,
      content_sha256, seal, seal_key)
    SELECT 'rcpt_' || n, 1, timestamptz '2026-09-01Z' + n * interval '1 minute', 'acct_many', 'key', '/v1/chat/completions',
      'm', 'r', 'parametric', 'complete', json_build_object('project', CASE WHEN n % 1000 = 0 THEN 'rare' END),
      'd', 's', 1
    FROM generate_series(1, 10000) n`);
  await stores.tamper('ANALYZE receipts');
  const plan = await stores.db.$queryRaw<{ 'QUERY PLAN': string }[]>`
    EXPLAIN (ANALYZE) SELECT r.id FROM receipts r WHERE r.account_id = 'acct_many' AND r.body ->> 'project' = 'rare'
    ORDER BY r.created_at DESC, r.id DESC LIMIT 51`;
  const text = plan.map((line) => line['QUERY PLAN']).join('\n');
  expect(text).not.toContain('Rows Removed by Filter');
  const [size] = await stores.db.$queryRaw<{ rows: number }[]>`
    SELECT sum(c.reltuples)::float8 AS rows FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid
    WHERE c.relkind = 'i' AND i.indrelid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = 'receipts'::regclass)
      AND pg_get_expr(i.indpred, i.indrelid) LIKE '%project%'`;
  expect(size?.rows).toBe(10);
});
