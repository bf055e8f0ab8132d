/** A Postgres of its own for a test file: fresh, on a Unix socket only, gone afterwards. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate } from '@gw/prisma/migrate';
import { grantServiceRights } from '@gw/prisma/service-role';
import { serviceRole, serviceUrlOf, startPostgres } from '@gw/stack/services/postgres';

export interface TestPostgres {
  /** Of the owner, who migrates and may do everything. */
  readonly url: string;
  /** Of the role that the services connect as; it is there after `migrate`. */
  readonly serviceUrl: string;
  /** Brings it up to date, and gives the services' role its rights. */
  migrate(): Promise<void>;
  /** As a crash would: at once, without a goodbye to the clients. */
  kill(): Promise<void>;
  /** After a kill; the url stays the same. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Not durable, it is faster, but a kill may take the last commits with it. */
export async function startTestPostgres(durable = false): Promise<TestPostgres> {
  const dir = mkdtempSync(join(tmpdir(), 'gwpg-'));
  const options = { dir, log: () => {}, durable };
  let server = await startPostgres(options);
  return {
    url: server.url,
    serviceUrl: serviceUrlOf(server.url),
    migrate: async () => {
      await migrate(server.url, () => {});
      await grantServiceRights(server.url, { name: serviceRole, password: null }, () => {});
    },
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
