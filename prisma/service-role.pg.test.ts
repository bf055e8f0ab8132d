import { forFile } from '@gw/testing/for-file';
import { startTestPostgres } from '@gw/testing/prisma/postgres';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { openDatabase } from './client.ts';
import { ensurePartitions } from './partitions.ts';
import { grantServiceRights, scramOf, serviceRights } from './service-role.ts';

const postgres = forFile(startTestPostgres);
let owner: pg.Client;
let service: pg.Client;

const connect = async (connectionString: string): Promise<pg.Client> => {
  const client = new pg.Client({ connectionString });
  await client.connect();
  return client;
};

const zeros = '0'.repeat(64);
const append = (client: pg.Client, chain: string, seq: number, previous: string, hash: string) =>
  client.query(
    `INSERT INTO audit (chain, account_id, seq, at, actor_kind, actor_id, action, target, prev_hash, hash, seal, seal_key)
     VALUES ($1, $1, $2, now(), 'operator', 'o', 'x', 'y', $3, $4, $4, 1)`,
    [chain, seq, previous, hash],
  );

beforeAll(async () => {
  await postgres.migrate();
  owner = await connect(postgres.url);
  service = await connect(postgres.serviceUrl);
  await append(service, 'acct_h', 1, zeros, 'a'.repeat(64));
  await service.query(
    `INSERT INTO onboarding_steps (account_id, step, action, "to", actor_kind, actor_id, at, input, outcome)
     VALUES ('acct_h', 1, 'a', 'account_created', 'operator', 'o', now(), '{}', '{}')`,
  );
});
afterAll(async () => {
  await service?.end();
  await owner?.end();
});
afterEach(() => service.query('ROLLBACK'));

const changes = ['audit', 'onboarding_steps', 'audit_heads', 'key_generation', 'key_changes'].flatMap((table) => [
  `DELETE FROM ${table}`,
  `TRUNCATE ${table}`,
]);

/** As the catalogue of Postgres knows them; `granted` as a table, or as some of its columns. */
const rightsOfServices = async (): Promise<{ table: string; part: boolean; granted: string[] }[]> => {
  const { rows } = await owner.query(
    `SELECT c.relname AS table, c.relispartition AS part, array_remove(ARRAY[
       CASE WHEN has_table_privilege($1, c.oid, 'SELECT') THEN 'SELECT' END,
       CASE WHEN has_any_column_privilege($1, c.oid, 'INSERT') THEN 'INSERT' END,
       CASE WHEN has_any_column_privilege($1, c.oid, 'UPDATE') THEN 'UPDATE' END,
       CASE WHEN has_table_privilege($1, c.oid, 'DELETE') THEN 'DELETE' END,
       CASE WHEN has_table_privilege($1, c.oid, 'TRUNCATE') THEN 'TRUNCATE' END,
       CASE WHEN has_table_privilege($1, c.oid, 'TRIGGER') THEN 'TRIGGER' END], NULL) AS granted
     FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') ORDER BY 1`,
    ['gw_service'],
  );
  return rows;
};

/** Nothing in them is ever changed or taken out: by the rights of the services, and by triggers for everybody else. */
const growing = [
  'audit',
  'facts_parts',
  'grid_readings',
  'onboarding_steps',
  'policy_versions',
  'receipt_replacements',
  'receipts',
];

describe('the tables', () => {
  test('are each classified, and nobody but the owner has more than the class says', async () => {
    for (const { granted, part, table } of await rightsOfServices()) {
      const expected = part ? ['SELECT'] : serviceRights[table];
      expect(expected, `${table} has to be classified in service-role.ts`).toBeDefined();
      expect(granted, table).toEqual(
        ['SELECT', 'INSERT', 'UPDATE', 'DELETE'].filter((right) =>
          expected?.some((granted) => granted.startsWith(right)),
        ),
      );
    }
    expect(
      Object.keys(serviceRights)
        .filter((table) => growing.includes(table))
        .sort(),
    ).toEqual(growing);
  });

  test('that only grow refuse every change as the services, and as the owner', async () => {
    const parts = (await rightsOfServices()).filter(({ part }) => part).map(({ table }) => table);
    expect(parts).toContain('receipts_default');
    const columns = await owner.query<{ table: string; column: string }>(
      `SELECT table_name AS table, column_name AS column FROM information_schema.columns WHERE table_schema = 'public'`,
    );
    for (const table of [...growing, ...parts]) {
      const updates = columns.rows.filter((row) => row.table === table);
      expect(updates.length).toBeGreaterThan(0);
      for (const { column } of updates)
        await expect(service.query(`UPDATE ${table} SET "${column}" = DEFAULT`), `${table}.${column}`).rejects.toThrow(
          'permission denied',
        );
      for (const statement of [`DELETE FROM ${table}`, `TRUNCATE ${table}`]) {
        await expect(service.query(statement), statement).rejects.toThrow('permission denied');
      }
      await expect(owner.query(`TRUNCATE ${table}`), table).rejects.toThrow('append-only');
    }
    const { rows } = await owner.query<{ name: string }>(
      `SELECT DISTINCT tgrelid::regclass::text AS name FROM pg_trigger
       WHERE tgname LIKE '%_unchanged' AND tgenabled = 'O' AND tgtype & 27 = 27`,
    );
    expect(rows.map(({ name }) => name)).toEqual(expect.arrayContaining([...growing, ...parts]));
  });
});

