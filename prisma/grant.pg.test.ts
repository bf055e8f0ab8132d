import { forFile } from '@gw/testing/for-file';
import { startTestPostgres } from '@gw/testing/prisma/postgres';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { openDatabase } from './client.ts';
import { grantRoles, scramOf } from './grant.ts';
import { ensurePartitions } from './partitions.ts';
import {
  type DatabaseRole,
  databaseRoles,
  functionRights,
  makesTemporaryTables,
  partitionRights,
  roleName,
  tableRights,
} from './roles.ts';

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

const quiet = () => {};
const grant = (prefix: string, passwords = {}) => grantRoles(postgres.url, { prefix, passwords }, quiet);

/** Each right to a table, or to one of its columns, as the catalogue of Postgres has it. */
async function rightsInDatabase(role: DatabaseRole): Promise<Map<string, string[]>> {
  const { rows } = await owner.query<{ table: string; right: string }>(
    `SELECT c.relname AS table, g.privilege_type AS right
     FROM pg_class c, aclexplode(c.relacl) g
     WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND g.grantee = $1::regrole
     UNION ALL SELECT c.relname, g.privilege_type || ' (' || string_agg(a.attname, ', ' ORDER BY a.attname) || ')'
     FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid, aclexplode(a.attacl) g
     WHERE c.relnamespace = 'public'::regnamespace AND g.grantee = $1::regrole GROUP BY c.relname, g.privilege_type`,
    [roleName(role)],
  );
  const found = new Map<string, string[]>();
  for (const { right, table } of rows) found.set(table, [...(found.get(table) ?? []), right].sort());
  return found;
}

const inOrder = (right: string): string =>
  right.replace(/\((.*)\)/, (_, names: string) => `(${names.split(', ').sort().join(', ')})`);

/** The services have no right to change or remove a row of these tables, and triggers keep everybody else from it. */
const growing = [
  'audit',
  'facts_parts',
  'grid_readings',
  'onboarding_steps',
  'policy_versions',
  'receipt_replacements',
  'receipts',
];

test('the database gives each role what the table of rights says, and nothing else', async () => {
  const { rows: tables } = await owner.query<{ name: string; part: boolean }>(
    `SELECT relname AS name, relispartition AS part FROM pg_class
     WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'f')`,
  );
  const unknown = tables.filter(({ name, part }) => !part && !(name in tableRights)).map(({ name }) => name);
  expect(unknown, 'each table has to be entered in prisma/roles.ts').toEqual([]);
  for (const role of databaseRoles) {
    const has = await rightsInDatabase(role);
    for (const { name, part } of tables) {
      const rights = (part ? partitionRights : (tableRights[name] ?? {}))[role] ?? [];
      expect(has.get(name) ?? [], `${role}: ${name}`).toEqual(rights.map(inOrder).sort());
    }
  }
  expect(Object.keys(tableRights).filter((table) => !tables.some(({ name }) => name === table))).toEqual([]);
});

test('each function that runs as the owner is called by the roles that the table says, or by triggers alone', async () => {
  const { rows } = await owner.query<{ name: string; role: string; may: boolean }>(
    `SELECT p.oid::regprocedure::text AS name, r.name AS role, has_function_privilege(r.name, p.oid, 'EXECUTE') AS may
     FROM pg_proc p, unnest($1::text[]) r (name) WHERE p.pronamespace = 'public'::regnamespace AND p.prosecdef
       AND p.prorettype <> 'trigger'::regtype`,
    [databaseRoles.map((role) => roleName(role))],
  );
  expect([...new Set(rows.map(({ name }) => name))].sort()).toEqual(Object.keys(functionRights).sort());
  for (const { may, name, role } of rows)
    expect(may, `${role}: ${name}`).toBe(functionRights[name]?.some((each) => roleName(each) === role));
});

