/**
 * Applies the migrations of this folder, in the format and with the bookkeeping of `prisma migrate deploy`, which can
 * take over at any time. It exists because that command downloads a native engine, which not every host can reach.
 *
 * Invariant: a migration and its row in `_prisma_migrations` are committed together or not at all.
 */
import { createHash, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { errorText } from '@gw/contract/internal/error-text';
import pg from 'pg';
import { partitionMonths } from './partitions.ts';
import { UtcClient } from './pool.ts';

/** The same lock as Prisma's own command takes, so that the two exclude each other. */
const prismaLock = 72707369;

/** SQLSTATE of a lock that was not there in time, where a migration bounds how long it waits. */
const lockNotAvailable = '55P03';
const tryAgain = 'Somebody else was using the table for too long: try again, if need be while no long query runs.';

const bookkeeping = `CREATE TABLE IF NOT EXISTS "_prisma_migrations" (
  "id" VARCHAR(36) PRIMARY KEY NOT NULL,
  "checksum" VARCHAR(64) NOT NULL,
  "finished_at" TIMESTAMPTZ,
  "migration_name" VARCHAR(255) NOT NULL,
  "logs" TEXT,
  "rolled_back_at" TIMESTAMPTZ,
  "started_at" TIMESTAMPTZ NOT NULL DEFAULT now(),
  "applied_steps_count" INTEGER NOT NULL DEFAULT 0
)`;

export interface Migration {
  readonly name: string;
  readonly sql: string;
  /** SHA-256 of the file, hexadecimal, as Prisma stores it. */
  readonly checksum: string;
}

export type Log = (line: string) => void;

/** The history in the database and the files do not fit together; a human has to decide. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError';
}

/** As a source this file is beside `migrations/`; bundled it is in `dist/`, a sibling of `prisma/`. */
export function migrationsDirectory(moduleUrl: string = import.meta.url): string {
  const bundled = new URL('../prisma/migrations/', moduleUrl);
  return fileURLToPath(bundled);
}

export function readMigrations(directory: string): Migration[] {
  return readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort()
    .map((name) => {
      const file = readFileSync(`${directory}/${name}/migration.sql`);
      return { name, sql: file.toString('utf8'), checksum: createHash('sha256').update(file).digest('hex') };
    });
}

/**
 * Brings the database up to date and makes the coming months' partitions. Safe to run at once from several places.
 * Throws MigrationError if an applied migration was edited, is missing from the files, or has failed half-way.
 */
export async function migrate(
  databaseUrl: string,
  log: Log,
  migrations: readonly Migration[] = readMigrations(migrationsDirectory()),
): Promise<void> {
  const client = new UtcClient({ connectionString: databaseUrl, connectionTimeoutMillis: 10_000 });
  await client.connect();
  try {
    await refusePooler(client);
    await client.query('SELECT pg_advisory_lock($1)', [prismaLock]);
    await client.query(bookkeeping);
    const applied = await readApplied(client);
    checkHistory(applied, migrations);
    const pending = migrations.filter((migration) => !applied.has(migration.name));
    for (const migration of pending) await apply(client, migration, log);
    if (pending.length === 0) log('the database is up to date');
    await client.query('SELECT ensure_receipt_partitions((now() AT TIME ZONE $1)::date, $2)', ['UTC', partitionMonths]);
    await client.query('SELECT continue_arrivals()');
  } finally {
    // Ending the session also releases the lock.
    await client.end();
  }
}

/** The lock is the session's: behind a pooler it could stay with somebody else, and a second migration would run beside this one. */
async function refusePooler(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  if (rows[0]?.pid === client.processID) return;
  throw new MigrationError(
    'GW_DATABASE_URL leads to a pooler, but the migration holds a lock for its whole session. Give it the address of Postgres itself; the services can keep the address of the pooler.',
  );
}

async function readApplied(client: pg.Client): Promise<Map<string, { checksum: string; finished: boolean }>> {
  const { rows } = await client.query<{ migration_name: string; checksum: string; finished: boolean }>(
    `SELECT migration_name, checksum, finished_at IS NOT NULL AS finished
     FROM "_prisma_migrations" WHERE rolled_back_at IS NULL`,
  );
  return new Map(rows.map((row) => [row.migration_name, { checksum: row.checksum, finished: row.finished }]));
}

/** Until the first release is out, the one migration is edited in place. */
const advice =
  'No release is out yet, so there is nothing to upgrade from: remove the data folder or the database, and start again.';

function checkHistory(
  applied: ReadonlyMap<string, { checksum: string; finished: boolean }>,
  migrations: readonly Migration[],
): void {
  const files = new Map(migrations.map((migration) => [migration.name, migration]));
  for (const [name, row] of applied) {
    const file = files.get(name);
    if (!row.finished) throw new MigrationError(`Migration ${name} failed half-way; resolve it manually first.`);
    if (file === undefined)
      throw new MigrationError(
        `Migration ${name} is applied, and its file is missing: the database was created by another commit. ${advice}`,
      );
    if (file.checksum !== row.checksum)
      throw new MigrationError(`Migration ${name} does not match the one that created this database. ${advice}`);
  }
}

async function apply(client: pg.Client, migration: Migration, log: Log): Promise<void> {
  await client.query('BEGIN');
  try {
    await client.query(migration.sql);
    await client.query(
      `INSERT INTO "_prisma_migrations" (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
       VALUES ($1, $2, $3, now(), clock_timestamp(), 1)`,
      [randomUUID(), migration.checksum, migration.name],
    );
    await client.query('COMMIT');
  } catch (cause) {
    await client.query('ROLLBACK').catch(() => {});
    const reason = errorText(cause);
    const again = cause instanceof pg.DatabaseError && cause.code === lockNotAvailable ? ` ${tryAgain}` : '';
    throw new MigrationError(`Migration ${migration.name} failed and left nothing behind: ${reason}.${again}`, {
      cause,
    });
  }
  log(`applied ${migration.name}`);
}
