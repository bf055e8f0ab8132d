/**
 * The rights of the role that the services connect as.
 *
 * Invariant: that role owns nothing and is no superuser. It may add to the audit log and to the steps of onboarding, never
 * change or remove what stands there, nor move the head of a chain; it adds versions of the screening rules and changes
 * none; and it reads what tells of changed keys.
 */
import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import pg from 'pg';
import { type Log, MigrationError } from './migrate.ts';

export interface ServiceRole {
  readonly name: string;
  /** Null: it is left as it is, for servers that know their clients by other means. */
  readonly password: string | null;
}

/** Tables of which the services may do less than read, add, change and delete. */
const narrower: Readonly<Record<string, readonly string[]>> = {
  audit: ['SELECT', 'INSERT'],
  onboarding_steps: ['SELECT', 'INSERT'],
  policy_versions: ['SELECT', 'INSERT'],
  audit_heads: ['SELECT'],
  key_generation: ['SELECT'],
  key_changes: ['SELECT'],
  _prisma_migrations: [],
};

/**
 * Makes the role if it is missing, and gives it its rights to every table that is there now; so it has to follow each
 * migration. `ownerUrl` is that of the role that migrates. Throws MigrationError if the role would stand above its rights.
 */
export async function grantServiceRights(ownerUrl: string, role: ServiceRole, log: Log): Promise<void> {
  const client = new pg.Client({ connectionString: ownerUrl, connectionTimeoutMillis: 10_000 });
  await client.connect();
  try {
    await client.query('BEGIN');
    await client.query("SELECT pg_advisory_xact_lock(hashtext('service_role'))");
    await makeRole(client, role, log);
    await grant(client, client.escapeIdentifier(role.name));
    await refuseMore(client, role.name);
    await client.query('COMMIT');
  } finally {
    await client.end();
  }
}

async function makeRole(client: pg.Client, { name, password }: ServiceRole, log: Log): Promise<void> {
  const { rows } = await client.query<{ owner: boolean; above: boolean }>(
    `SELECT rolname = current_user OR pg_has_role(rolname, current_user, 'MEMBER') AS owner,
       rolsuper OR rolcreaterole OR rolreplication AS above
     FROM pg_roles WHERE rolname = $1`,
    [name],
  );
  const [found] = rows;
  if (found?.owner || found?.above)
    throw new MigrationError(
      `The role ${name} owns the tables or has rights over the server; the services need one of their own, without any.`,
    );
  const id = client.escapeIdentifier(name);
  if (found === undefined) {
    await client.query(`CREATE ROLE ${id} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION`).catch((cause) => {
      throw new MigrationError(`The role ${name} is missing and can not be made here; make it by hand.`, { cause });
    });
    log(`made the role ${name}`);
  }
  if (password !== null)
    await client.query(`ALTER ROLE ${id} PASSWORD ${client.escapeLiteral(scramOf(password, randomBytes(16)))}`);
}

async function grant(client: pg.Client, id: string): Promise<void> {
  // Databases that come from before Postgres 15 let everybody make things there, where functions with more rights look.
  await client.query('REVOKE CREATE ON SCHEMA public FROM PUBLIC');
  await client.query(`GRANT USAGE ON SCHEMA public TO ${id}`);
  await client.query(`GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${id}`);
  await client.query(`GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO ${id}`);
  await client.query(`GRANT EXECUTE ON FUNCTION ensure_receipt_partitions(DATE, INTEGER) TO ${id}`);
  for (const [table, rights] of Object.entries(narrower)) {
    await client.query(`REVOKE ALL ON ${table} FROM ${id}`);
    if (rights.length > 0) await client.query(`GRANT ${rights.join(', ')} ON ${table} TO ${id}`);
  }
}

/** What is revoked here a role may still have by another one that it is a member of, or as everybody. */
async function refuseMore(client: pg.Client, name: string): Promise<void> {
  for (const [table, rights] of Object.entries(narrower)) {
    const tooMuch = ['INSERT', 'UPDATE', 'DELETE', 'TRUNCATE'].filter((right) => !rights.includes(right)).join(', ');
    const { rows } = await client.query<{ has: boolean }>('SELECT has_table_privilege($1, $2, $3) AS has', [
      name,
      table,
      tooMuch,
    ]);
    if (rows[0]?.has)
      throw new MigrationError(
        `The role ${name} may do more with the table ${table} than the services shall, by another role or as everybody; the services need a role without that.`,
      );
  }
}

/** The form in which Postgres stores a password (RFC 5802, RFC 7677), so that the password itself is in no statement. */
export function scramOf(password: string, salt: Buffer): string {
  const iterations = 4096;
  const salted = pbkdf2Sync(password, salt, iterations, 32, 'sha256');
  const hmac = (text: string) => createHmac('sha256', salted).update(text).digest();
  const stored = createHash('sha256').update(hmac('Client Key')).digest('base64');
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${stored}:${hmac('Server Key').toString('base64')}`;
}
