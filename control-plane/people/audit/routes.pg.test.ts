import { auditListSchema } from '@gw/contract/audit';
import { type Actor, type AuditEntry, ChainCheck } from '@gw/contract/internal/audit-chain';
import { seedOperators } from '@gw/testing/control-plane/access';
import { startTestApp } from '@gw/testing/control-plane/app';
import { forgeAudit } from '@gw/testing/control-plane/forge-audit';
import { forFile } from '@gw/testing/for-file';
import { expect, test } from 'vitest';
import { appendAudit } from './append.ts';

const running = forFile(startTestApp);

const ada: Actor = { kind: 'operator', id: 'op_1', name: 'Ada' };
const key: Actor = { kind: 'api_key', id: 'abc', name: 'deploy' };
const before = { what: 'it was' };
const day = (n: number) => new Date(Date.UTC(2026, 0, n));

const append = (accountId: string | null, at: Date, action: string, actor = ada) =>
  running.stores.db.$transaction((tx) =>
    appendAudit(tx, at, {
      accountId,
      actor,
      action,
      target: 'key:x',
      requestId: 'r',
      before,
      after: { what: 'it became' },
    }),
  );

async function read(account: string, query = '') {
  const reply = await running.get(`/v1/audit-log${query}`, { 'x-gw-account-id': account });
  return { status: reply.statusCode, body: reply.json() };
}

test('a customer reads their own log, newest first, page by page and filtered, and no line of another', async () => {
  await append('acct_a', day(1), 'key.created');
  await append('acct_a', day(2), 'key.revoked', key);
  await append('acct_a', day(3), 'key.restored');
  await append('acct_b', day(3), 'key.created');
  await append(null, day(3), 'operator.created');
  const actions = async (query: string) =>
    auditListSchema.parse((await read('acct_a', query)).body).data.map(({ action }) => action);
  expect(await actions('')).toEqual(['key.restored', 'key.revoked', 'key.created']);
  expect(await actions('?order=asc&limit=2')).toEqual(['key.created', 'key.revoked']);
  const page = auditListSchema.parse((await read('acct_a', '?limit=2')).body);
  expect(page).toMatchObject({ has_more: true, first_id: 'audit_3', last_id: 'audit_2' });
  expect(await actions(`?after=${page.last_id}`)).toEqual(['key.created']);
  expect(await actions('?from=2026-01-02&to=2026-01-03')).toEqual(['key.revoked']);
  expect(await actions('?actor=abc')).toEqual(['key.revoked']);
  expect(await actions('?action=key.created')).toEqual(['key.created']);
  expect(await actions('?action=%27%20OR%201=1--')).toEqual([]);
  for (const [query, code] of [
    ['?limit=101', 'invalid_limit'],
    ['?after=3', 'invalid_after'],
    ['?from=yesterday', 'invalid_from'],
    ['?actor=%00', 'invalid_actor'],
  ])
    expect(await read('acct_a', query)).toMatchObject({ status: 400, body: { error: { code } } });
});

test('a customer can verify their own chain with what is shown of it', async () => {
  for (const action of ['application.created', 'key.created', 'session.started'])
    await append('acct_c', day(1), action);
  const { data } = auditListSchema.parse((await read('acct_c', '?order=asc')).body);
  expect(data[1]).toMatchObject({ actor: ada, before, after: { what: 'it became' }, prev_hash: data[0]?.hash });
  const check = new ChainCheck();
  for (const { id: _id, object: _object, ...entry } of data) check.next({ ...entry, chain: 'acct_c' } as AuditEntry);
  const last = data.at(-1);
  expect(check.end({ seq: 3, hash: last?.hash ?? '' })).toEqual([]);
});

test('an entry that was forged or altered is not shown, but named in its place; operators see it with what is wrong', async () => {
  const { operator, stores, context } = running;
  await append('acct_d', day(1), 'key.created');
  await forgeAudit(stores.db, 'acct_d');
  await append('acct_d', day(2), 'key.revoked');
  await append('acct_d', day(3), 'key.restored');
  await stores.tamper(`UPDATE audit SET action = 'key.kept' WHERE chain = 'acct_d' AND seq = 3`);
  const all = auditListSchema.parse((await read('acct_d')).body);
  expect(all.data.map(({ action }) => action)).toEqual(['key.restored', 'key.created']);
  expect(all.altered).toEqual([{ id: 'audit_3' }, { id: 'audit_2' }]);
  const page = auditListSchema.parse((await read('acct_d', '?order=asc&limit=1&after=audit_1')).body);
  expect(page).toMatchObject({ data: [], altered: [{ id: 'audit_2' }], has_more: true, last_id: 'audit_2' });
  expect((await read('acct_a')).body.altered).toBeUndefined();

  const { viewer } = await seedOperators(context);
  const headers = { authorization: `Bearer ${viewer}` };
  const reply = await operator.inject({ url: '/operator/v1/audit?chain=acct_d&order=asc', headers });
  expect(reply.json().data.map(({ fault }: { fault: string }) => fault)).toEqual([null, 'forged', 'altered', null]);
});
