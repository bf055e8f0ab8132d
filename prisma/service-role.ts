/**
 * The rights of the role that the services connect as.
 *
 * Invariant: that role owns nothing and is not a superuser. It may add to what only grows (the ledger, the audit log, the steps
 * of onboarding, the history of grid readings, the versions of the screening rules), never change or remove what stands
 * there, nor move the head of a chain; and it reads what tells of changed keys.
 */
import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import pg from 'pg';
import { type Log, MigrationError } from './migrate.ts';

export interface ServiceRole {
  readonly name: string;
  /** Null: it is left as it is, for servers that know their clients by other means. */
  readonly password: string | null;
}

type Rights = readonly string[];

const whole: Rights = ['SELECT', 'INSERT', 'UPDATE', 'DELETE'];
/** Rows are added, and never changed or taken out: triggers see to that for everybody else. */
const grows: Rights = ['SELECT', 'INSERT'];
const read: Rights = ['SELECT'];

const changing = (...columns: string[]): string => `UPDATE (${columns.join(', ')})`;

/**
 * Every table, and what the services may do with it: one that is not here they may not even read.
 */
export const serviceRights: Readonly<Record<string, Rights>> = {
  // These tables only grow.
  audit: grows,
  budget_estimates: grows,
  facts_parts: grows,
  grid_readings: grows,
  onboarding_steps: grows,
  policy_versions: grows,
  receipts: grows,
  receipt_dictionaries: grows,
  receipt_log: grows,
  receipt_log_checkpoints: grows,
  receipt_log_nodes: grows,
  receipt_log_set_aside: read,
  receipt_replacements: read,
  receipt_heads: grows,
  // Triggers make them; a seal is added once.
  receipt_batches: ['SELECT', changing('seal', 'seal_key')],
  // The owner writes it.
  arrival_base: read,
  // Triggers write these.
  audit_heads: read,
  key_generation: read,
  key_changes: read,
  // Counters and places that move.
  catalogue_version: ['SELECT', changing('version')],
  integrity_checks: [
    'SELECT',
    changing('claimed_until', 'begun_at', 'after_id', 'after_version', 'finished_at', 'moved_at', 'checked'),
  ],
  receipt_log_checks: ['SELECT', changing('claimed_until', 'begun_at', 'account_id', 'index', 'finished_at')],
  // A finding stays, even when it is mended.
  integrity_faults: ['SELECT', 'INSERT', changing('fault', 'seen_at', 'mended_at', 'acknowledgement')],
  // Sealed.
  audit_heads_seen: ['SELECT', 'INSERT', changing('seq', 'hash', 'seal', 'seal_key')],
  // The services work with these; the audit log has each change that matters.
  accounts: whole,
  aliases: whole,
  api_keys: whole,
  budget_events: whole,
  budget_webhooks: whole,
  budgets: whole,
  deployments: whole,
  evidence_pack_chunks: whole,
  evidence_packs: whole,
  energy_contracts: whole,
  gpu_measurements: whole,
  key_uses: whole,
  models: whole,
  onboarding: whole,
  operator_tokens: whole,
  operators: whole,
  organisation_admins: whole,
  policy_events: whole,
  prices: whole,
  policy_exemptions: whole,
  provider_credentials: whole,
  providers: whole,
  published_grid: whole,
  recalculations: whole,
  receipt_log_changes: ['SELECT', 'INSERT', 'DELETE'],
  regions: whole,
  restatements: whole,
  second_factors: whole,
  sessions: whole,
  usage_changes: ['SELECT', 'INSERT', 'DELETE'],
  usage_day_changes: ['SELECT', 'INSERT', 'DELETE'],
  usage_days: ['SELECT', 'INSERT', 'DELETE'],
  usage_hour_changes: ['SELECT', 'INSERT', 'DELETE'],
  usage_hours: ['SELECT', 'INSERT', 'DELETE'],
  usage_minutes: ['SELECT', 'INSERT', 'DELETE'],
  _prisma_migrations: [],
};

/** They reach the rows of the ledger through the ledger alone. */
const ofPartitions: Rights = ['SELECT'];

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
    await grantTemporary(client, role.name);
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
      throw new MigrationError(`The role ${name} is missing and cannot be made here; create it manually.`, { cause });
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
  await client.query(`REVOKE ALL ON ALL TABLES IN SCHEMA public FROM ${id}`);
  await client.query(`GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO ${id}`);
  await client.query(`GRANT EXECUTE ON FUNCTION ensure_receipt_partitions(DATE, INTEGER) TO ${id}`);
  await client.query(`GRANT EXECUTE ON FUNCTION settle_receipts(JSON) TO ${id}`);
  await client.query(`GRANT EXECUTE ON FUNCTION restore_receipt(BIGINT, TEXT) TO ${id}`);
  await client.query(`GRANT EXECUTE ON FUNCTION set_aside_receipt_log(TEXT, BIGINT) TO ${id}`);
  for (const { name, rights } of await rightsHere(client))
    if (rights.length > 0)
      await client.query(`GRANT ${rights.join(', ')} ON ${client.escapeIdentifier(name)} TO ${id}`);
}

/** Receipts come by one (docs/decisions/0054). Everybody has the right unless it was taken away, and the owner of the database alone can give it. */
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

/** The tables that are there now, with the partitions. */
async function rightsHere(client: pg.Client): Promise<{ readonly name: string; readonly rights: Rights }[]> {
  const { rows } = await client.query<{ name: string; part: boolean }>(
    `SELECT relname AS name, relispartition AS part FROM pg_class
     WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')`,
  );
  return rows.map(({ name, part }) => ({ name, rights: part ? ofPartitions : (serviceRights[name] ?? []) }));
}

const isOurs = (name: string, rights: Rights): boolean => name in serviceRights || rights === ofPartitions;

/** Refuses a role that still has a right which was revoked here, through another role or because everybody has it. */
async function refuseMore(client: pg.Client, role: string): Promise<void> {
  for (const { name, rights } of await rightsHere(client)) {
    const tooMuch = ['INSERT', 'UPDATE', 'DELETE', 'TRUNCATE'].filter((right) => !rights.includes(right)).join(', ');
    // Tables that somebody else keeps beside ours are none of our concern.
    if (tooMuch === '' || !isOurs(name, rights)) continue;
    const { rows } = await client.query<{ has: boolean }>('SELECT has_table_privilege($1, $2, $3) AS has', [
      role,
      client.escapeIdentifier(name),
      tooMuch,
    ]);
    if (rows[0]?.has)
      throw new MigrationError(
        `The role ${role} may do more with the table ${name} than the services shall, by another role or as everybody; the services need a role without that.`,
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
