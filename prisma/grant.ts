/**
 * Makes the roles of `roles.ts` and gives them their rights.
 *
 * Invariant: after it a role has what the table says, and has not kept anything from before. A role that would stand above its rights,
 * as the owner, by another role or because everybody has them, is refused, and nothing is changed.
 */
import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import pg from 'pg';
import { type Log, MigrationError } from './migrate.ts';
import { UtcClient } from './pool.ts';
import {
  type DatabaseRole,
  databaseRoles,
  functionRights,
  makesTemporaryTables,
  partitionRights,
  queryTimeoutMs,
  type Rights,
  roleName,
  statementTimeoutMs,
  tableRights,
} from './roles.ts';

export interface RoleSettings {
  readonly prefix: string;
  /** One without is left as it is, for servers that know their clients by other means. */
  readonly passwords: Readonly<Partial<Record<DatabaseRole, string>>>;
}

/**
 * Makes the roles that are missing, and gives each its rights to what is there now; so it has to follow each migration.
 * `ownerUrl` is that of the role that migrates. Throws MigrationError if a role would stand above its rights.
 */
export async function grantRoles(ownerUrl: string, { passwords, prefix }: RoleSettings, log: Log): Promise<void> {
  const client = new UtcClient({ connectionString: ownerUrl, connectionTimeoutMillis: 10_000 });
  await client.connect();
  try {
    await client.query('BEGIN');
    await client.query("SELECT pg_advisory_xact_lock(hashtext('service_role'))");
    // Databases that come from before Postgres 15 let everybody make things there, where functions with more rights look.
    await client.query('REVOKE CREATE ON SCHEMA public FROM PUBLIC');
    await client.query(withheld);
    const tables = await tablesHere(client);
    for (const role of databaseRoles) {
      const name = roleName(role, prefix);
      await makeRole(client, name, passwords[role], log);
      await client.query(grantsOf(role, client.escapeIdentifier(name), tables));
      await setSessions(client, role, name, log);
      if (makesTemporaryTables.includes(role)) await grantTemporary(client, name);
      await refuseMore(client, role, name, tables);
    }
    await client.query('COMMIT');
  } finally {
    await client.end();
  }
}

/**
 * Withholds what the migration took from everybody, and from the owner of what only grows. A dump that is restored where the roles are missing,
 * and so without its rights, gives it back.
 */
const withheld = `DO $$ DECLARE statement TEXT; BEGIN
  FOR statement IN
    SELECT format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', oid::regprocedure) FROM pg_proc
      WHERE pronamespace = 'public'::regnamespace AND prosecdef AND proowner = current_user::regrole
    UNION ALL SELECT format('REVOKE UPDATE, DELETE, TRUNCATE ON %s FROM CURRENT_USER', tgrelid::regclass) FROM pg_trigger
      WHERE tgname LIKE '%\\_unchanged' AND tgfoid = 'public.refuse_change'::regproc
  LOOP EXECUTE statement; END LOOP;
END $$`;

async function makeRole(client: pg.Client, name: string, password: string | undefined, log: Log): Promise<void> {
  // A membership may give nothing: some servers log in by one.
  const { rows } = await client.query<{ owner: boolean; above: boolean; other: string | null }>(
    `SELECT rolname = current_user OR pg_has_role(rolname, current_user, 'MEMBER') AS owner,
       rolsuper OR rolcreaterole OR rolreplication OR rolbypassrls AS above,
       (SELECT min(roleid::regrole::text) FROM pg_auth_members m
        WHERE m.member = r.oid AND (m.set_option OR m.inherit_option OR m.admin_option)) AS other
     FROM pg_roles r WHERE rolname = $1`,
    [name],
  );
  const [found] = rows;
  if (found?.owner || found?.above)
    throw new MigrationError(
      `The role ${name} owns the tables or has rights over the server; the services need one of their own, without any.`,
    );
  if (found !== undefined && found.other !== null)
    throw new MigrationError(
      `The role ${name} is a member of ${found.other} and could act as it, by SET ROLE or by what it inherits; run: REVOKE ${found.other} FROM ${client.escapeIdentifier(name)}.`,
    );
  const id = client.escapeIdentifier(name);
  if (found === undefined) {
    await client.query(`CREATE ROLE ${id} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION`).catch((cause) => {
      throw new MigrationError(`The role ${name} is missing and cannot be made here; create it manually.`, { cause });
    });
    log(`made the role ${name}`);
  }
  if (password !== undefined)
    await client.query(`ALTER ROLE ${id} PASSWORD ${client.escapeLiteral(scramOf(password, randomBytes(16)))}`);
}

const insufficientPrivilege = '42501';

/**
 * Sets how each session of the role begins, also those that a pooler opens, to which the services cannot say it. Where the owner may
 * not set it, sessions without a pooler set it by themselves, and others are refused (`pool.ts`).
 */
async function setSessions(client: pg.Client, role: DatabaseRole, name: string, log: Log): Promise<void> {
  const id = client.escapeIdentifier(name);
  const values = { TimeZone: 'UTC', statement_timeout: statementTimeoutMs(queryTimeoutMs(role)) };
  const { rows } = await client.query<{ has: string[] }>(
    'SELECT setconfig AS has FROM pg_db_role_setting WHERE setdatabase = 0 AND setrole = (SELECT oid FROM pg_roles WHERE rolname = $1)',
    [name],
  );
  const missing = Object.entries(values).filter(([setting, value]) => !rows[0]?.has.includes(`${setting}=${value}`));
  await client.query('SAVEPOINT sessions');
  try {
    for (const [setting, value] of missing) await client.query(`ALTER ROLE ${id} SET ${setting} = '${value}'`);
  } catch (cause) {
    if (!(cause instanceof pg.DatabaseError) || cause.code !== insufficientPrivilege) throw cause;
    await client.query('ROLLBACK TO SAVEPOINT sessions');
    log(
      `the owner may not set the time zone and the statement_timeout of the role ${name}; services behind a pooler need them`,
    );
  }
}

