/** A database whose roles are in another time zone, written to by sessions that do not ask for UTC, as those of the gateway do. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runAdmin } from '@gw/cli/internals/commands/admin';
import { findTarget, openOperatorApi } from '@gw/cli/internals/commands/admin/api';
import type { Database } from '@gw/prisma/client';
import { PrismaClient } from '@gw/prisma/internals/generated/client';
import { byControlPlaneRole, type ControlPlaneRole, roleName } from '@gw/prisma/roles';
import { seedOperators, withToken } from '@gw/testing/control-plane/access';
import { startTestApp, type TestApp } from '@gw/testing/control-plane/app';
import { entryOf } from '@gw/testing/control-plane/fixtures';
import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { nameOf, witnessedTimes } from './witnessed-times.ts';

const account = 'acct_zones';
const dir = mkdtempSync(join(tmpdir(), 'gw-doctor-'));
const sql = join(dir, 'mend.sql');
let right: TestApp;
let wrong: TestApp;
let token: string;
let owner: pg.Client;
const clients: Database[] = [];

/** A client that takes the time zone of its role. */
function inZoneOfRole(role: ControlPlaneRole): Database {
  const pool = new pg.Pool({ connectionString: right.stores.postgres.as(role), max: 4 });
  const client = new PrismaClient({ adapter: new PrismaPg(pool, { disposeExternalPool: true }) });
  clients.push(client);
  return client;
}

beforeAll(async () => {
  right = await startTestApp();
  token = (await seedOperators(right.context)).admin;
  await right.stores.db.account.create({
    data: { id: account, name: 'Test', tier: 'enterprise', limitPerS: 10, limitBurst: 10, limitPerDay: 100 },
  });
  owner = new pg.Client({ connectionString: right.stores.postgres.url });
  await owner.connect();
  const { rows } = await owner.query<{ name: string }>('SELECT current_database() AS name');
  for (const role of ['people', 'customers', 'catalogue', 'ledger'] as const)
    await owner.query(`ALTER ROLE ${roleName(role)} IN DATABASE ${rows[0]?.name} SET timezone = 'Asia/Kolkata'`);
  wrong = await startTestApp(undefined, {
    ...right.stores,
    databases: { ...byControlPlaneRole(inZoneOfRole), reader: right.stores.databases.reader },
    stop: async () => undefined,
  });
}, 120_000);
afterAll(async () => {
  await wrong?.stop();
  await owner?.end();
  await Promise.all(clients.map((client) => client.$disconnect()));
  await right?.stop();
  rmSync(dir, { recursive: true });
});

async function doctor(...more: readonly string[]): Promise<{ code: number; text: string }> {
  let text = '';
  const environment = { GW_CONTROL_URL: right.operatorUrl, GW_OPERATOR_TOKEN: token };
  const code = await runAdmin(['doctor', ...more], {
    openApi: () => openOperatorApi(findTarget(environment, null)),
    print: (part) => {
      text += part;
    },
    tell: () => {},
  });
  return { code, text };
}

interface CheckedTime {
  readonly table: string;
  readonly column: string;
  readonly rows: number;
  readonly wrong: readonly { readonly id: string; readonly stored: string; readonly witnessed: string }[];
}
const found = async (): Promise<readonly CheckedTime[]> => JSON.parse((await doctor('--json')).text);

/** One row of each kind that has a time, or two; returns the ids of those whose times are witnessed. */
async function makeRows(app: TestApp, hour: string): Promise<{ key: string; successor: string; token: string }> {
  const ask = withToken(app.operator, token);
  const done = async (...call: Parameters<typeof ask>) => {
    const reply = await ask(...call);
    expect(reply.statusCode, reply.body).toBeLessThan(300);
    return reply.json();
  };
  const keys = `/operator/v1/accounts/${account}/keys`;
  const expiry = { expires_at: `2031-01-01T${hour}:00:00.000Z` };
  const key = await done('POST', keys, { name: 'one', ...expiry });
  const successor = await done('POST', `${keys}/${key.id}/rotate`, expiry);
  await done('POST', `${keys}/${key.id}/revoke`);
  const made = await done('POST', '/operator/v1/operators/op_admin/tokens', { name: `of ${hour}` });
  await done('PUT', '/operator/v1/credentials/ACME', { value: 'a-credential', base_url: 'https://llm.example' });
  await done('POST', `/operator/v1/accounts/${account}/budgets`, {
    scope: 'project',
    name: hour,
    unit: 'tokens',
    amount: 9,
    kind: 'soft',
  });
  const hold = await done('POST', '/operator/v1/legal-holds', { account: null, reason: 'a test' });
  await done('POST', `/operator/v1/legal-holds/${hold.id}/lift`, { reason: 'a test' });
  return { key: key.id, successor: successor.id, token: made.id };
}

test('rows that were written by roles in another time zone are found, and no others', async () => {
  const first = await makeRows(right, '10');
  await right.store(entryOf(), entryOf());
  const none = await doctor();
  expect(none.text).toContain('No time was written in another time zone.');
  expect(none.code).toBe(0);

  const late = await makeRows(wrong, '11');
  // The ledger has always stored times with their offsets, so a wrong one is put there.
  const entry = entryOf();
  await right.store(entry);
  await right.stores.tamper(
    `UPDATE receipts SET created_at = created_at - interval '5 hours 30 minutes' WHERE id = '${entry.receipt.id}'`,
  );
  const times = await found();
  const byName = Object.fromEntries(times.map((time) => [`${time.table}.${time.column}`, time]));
  expect(Object.keys(byName)).toEqual(witnessedTimes.map(nameOf));
  const ids = (name: string) => byName[name]?.wrong.map(({ id }) => id);
  expect(ids('api_keys.expires_at')?.sort()).toEqual([late.key, late.successor].sort());
  expect(ids('api_keys.created_at')?.sort()).toEqual([late.key, late.successor].sort());
  expect(byName['api_keys.expires_at']?.rows).toBe(4);
  expect(ids('api_keys.revoked_at')).toEqual([late.key]);
  expect(ids('operator_tokens.expires_at')).toEqual([late.token]);
  expect(ids('provider_credentials.set_at')).toEqual(['ACME']);
  expect(ids('receipts.created_at')).toEqual([entry.receipt.id]);
  expect(byName['receipts.created_at']?.rows).toBe(3);
  expect(ids('legal_holds.lifted_at')).toHaveLength(1);
  const counts = times.flatMap(({ wrong: rows }) => rows.length).reduce((sum, each) => sum + each, 0);
  expect(counts).toBe(12);
  expect(JSON.stringify(times)).not.toContain(first.key);
  expect(byName['api_keys.expires_at']?.wrong[0]).toMatchObject({
    stored: '2031-01-01T05:30:00.000Z',
    witnessed: '2031-01-01T11:00:00.000Z',
  });

  const { code, text } = await doctor('--sql', sql);
  expect(code).toBe(1);
  expect(text).toMatch(/^api_keys\.expires_at +4 +2$/m);
  expect(text).toMatch(new RegExp(`^${late.key} +2031-01-01T05:30:00.000Z +2031-01-01T11:00:00.000Z +-5.5$`, 'm'));
  expect(text).toContain(`12 times are wrong. Run the statements in ${sql}`);
  await owner.query(`BEGIN; ${readFileSync(sql, 'utf8')}; COMMIT`);
  expect((await doctor()).code).toBe(0);
  const verified = await withToken(right.operator, token)('GET', `/operator/v1/receipts/verify`);
  expect(verified.json()).toMatchObject({ checked: 3, data: [] });
});
