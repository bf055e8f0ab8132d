/** Databases for test files: on the Postgres that all of them share, or on one of their own that a test may kill. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { grantRoles } from '@gw/prisma/internals/grant';
import { migrate } from '@gw/prisma/internals/migrate';
import { type DatabaseRole, databaseRoles, roleName, tableRights } from '@gw/prisma/roles';
import { startPostgres, urlAs } from '@gw/stack/services/postgres';
import pg from 'pg';
import { inject } from 'vitest';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Url of the shared Postgres; missing in projects that start none (see stores.ts). */
    postgres?: string;
  }
}

export interface TestDatabase {
  /** The url of the owner, who migrates and may do everything. */
  readonly url: string;
  /** The url of a role of the parts; it may do nothing before `migrate`. */
  as(role: DatabaseRole): string;
  /** With the rights of all parts together, and what a test needs to arrange rows of the tables that they change. */
  readonly serviceUrl: string;
  /** Brings it up to date, and gives the roles their rights. */
  migrate(): Promise<void>;
  stop(): Promise<void>;
}

export interface TestPostgres extends TestDatabase {
  /** As a crash would: at once, without a goodbye to the clients. */
  kill(): Promise<void>;
  /** After a kill; the url stays the same. */
  start(): Promise<void>;
}

/** A new database holds nothing, the tables and the rights, or also the demo accounts and catalogue. */
export type Template = 'empty' | 'migrated' | 'seeded';

/** Changes the database in a server's url. */
const urlOf = (url: string, name: string): string => url.replace(/(?<=^postgresql:\/\/[^/]*\/)\w+\?/, `${name}?`);

/** Runs a statement in the database `postgres` of a server, whose url is that of another one of its databases. */
export async function inServer(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: urlOf(url, 'postgres') });
  await client.connect();
  await client.query(statement).finally(() => client.end());
}

async function bringUpToDate(url: string): Promise<void> {
  await migrate(url, () => {});
  await grantRoles(url, { prefix: 'gw', passwords: {} }, () => {});
  const names = databaseRoles.map((role) => roleName(role)).join(', ');
  const changed = Object.keys(tableRights).filter((table) =>
    Object.values(tableRights[table] ?? {}).some((rights) => rights.includes('UPDATE') || rights.includes('DELETE')),
  );
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client
    .query(
      `DO $$ BEGIN CREATE ROLE ${allParts} LOGIN; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$;
       GRANT ${names} TO ${allParts}; GRANT INSERT, UPDATE, DELETE ON ${changed.join(', ')} TO ${allParts}`,
    )
    .finally(() => client.end());
}

const allParts = 'gw_all_parts';
const asAllParts = (ownerUrl: string): string => ownerUrl.replace('//gw@', `//${allParts}@`);

/** Roles are shared by all databases of a server: a test that makes some needs a server of its own. */
export async function createDatabase(
  template: Template,
  name = `test_${randomUUID().replaceAll('-', '')}`,
  server = inject('postgres'),
): Promise<TestDatabase> {
  if (server === undefined) throw new Error('This project of tests starts no Postgres.');
  // Copying the files takes an eighth of the time that going through the log takes.
  const from = template === 'empty' ? 'template1' : template;
  await inServer(server, `CREATE DATABASE ${name} TEMPLATE ${from} STRATEGY FILE_COPY`);
  const url = urlOf(server, name);
  return {
    url,
    as: (role) => urlAs(url, role),
    serviceUrl: asAllParts(url),
    migrate: () => bringUpToDate(url),
    stop: () => inServer(server, `DROP DATABASE ${name} WITH (FORCE)`),
  };
}

/** A server of its own. Not durable, it is faster, but a kill may take the last commits with it. */
export async function startTestPostgres(durable = false): Promise<TestPostgres> {
  const dir = mkdtempSync(join(tmpdir(), 'gwpg-'));
  const options = { dir, log: () => {}, durable };
  let server = await startPostgres(options);
  return {
    url: server.url,
    as: (role) => urlAs(server.url, role),
    serviceUrl: asAllParts(server.url),
    migrate: () => bringUpToDate(server.url),
    kill: async () => {
      server.child.kill('SIGQUIT');
      await server.child.exited;
    },
    start: async () => {
      server = await startPostgres(options);
    },
    stop: async () => {
      await server.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/**
 * Copies a database as it is now. `goBack` puts the copy in its place, under the same name: for whoever is connected Postgres has gone back in time,
 * as by a backup that is restored. Both cut all connections.
 */
export async function takeSnapshot({ url }: TestDatabase): Promise<{ goBack(): Promise<void> }> {
  const name = new URL(url.replace('postgresql:', 'http:')).pathname.slice(1);
  const copy = `${name}_before`;
  const alone = async (statement: string): Promise<void> => {
    await inServer(url, `ALTER DATABASE ${name} ALLOW_CONNECTIONS FALSE`);
    await inServer(url, `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '${name}'`);
    await inServer(url, statement);
    await inServer(url, `ALTER DATABASE ${name} ALLOW_CONNECTIONS TRUE`);
  };
  await alone(`CREATE DATABASE ${copy} TEMPLATE ${name} STRATEGY FILE_COPY`);
  return {
    goBack: () => alone(`ALTER DATABASE ${name} RENAME TO ${name}_lost; ALTER DATABASE ${copy} RENAME TO ${name}`),
  };
}
