/** Databases for test files: on the Postgres that all of them share, or on one of their own that a test may kill. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate } from '@gw/prisma/internals/migrate';
import { grantServiceRights } from '@gw/prisma/internals/service-role';
import { serviceRole, serviceUrlOf, startPostgres } from '@gw/stack/services/postgres';
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
  /** The url of the services' role; it may do nothing before `migrate`. */
  readonly serviceUrl: string;
  /** Brings it up to date, and gives the services' role its rights. */
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
const urlOf = (url: string, name: string): string => url.replace('/gw?', `/${name}?`);

async function inServer(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: urlOf(url, 'postgres') });
  await client.connect();
  await client.query(statement).finally(() => client.end());
}

async function bringUpToDate(url: string): Promise<void> {
  await migrate(url, () => {});
  await grantServiceRights(url, { name: serviceRole, password: null }, () => {});
}

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
    serviceUrl: serviceUrlOf(url),
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
    serviceUrl: serviceUrlOf(server.url),
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