describe('the role that the services connect as', () => {
  test.each([
    ...changes,
    "UPDATE audit SET action = 'z'",
    "UPDATE onboarding_steps SET outcome = '{}'",
    'UPDATE audit_heads SET seq = 0',
    `INSERT INTO audit_heads VALUES ('acct_other', 1, '${zeros}')`,
    'UPDATE key_generation SET generation = 0',
    "SELECT note_key_changes('{x}', '{}')",
    'SELECT * FROM _prisma_migrations',
    'SET session_replication_role = replica',
    'ALTER TABLE audit DISABLE TRIGGER ALL',
    'CREATE TABLE public.own (n int)',
  ])('may not: %s', async (statement) => {
    await expect(service.query(statement)).rejects.toThrow(/permission denied|must be owner/);
  });

  test('cannot give itself more', async () => {
    // Postgres only warns whoever has nothing to give.
    await service.query('GRANT UPDATE, DELETE, TRUNCATE ON audit, audit_heads, onboarding_steps TO gw_service');
    await expect(service.query("UPDATE audit SET action = 'z'")).rejects.toThrow('permission denied');
  });

  test('cannot move a head by the function of the trigger on a table of its own', async () => {
    await service.query('CREATE TEMPORARY TABLE mine (chain TEXT, seq BIGINT, prev_hash TEXT, hash TEXT)');
    await expect(
      service.query(
        'CREATE TRIGGER mine BEFORE INSERT ON mine FOR EACH ROW EXECUTE FUNCTION public.link_audit_entry()',
      ),
    ).rejects.toThrow('permission denied');
  });

  test('makes the partitions of the ledger, which it does not own, and stores receipts there', async () => {
    const db = openDatabase(postgres.serviceUrl, { connections: 1 });
    expect(await ensurePartitions(db, new Date('2051-01-01T00:00:00Z'), 1)).toBe(1);
    await db.$disconnect();
    await service.query(
      `INSERT INTO receipts (id, version, created_at, account_id, key_id, endpoint, model, tier, status, body,
         content_sha256, seal, seal_key)
       VALUES ('r', 1, '2051-01-15', 'a', 'k', '/v1/embeddings', 'm', 'proxy', 'complete', '{}', 'd', 's', 1)`,
    );
    const { rows } = await service.query("SELECT tableoid::regclass::text AS name FROM receipts WHERE id = 'r'");
    expect(rows).toEqual([{ name: 'receipts_2051_01' }]);
  });

  test('is refused its rights where it is the owner or stands above the tables', async () => {
    const grant = (name: string) => grantServiceRights(postgres.url, { name, password: null }, () => {});
    await expect(grant('gw')).rejects.toThrow('The role gw owns the tables');
    await owner.query('CREATE ROLE over_all SUPERUSER; CREATE ROLE member; GRANT gw TO member');
    await expect(grant('over_all')).rejects.toThrow('The role over_all');
    await expect(grant('member')).rejects.toThrow('The role member');
  });

  test.each([
    ['another role', 'CREATE ROLE inherits; GRANT pg_write_all_data TO inherits', 'DROP ROLE inherits'],
    [
      'everybody',
      'CREATE ROLE inherits; GRANT UPDATE ON audit_heads TO PUBLIC',
      'REVOKE UPDATE ON audit_heads FROM PUBLIC; DROP ROLE inherits',
    ],
  ])('is refused its rights where it has more by %s', async (_, before, after) => {
    await owner.query(before);
    await expect(grantServiceRights(postgres.url, { name: 'inherits', password: null }, () => {})).rejects.toThrow(
      'The role inherits may do more with the table',
    );
    await owner.query(after);
  });

  test('makes temporary tables, also where nobody could', async () => {
    await owner.query('REVOKE TEMPORARY ON DATABASE gw FROM PUBLIC');
    const make = () => service.query('CREATE TEMPORARY TABLE own (n int)');
    await expect(make()).rejects.toThrow('permission denied');
    await grantServiceRights(postgres.url, { name: 'gw_service', password: null }, () => {});
    await make();
    await owner.query('GRANT TEMPORARY ON DATABASE gw TO PUBLIC');
  });

  test('makes nothing where everybody could', async () => {
    await owner.query('GRANT CREATE ON SCHEMA public TO PUBLIC');
    await grantServiceRights(postgres.url, { name: 'gw_service', password: null }, () => {});
    await expect(service.query('CREATE TABLE public.own (n int)')).rejects.toThrow('permission denied');
  });

  test('has a password that Postgres takes for the same as if it had hashed it itself', async () => {
    const password = 'a-password-of-32-characters-_____';
    const stored = async (): Promise<string> =>
      (await owner.query("SELECT rolpassword FROM pg_authid WHERE rolname = 'with_password'")).rows[0].rolpassword;
    await grantServiceRights(postgres.url, { name: 'with_password', password }, () => {});
    expect(await stored()).toMatch(/^SCRAM-SHA-256\$4096:/);
    await owner.query(`ALTER ROLE with_password PASSWORD '${password}'`);
    const byPostgres = await stored();
    const salt = Buffer.from(/:(.+?)\$/.exec(byPostgres)?.[1] ?? '', 'base64');
    expect(scramOf(password, salt)).toBe(byPostgres);
  });
});

test('not even the owner moves a head without an entry, or empties what may only grow', async () => {
  for (const statement of [
    'DELETE FROM audit_heads',
    'UPDATE audit_heads SET seq = 0',
    `INSERT INTO audit_heads VALUES ('acct_other', 1, '${zeros}')`,
    'TRUNCATE audit_heads',
  ])
    await expect(owner.query(statement), statement).rejects.toThrow('moves with an audit entry alone');
  await expect(owner.query('TRUNCATE onboarding_steps')).rejects.toThrow('append-only');
  await append(owner, 'acct_h', 2, 'a'.repeat(64), 'b'.repeat(64));
});
