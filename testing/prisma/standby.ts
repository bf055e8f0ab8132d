/** A replica that streams from a Postgres in a folder, can be cut off, and takes its place. */
import { execFileSync } from 'node:child_process';
import { chownSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { postgresBinaries } from '@gw/stack/binaries';
import { type Child, startChild } from '@gw/stack/child';
import { lesserUser } from '@gw/stack/internals/services/privileges';
import pg from 'pg';

export interface Standby {
  /** Ends it, so that it lags from now on. */
  cut(): Promise<void>;
  /** Promotes it as it was when it was cut off, and puts its files in the place of the primary's, which has to be down. */
  promote(): Promise<void>;
  stop(): Promise<void>;
}

const startMs = 180_000;

/** `data`: the folder of the primary, `url`: of its owner. Resolves when the replica streams. */
export async function startStandby({ data, url }: { readonly data: string; readonly url: string }): Promise<Standby> {
  const dir = mkdtempSync(join(tmpdir(), 'gwsb-'));
  const copy = join(dir, 'data');
  const user = lesserUser();
  const primary = new pg.Client({ connectionString: url });
  await primary.connect();
  await copyWhileRunning(primary, data, copy);
  const { searchParams } = new URL(url.replace('postgresql:', 'http:'));
  const conninfo = `primary_conninfo = 'host=${searchParams.get('host')} user=gw application_name=gw_standby'\n`;
  writeFileSync(join(copy, 'standby.signal'), '');
  writeFileSync(join(copy, 'postgresql.auto.conf'), conninfo);
  if (user)
    for (const name of ['', 'data/standby.signal', 'data/postgresql.auto.conf', 'data/backup_label'])
      chownSync(join(dir, name), user.uid, user.gid);
  const { postgres } = await postgresBinaries(() => {});
  const values = {
    listen_addresses: '',
    unix_socket_directories: dir,
    max_connections: '100',
    shared_buffers: '64MB',
    timezone: 'UTC',
  };
  let child: Child;
  const start = async (): Promise<void> => {
    child = await startChild({
      command: postgres,
      args: ['-D', copy, ...Object.entries(values).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
      env: { LC_ALL: 'C', PATH: process.env.PATH, TZ: 'UTC' },
      cwd: copy,
      logFile: join(dir, 'postgres.log'),
      deathSignal: 'SIGINT',
      ...(user ? { privileges: user.setpriv, user } : {}),
    });
  };
  const ask = async (statement: string): Promise<Record<string, unknown> | undefined> => {
    const client = new pg.Client({ connectionString: `postgresql://gw@localhost/gw?host=${encodeURIComponent(dir)}` });
    await client.connect();
    return client.query(statement).then(
      ({ rows: [row] }) => client.end().then(() => row),
      (error: unknown) => client.end().then(() => Promise.reject(error)),
    );
  };
  await start();
  await until(async () => {
    const { rows } = await primary.query(
      "SELECT 1 FROM pg_stat_replication WHERE application_name = 'gw_standby' AND state = 'streaming' AND replay_lsn >= pg_current_wal_lsn() - 100000",
    );
    return rows.length > 0;
  });
  await primary.end();
  return {
    cut: () => child.stop('SIGINT'),
    async promote() {
      // Without its primary, which it would only ask in vain.
      await start();
      await until(async () => (await ask('SELECT pg_promote()')) !== undefined);
      await until(async () => (await ask('SELECT pg_is_in_recovery() AS is'))?.is === false);
      await child.stop('SIGINT');
      renameSync(data, `${data}.lost`);
      execFileSync('cp', ['-a', copy, data]);
    },
    async stop() {
      await child.stop('SIGINT');
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** As pg_basebackup does, which is not among the binaries. What changes meanwhile is in the log that the replica streams. */
async function copyWhileRunning(primary: pg.Client, data: string, copy: string): Promise<void> {
  await primary.query("SELECT pg_backup_start('standby', TRUE)");
  mkdirSync(copy);
  // A file may vanish while it is copied.
  try {
    execFileSync('cp', ['-a', `${data}/.`, copy], { stdio: 'ignore' });
  } catch {}
  const { rows } = await primary.query<{ labelfile: string }>('SELECT labelfile FROM pg_backup_stop(FALSE)');
  for (const name of ['postmaster.pid', 'postmaster.opts']) rmSync(join(copy, name), { force: true });
  writeFileSync(join(copy, 'backup_label'), rows[0]?.labelfile ?? '');
}

async function until(check: () => Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + startMs; !(await check().catch(() => false)); await delay(100))
    if (Date.now() > deadline) throw new Error(`The replica did not come so far within ${startMs / 1000} s.`);
}