interface Table {
  readonly name: string;
  readonly isPartition: boolean;
  /** Its columns that count up have these. */
  readonly sequences: readonly string[];
}

/** Tables and partitions that are there now. */
async function tablesHere(client: pg.Client): Promise<Table[]> {
  const { rows } = await client.query<{ name: string; part: boolean; sequences: string[] }>(
    `SELECT c.relname AS name, c.relispartition AS part, ARRAY(
       SELECT s.relname::text FROM pg_depend d JOIN pg_class s ON s.oid = d.objid AND s.relkind = 'S'
       WHERE d.refobjid = c.oid AND d.deptype IN ('a', 'i')) AS sequences
     FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')`,
  );
  return rows.map(({ name, part, sequences }) => ({ name, isPartition: part, sequences }));
}

const rightsTo = ({ isPartition, name }: Table, role: DatabaseRole): Rights =>
  (isPartition ? partitionRights : (tableRights[name] ?? {}))[role] ?? [];

/** One statement after the other in one message, since there are some hundred. */
function grantsOf(role: DatabaseRole, id: string, tables: readonly Table[]): string {
  const named = (name: string): string => pg.escapeIdentifier(name);
  const granted = tables.flatMap((table) => {
    const rights = rightsTo(table, role);
    if (rights.length === 0) return [];
    const counts = rights.some((right) => right.startsWith('INSERT')) ? table.sequences : [];
    return [
      `GRANT ${rights.join(', ')} ON ${named(table.name)} TO ${id}`,
      ...counts.map((sequence) => `GRANT USAGE ON SEQUENCE ${named(sequence)} TO ${id}`),
    ];
  });
  const called = Object.entries(functionRights).flatMap(([name, roles]) =>
    roles.includes(role) ? [`GRANT EXECUTE ON FUNCTION ${name} TO ${id}`] : [],
  );
  return [
    `GRANT USAGE ON SCHEMA public TO ${id}`,
    ...['TABLES', 'SEQUENCES', 'FUNCTIONS'].map((all) => `REVOKE ALL ON ALL ${all} IN SCHEMA public FROM ${id}`),
    ...granted,
    ...called,
  ].join('; ');
}

/** Everybody has this right unless it was taken away, and the owner of the database alone can give it. */
async function grantTemporary(client: pg.Client, role: string): Promise<void> {
  const { rows } = await client.query<{ database: string; has: boolean }>(
    `SELECT current_database() AS database, has_database_privilege($1, current_database(), 'TEMPORARY') AS has`,
    [role],
  );
  const [found] = rows;
  if (found === undefined || found.has) return;
  const [database, id] = [found.database, role].map((name) => client.escapeIdentifier(name));
  const statement = `GRANT TEMPORARY ON DATABASE ${database} TO ${id}`;
  await client.query(statement).catch((cause) => {
    throw new MigrationError(
      `The role ${role} may not make temporary tables, by which receipts come into the database. Its owner has to run: ${statement}`,
      { cause },
    );
  });
}

const writes = ['INSERT', 'UPDATE', 'DELETE', 'TRUNCATE'];

/** Refuses a role that still has a right which was revoked here, through another role or because everybody has it. */
async function refuseMore(
  client: pg.Client,
  role: DatabaseRole,
  name: string,
  tables: readonly Table[],
): Promise<void> {
  // Tables that somebody else keeps beside ours are none of our concern.
  const ours = tables.filter((table) => table.isPartition || table.name in tableRights);
  const asked = ours.flatMap((table) =>
    writes.filter((right) => !rightsTo(table, role).includes(right)).map((right) => [table.name, right] as const),
  );
  const { rows } = await client.query<{ what: string }>(
    `SELECT 'with the table ' || name AS what FROM unnest($2::text[], $3::text[]) AS asked (name, privilege)
       WHERE has_table_privilege($1, quote_ident(name), privilege)
     UNION ALL SELECT 'by the function ' || signature FROM unnest($4::text[]) AS signature
       WHERE has_function_privilege($1, signature, 'EXECUTE') LIMIT 1`,
    [
      name,
      asked.map(([table]) => table),
      asked.map(([, right]) => right),
      Object.keys(functionRights).filter((each) => !functionRights[each]?.includes(role)),
    ],
  );
  const [more] = rows;
  if (more !== undefined)
    throw new MigrationError(
      `The role ${name} may do more ${more.what} than its part shall, by another role or as everybody; it needs to be without that.`,
    );
}

/** The form in which Postgres stores a password (RFC 5802, RFC 7677), so that the password itself is in no statement. */
export function scramOf(password: string, salt: Buffer): string {
  const iterations = 4096;
  const salted = pbkdf2Sync(password, salt, iterations, 32, 'sha256');
  const hmac = (text: string) => createHmac('sha256', salted).update(text).digest();
  const stored = createHash('sha256').update(hmac('Client Key')).digest('base64');
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${stored}:${hmac('Server Key').toString('base64')}`;
}