describe('the tables', () => {
  test('that only grow refuse every change as the services, and as the owner', async () => {
    const { rows: partitions } = await owner.query<{ table: string }>(
      'SELECT relname AS table FROM pg_class WHERE relispartition AND relkind = $1',
      ['r'],
    );
    const parts = partitions.map(({ table }) => table);
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

/** Each is the work of some roles, and an attack by any other. They fail for another reason where the right is there. */
const attacks: readonly [what: string, statement: string, whose: readonly DatabaseRole[]][] = [
  [
    'make oneself an operator’s token',
    `INSERT INTO operator_tokens (id, operator_id, name, token_hash, created_at)
     VALUES ('optk_x', 'op_first', 'x', sha256('x'), now())`,
    ['people'],
  ],
  [
    'make an operator',
    `INSERT INTO operators (id, name, email, role) VALUES ('op_x', 'X', 'x@x.example', 'admin')`,
    ['people'],
  ],
  ['raise an operator', `UPDATE operators SET role = 'admin'`, ['people']],
  ['let in a session', `UPDATE sessions SET expires_at = 'infinity'`, ['people']],
  ['take away a second factor', 'DELETE FROM second_factors', ['people']],
  ['read the hashes of tokens', 'SELECT token_hash FROM operator_tokens', ['people']],
  ['read the hashes of credentials', 'SELECT credential_hash FROM organisation_admins', ['people']],
  [
    'write an audit entry',
    `INSERT INTO audit (chain, account_id, seq, at, actor_kind, actor_id, action, target, prev_hash, hash)
     VALUES ('acct_x', 'acct_x', 7, now(), 'operator', 'op_first', 'account.suspended', 'x', '${zeros}', '${zeros}')`,
    ['people', 'customers', 'catalogue', 'ledger'],
  ],
  [
    'store a receipt',
    `INSERT INTO receipts (id, version, created_at, account_id, key_id, endpoint, model, tier, status, body,
       content_sha256, seal, seal_key)
     VALUES ('r', 1, '2051-01-15', 'a', 'k', '/v1/embeddings', 'm', 'proxy', 'complete', '{}', 'd', 's', 1)`,
    ['ledger'],
  ],
  ['restore a receipt', `SELECT restore_receipt(0, 'd')`, ['ledger']],
  ['set the log aside', `SELECT set_aside_receipt_log('a', 0)`, ['ledger']],
  ['settle a receipt', `SELECT * FROM settle_receipts('[]')`, ['ledger']],
  [
    'plant a row of the log',
    `INSERT INTO receipt_log (account_id, index, receipt_id, version, created_at, leaf_hash, content_sha256)
     VALUES ('a', 0, 'r', 1, now(), sha256('x'), 'd')`,
    ['ledger'],
  ],
  ['plant a checkpoint', `INSERT INTO receipt_log_checkpoints VALUES ('a', 1, '{}')`, ['ledger']],
  ['hide a finding', 'UPDATE integrity_faults SET mended_at = now()', ['ledger']],
  ['erase somebody', 'UPDATE subject_keys SET wrapped = NULL, key_id = NULL, erased_at = now()', ['people']],
  ['lift a legal hold', `UPDATE legal_holds SET lifted_at = now()`, ['ledger']],
  ['shorten what is kept', `INSERT INTO retention_policies VALUES ('receipts', '', 2)`, ['ledger']],
  ['stop the checks', `UPDATE integrity_checks SET claimed_until = '2099-01-01'`, ['ledger']],
  ['change what was used', 'DELETE FROM usage_hours', ['ledger']],
  [
    'issue a key',
    `INSERT INTO api_keys (public_id, account_id, name, hash, scopes) VALUES ('x', 'acct_h', 'x', sha256('x'), '{}')`,
    ['customers'],
  ],
  ['bring a key back', 'UPDATE api_keys SET revoked_at = NULL', ['customers']],
  ['reinstate an account', `UPDATE accounts SET state = 'active'`, ['customers']],
  ['raise a budget', 'UPDATE budgets SET amount = 1e9', ['customers']],
  ['screen an applicant', `UPDATE onboarding SET state = 'complete'`, ['customers']],
  ['read a provider’s credential', 'SELECT sealed FROM provider_credentials', ['catalogue']],
  ['lead calls elsewhere', `UPDATE providers SET base_url = 'https://evil.example'`, ['catalogue']],
  ['replace the rules of screening', `INSERT INTO policy_versions VALUES (9, '[]', 'x', 'x')`, ['catalogue']],
];

describe.each(databaseRoles)('as %s', (role) => {
  let client: pg.Client;
  beforeAll(async () => {
    client = await connect(postgres.as(role));
  });
  afterAll(() => client?.end());
  afterEach(() => client.query('ROLLBACK'));

  const tried = async (statement: string): Promise<string> => {
    await client.query('BEGIN');
    return client.query(statement).then(
      () => 'done',
      (error: Error) => error.message,
    );
  };

  test.each(attacks)('nobody can %s whose work it is not', async (_, statement, whose) => {
    const denied = expect.stringMatching(/^permission denied for/);
    expect(await tried(statement)).toEqual(whose.includes(role) ? expect.not.stringMatching(/^permission/) : denied);
  });

  test.each([
    'DELETE FROM audit',
    "UPDATE audit SET action = 'z'",
    "UPDATE onboarding_steps SET outcome = '{}'",
    'UPDATE audit_heads SET seq = 0',
    `INSERT INTO audit_heads VALUES ('acct_other', 1, '${zeros}')`,
    'UPDATE key_generation SET generation = 0',
    'DELETE FROM key_changes',
    'UPDATE receipts SET carbon_g = 0',
    'DELETE FROM receipts_default',
    'DELETE FROM integrity_faults',
    "SELECT note_key_changes('{x}', '{}')",
    'SELECT * FROM _prisma_migrations',
    'SET session_replication_role = replica',
    'ALTER TABLE audit DISABLE TRIGGER ALL',
    'CREATE TABLE public.own (n int)',
    'SET ROLE gw',
    ...databaseRoles.filter((other) => other !== role).map((other) => `SET ROLE ${roleName(other)}`),
  ])('nobody may: %s', async (statement) => {
    expect(await tried(statement)).toMatch(/permission denied|must be owner/);
  });

  test('what it may not, it cannot give itself', async () => {
    // Where it has any other right to one of them, Postgres only warns that there is nothing to give.
    await tried(`GRANT UPDATE, DELETE, TRUNCATE ON audit, audit_heads, receipts TO ${roleName(role)}`);
    await client.query('COMMIT');
    expect(await tried("UPDATE audit SET action = 'z'")).toMatch('permission denied');
  });

  test('it cannot move a head by the function of the trigger on a table of its own', async () => {
    await client.query('CREATE TEMPORARY TABLE mine (chain TEXT, seq BIGINT, prev_hash TEXT, hash TEXT)');
    const trigger = 'CREATE TRIGGER mine BEFORE INSERT ON mine FOR EACH ROW EXECUTE FUNCTION public.link_audit_entry()';
    expect(await tried(trigger)).toMatch('permission denied');
  });
});

test('a column of an account that it need not know ext-authz does not read', async () => {
  const client = await connect(postgres.as('ext_authz'));
  await client.query('SELECT tier, state FROM accounts');
  await expect(client.query('SELECT billing_contact FROM accounts')).rejects.toThrow('permission denied');
  await client.end();
});

test('the ledger makes its partitions, which it does not own, and stores receipts there', async () => {
  const db = openDatabase(postgres.as('ledger'), { connections: 1 });
  expect(await ensurePartitions(db, new Date('2051-01-01T00:00:00Z'), 1)).toBe(1);
  const stored = await db.$executeRaw`
    INSERT INTO receipts (id, version, created_at, account_id, key_id, endpoint, model, tier, status, body,
      content_sha256, seal, seal_key)
    VALUES ('r', 1, '2051-01-15', 'a', 'k', '/v1/embeddings', 'm', 'proxy', 'complete', '{}', 'd', 's', 1)`;
  expect(stored).toBe(1);
  await db.$disconnect();
  const { rows } = await owner.query("SELECT tableoid::regclass::text AS name FROM receipts WHERE id = 'r'");
  expect(rows).toEqual([{ name: 'receipts_2051_01' }]);
});

test('the hour of a receipt is the same whatever time zone its role was given', async () => {
  await owner.query(`ALTER ROLE gw_ledger SET timezone = 'America/New_York'`);
  const db = openDatabase(postgres.as('ledger'), { connections: 1 });
  const at = new Date('2026-11-21T12:00:00.000Z');
  const [found] = await db.$queryRaw<{ zone: string; at: Date; text: string }[]>`
    SELECT current_setting('timezone') AS zone, ${at}::timestamptz AS at, ${at}::timestamptz::text AS text`;
  expect(found).toEqual({ zone: 'UTC', at, text: '2026-11-21 12:00:00+00' });
  await db.$disconnect();
  await owner.query('ALTER ROLE gw_ledger RESET timezone');
});

describe('granting', () => {
  test('takes away what a role had beside its rights, and can be done again', async () => {
    await owner.query(
      `GRANT DELETE ON receipts TO gw_reader; GRANT UPDATE (role) ON operators TO gw_reader;
       GRANT EXECUTE ON FUNCTION settle_receipts(json) TO gw_reader`,
    );
    await grant('gw');
    await grant('gw');
    expect((await rightsInDatabase('reader')).get('operators')).toBeUndefined();
    expect((await rightsInDatabase('reader')).get('receipts')).toEqual(['SELECT']);
    const { rows } = await owner.query(
      `SELECT has_function_privilege('gw_reader', 'settle_receipts(json)', 'EXECUTE') AS may`,
    );
    expect(rows).toEqual([{ may: false }]);
  });

  test('is refused for a role that is the owner or stands above the tables', async () => {
    await owner.query(
      `CREATE ROLE above_reader SUPERUSER; CREATE ROLE member_people; GRANT gw TO member_people;
       CREATE ROLE past_ledger BYPASSRLS`,
    );
    for (const [prefix, role] of Object.entries({ above: 'reader', member: 'people', past: 'ledger' }))
      await expect(grant(prefix)).rejects.toThrow(`The role ${prefix}_${role} owns the tables or has rights over`);
    const { rows } = await owner.query("SELECT 1 FROM pg_roles WHERE rolname ~ '^(above|member|past)_ext_authz'");
    expect(rows).toEqual([]);
  });

  test.each([
    ['with what that may', 'GRANT gw_ledger TO joined_reader'],
    ['without, which could become it', 'GRANT gw_ledger TO joined_reader WITH INHERIT FALSE'],
    ['that only reads', 'GRANT pg_read_all_data TO joined_reader WITH INHERIT FALSE'],
    ['that it could join', 'GRANT gw_ledger TO joined_reader WITH INHERIT FALSE, SET FALSE, ADMIN TRUE'],
  ])('is refused for a member of another role, %s', async (_, given) => {
    await owner.query(`CREATE ROLE joined_reader NOINHERIT; ${given}`);
    const refused =
      /^The role joined_reader is a member of (\w+) and could act as it.*run: REVOKE \1 FROM "joined_reader"\.$/;
    await expect(grant('joined')).rejects.toThrow(refused);
    await owner.query('DROP ROLE joined_reader');
  });

  test('is done for a member of a role whose membership gives nothing', async () => {
    await owner.query(
      'CREATE ROLE login_alone; CREATE ROLE named_reader; GRANT login_alone TO named_reader WITH INHERIT FALSE, SET FALSE',
    );
    await grant('named');
  });

  test.each([
    ['a table', 'GRANT UPDATE ON audit_heads TO PUBLIC', 'REVOKE UPDATE ON audit_heads FROM PUBLIC'],
    [
      'a function of another owner',
      `CREATE ROLE another; GRANT CREATE ON SCHEMA public TO another; ALTER FUNCTION settle_receipts(json) OWNER TO another;
       GRANT EXECUTE ON FUNCTION settle_receipts(json) TO PUBLIC`,
      `REVOKE EXECUTE ON FUNCTION settle_receipts(json) FROM PUBLIC; ALTER FUNCTION settle_receipts(json) OWNER TO gw;
       REVOKE CREATE ON SCHEMA public FROM another; DROP ROLE another`,
    ],
  ])('is refused where a role has more as everybody, %s', async (_, before, after) => {
    await owner.query(before);
    await expect(grant('other')).rejects.toThrow(/The role other_\w+ may do more (with the table|by the function)/);
    await owner.query(after);
  });

  test('takes from everybody and from the owner what the migration took, as where a dump was restored without its rights', async () => {
    const { rows: acls } = await owner.query<{ name: string; kind: string }>(
      `SELECT oid::regprocedure::text AS name, 'FUNCTION' AS kind FROM pg_proc
         WHERE pronamespace = 'public'::regnamespace AND prosecdef
       UNION ALL SELECT oid::regclass::text, 'TABLE' FROM pg_class
         WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')`,
    );
    const ofEverybody = 'g.grantee IN (0, current_user::regrole)';
    const rights = `SELECT p.oid::regprocedure::text AS name, g.grantee, g.privilege_type AS right
        FROM pg_proc p, aclexplode(coalesce(proacl, acldefault('f', proowner))) g
        WHERE pronamespace = 'public'::regnamespace AND prosecdef AND ${ofEverybody}
      UNION ALL SELECT c.oid::regclass::text, g.grantee, g.privilege_type
        FROM pg_class c, aclexplode(coalesce(relacl, acldefault('r', relowner))) g
        WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND ${ofEverybody} ORDER BY 1, 2, 3`;
    const before = (await owner.query(rights)).rows;
    for (const { kind, name } of acls)
      await owner.query(
        kind === 'TABLE' ? `GRANT ALL ON ${name} TO CURRENT_USER` : `GRANT EXECUTE ON FUNCTION ${name} TO PUBLIC`,
      );
    expect((await owner.query(rights)).rows).not.toEqual(before);
    await grant('gw');
    expect((await owner.query(rights)).rows).toEqual(before);
  });

  test('lets those make temporary tables who need them, also where nobody could', async () => {
    await owner.query('REVOKE TEMPORARY ON DATABASE gw FROM PUBLIC');
    await grant('gw');
    for (const role of databaseRoles) {
      const client = await connect(postgres.as(role));
      const made = client.query('CREATE TEMPORARY TABLE own (n int)');
      if (makesTemporaryTables.includes(role)) await made;
      else await expect(made).rejects.toThrow('permission denied');
      await client.end();
    }
    await owner.query('GRANT TEMPORARY ON DATABASE gw TO PUBLIC');
  });

  test('lets nobody make tables where everybody could', async () => {
    await owner.query('GRANT CREATE ON SCHEMA public TO PUBLIC');
    await grant('gw');
    await expect(service.query('CREATE TABLE public.own (n int)')).rejects.toThrow('permission denied');
  });

  test('sets a password that Postgres takes for the same as if it had hashed it itself', async () => {
    const password = 'a-password-of-32-characters-_____';
    const stored = async (): Promise<string> =>
      (await owner.query("SELECT rolpassword FROM pg_authid WHERE rolname = 'with_ledger'")).rows[0].rolpassword;
    await grant('with', { ledger: password });
    expect(await stored()).toMatch(/^SCRAM-SHA-256\$4096:/);
    await owner.query(`ALTER ROLE with_ledger PASSWORD '${password}'`);
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
