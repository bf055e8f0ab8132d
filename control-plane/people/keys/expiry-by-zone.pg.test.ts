/** A key ends at the second that was asked for, in whatever time zone the roles of Postgres are. */
import { issuedKeySchema } from '@gw/contract/keys';
import { databaseRoles, roleName } from '@gw/prisma/roles';
import { seedOperators, withToken } from '@gw/testing/control-plane/access';
import { startTestApp, testPepper } from '@gw/testing/control-plane/app';
import { pepper, startInstance } from '@gw/testing/control-plane/instance';
import { forFile } from '@gw/testing/for-file';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';

const stops: (() => unknown)[] = [];
const running = forFile(startTestApp);
const account = 'acct_zones';
let operator: ReturnType<typeof withToken>;
let owner: pg.Client;
beforeAll(async () => {
  operator = withToken(running.operator, (await seedOperators(running.stores)).admin);
  await running.stores.db.account.create({ data: { id: account, name: 'Test', tier: 'audit_plus' } });
  owner = new pg.Client({ connectionString: running.stores.postgres.url });
  await owner.connect();
  stops.push(() => owner.end());
});
afterAll(async () => {
  for (const stop of stops) await stop();
});

/** New sessions of all roles begin in that zone, and there are no others. */
async function moveTo(zone: string): Promise<void> {
  const { rows } = await owner.query<{ name: string }>('SELECT current_database() AS name');
  for (const role of databaseRoles)
    await owner.query(`ALTER ROLE ${roleName(role)} IN DATABASE ${rows[0]?.name} SET timezone = '${zone}'`);
  await owner.query(
    'SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
  );
}

test.each(['Pacific/Kiritimati', 'Asia/Kolkata', 'Europe/Berlin', 'America/New_York', 'Pacific/Pago_Pago'])(
  'in %s',
  async (zone) => {
    expect(pepper.secret).toEqual(testPepper);
    await moveTo(zone);
    const expiresAt = new Date(Math.ceil(Date.now() / 1000) * 1000 + 7 * 3_600_000).toISOString();
    const asked = () =>
      operator('POST', `/operator/v1/accounts/${account}/keys`, { name: zone, expires_at: expiresAt });
    let reply = await asked();
    // A session that was ended meanwhile fails what comes over it, once.
    for (let again = 0; again < 10 && reply.statusCode >= 500; again++) reply = await asked();
    expect(reply.statusCode, reply.body).toBeLessThan(300);
    const key = issuedKeySchema.parse(reply.json());
    expect(key.expires_at).toBe(expiresAt);
    let now = 0;
    const instance = await startInstance(running.stores, stops, { now: () => now });
    const at = Date.parse(expiresAt);
    const answers: string[] = [];
    for (now of [at - 1000, at - 1, at, at + 1000]) answers.push(await instance.ask(key.key));
    expect(answers).toEqual(['ok', 'ok', 'expired_api_key', 'expired_api_key']);
    const { rows } = await owner.query(
      'SELECT to_char(expires_at AT TIME ZONE \'UTC\', \'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"\') AS at FROM api_keys WHERE public_id = $1',
      [key.id],
    );
    expect(rows).toEqual([{ at: expiresAt }]);
  },
);
