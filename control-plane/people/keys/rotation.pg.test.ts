/** How many successors a key may have, on each of the three ways. */
import { hourMs } from '@gw/contract/internal/durations';
import { issuedKeySchema } from '@gw/contract/keys';
import { seedOperators, withToken } from '@gw/testing/control-plane/access';
import { openAccounts } from '@gw/testing/control-plane/account';
import { startTestApp } from '@gw/testing/control-plane/app';
import { forFile } from '@gw/testing/for-file';
import { beforeAll, expect, test } from 'vitest';
import { hashToken } from '../access/token-hash.ts';

let nowMs = Date.now();
const running = forFile(() => startTestApp(() => new Date(nowMs)));
const newAccount = openAccounts(running);
let operator: ReturnType<typeof withToken>;
beforeAll(async () => {
  operator = withToken(running.operator, (await seedOperators(running.stores)).admin);
});

const ids = (accountId: string, predecessor: string) =>
  running.stores.db.apiKey.findMany({ where: { accountId, predecessor }, select: { publicId: true } });

async function organisationAdmin(accountId: string) {
  const [subjectId, token] = [`orgadm_${accountId}`, `session-of-${accountId}`.padEnd(43, 'x')];
  const { db } = running.stores;
  await db.organisationAdmin.create({
    data: { id: subjectId, accountId, name: 'Grace', email: `${accountId}@customer.example` },
  });
  const at = new Date(nowMs);
  const times = { createdAt: at, lastSeenAt: at, expiresAt: new Date(nowMs + hourMs) };
  await db.session.create({
    data: { tokenHash: hashToken(token), subjectKind: 'organisation_admin', subjectId, ...times },
  });
  return (url: string) =>
    running.operator.inject({
      method: 'POST',
      url,
      headers: { cookie: `gw_session=${token}`, 'x-gw-csrf': '1' },
    });
}

test('of six rotations of one key at once one wins on each of the three ways, and the others name its successor', async () => {
  const { ask, id, issue } = await newAccount();
  const asAdmin = await organisationAdmin(id);
  const ways: Record<string, (key: string) => Promise<{ status: number; body: ReturnType<typeof JSON.parse> }>> = {
    key_has_successor: (key) => ask('POST', `/v1/keys/${key}/rotate`),
    'invalid_transition of an organisation': async (key) => {
      const reply = await asAdmin(`/organisation/v1/keys/${key}/rotate`);
      return { status: reply.statusCode, body: reply.json() };
    },
    'invalid_transition of an operator': async (key) => {
      const reply = await operator('POST', `/operator/v1/accounts/${id}/keys/${key}/rotate`);
      return { status: reply.statusCode, body: reply.json() };
    },
  };
  for (const [name, rotate] of Object.entries(ways)) {
    const key = await issue();
    const replies = await Promise.all(Array.from({ length: 6 }, () => rotate(key.id)));
    expect(replies.map(({ status }) => status).sort(), name).toEqual([200, 409, 409, 409, 409, 409]);
    const [made] = await ids(id, key.id);
    expect(await ids(id, key.id), name).toHaveLength(1);
    for (const { body, status } of replies.filter((reply) => reply.status !== 200)) {
      expect([status, body.error.code, body.error.param]).toEqual([409, name.split(' ', 1)[0], 'key_id']);
      expect(body.error.message, name).toContain(made?.publicId);
    }
  }
});

test('a key whose successor was lost can be rotated again once that one is revoked or has expired', async () => {
  const { ask, issue, refusal } = await newAccount();
  const key = await issue();
  const rotate = (id: string, body?: object) => ask('POST', `/v1/keys/${id}/rotate`, body);
  const lost = issuedKeySchema.parse((await rotate(key.id)).body);
  expect((await rotate(key.id)).headers['x-should-retry']).toBe('false');
  await ask('POST', `/v1/keys/${lost.id}/revoke`);
  const brief = { expires_at: new Date(nowMs + 1000).toISOString() };
  const second = issuedKeySchema.parse((await rotate(key.id, brief)).body);
  expect(await refusal('POST', `/v1/keys/${key.id}/rotate`)).toEqual([409, 'key_has_successor', 'key_id']);
  // The successor itself has none yet.
  expect((await rotate(second.id)).status).toBe(200);
  nowMs += 1000;
  expect((await rotate(key.id)).status).toBe(200);
});

test('a successor that is restored beside a newer one stays: whoever restores has named it', async () => {
  const { ask, issue, refusal } = await newAccount();
  const key = await issue();
  const first = issuedKeySchema.parse((await ask('POST', `/v1/keys/${key.id}/rotate`)).body);
  await ask('POST', `/v1/keys/${first.id}/revoke`);
  const second = issuedKeySchema.parse((await ask('POST', `/v1/keys/${key.id}/rotate`)).body);
  expect((await ask('POST', `/v1/keys/${first.id}/restore`)).body).toMatchObject({ state: 'active' });
  await ask('POST', `/v1/keys/${second.id}/revoke`);
  expect(await refusal('POST', `/v1/keys/${key.id}/rotate`)).toEqual([409, 'key_has_successor', 'key_id']);
});
