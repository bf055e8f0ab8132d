/**
 * A Postgres of our own in a folder: reached through a Unix socket that only we may enter, without a TCP port.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { defined } from '@gw/contract/internal/defined';
import { type DatabaseRole, roleName } from '@gw/prisma/roles';
import { type PostgresBinaries, postgresBinaries } from '../machine/binaries.ts';
import { type Child, startChild } from '../machine/child.ts';
import { Problem } from '../machine/problem.ts';
import { type LesserUser, lesserUser } from './privileges.ts';
import type { Service, ServiceOptions } from './service.ts';
import { removeSocketFolder, socketFolder } from './socket-folder.ts';

const startLimitMs = 60_000;

/** Returns the url of a role for the owner's. The server trusts everybody who may enter the folder of its socket. */
export const urlAs = (ownerUrl: string, role: DatabaseRole): string =>
  ownerUrl.replace('//gw@', `//${roleName(role)}@`);

/** The settings of every command of Postgres. */
interface Cluster {
  readonly binaries: PostgresBinaries;
  readonly data: string;
  readonly user: LesserUser | null;
  readonly env: Readonly<Record<string, string>>;
}

/** `dir` holds the data and is made if it is missing. The url is the owner's, `postgresql://gw@localhost/gw?host=<folder>`. */
export async function startPostgres(options: ServiceOptions): Promise<Service> {
  const cluster = await clusterIn(join(options.dir, 'data'), options.log);
  if (!existsSync(join(cluster.data, 'PG_VERSION'))) createCluster(cluster, options);
  await waitForFormerServer(cluster);
  const sockets = socketFolder(options.socketDir ?? join(options.dir, 'sock'), cluster.user ?? undefined);
  const logFile = options.logFile ?? join(options.dir, 'postgres.log');
  const start = () =>
    startChild({
      command: cluster.binaries.postgres,
      args: ['-D', cluster.data, ...settings(sockets, options.durable ?? true)],
      env: cluster.env,
      cwd: cluster.data,
      logFile,
      deathSignal: 'SIGINT',
      ...(cluster.user ? { privileges: cluster.user.setpriv, user: cluster.user } : {}),
    });
  // The workers of one that was killed hold its memory for a moment longer, and until then no other one starts.
  const again = postmaster(cluster).pid === null ? 0 : Date.now() + formerLimitMs;
  let child = await start();
  while (!(await isReady(child, cluster))) {
    if (Date.now() > again) throw new Problem(`Postgres did not start; its log is ${logFile}.`);
    await delay(100);
    child = await start();
  }
  return {
    url: `postgresql://gw@localhost/gw?host=${encodeURIComponent(sockets)}`,
    child,
    pid: child.pid,
    stop: async () => {
      // SIGINT is Postgres's fast shutdown: open transactions are rolled back, nothing is lost.
      await child.stop('SIGINT');
      removeSocketFolder(sockets);
    },
  };
}

async function clusterIn(data: string, log: ServiceOptions['log']): Promise<Cluster> {
  return {
    binaries: await postgresBinaries(log),
    data,
    user: lesserUser(),
    // Messages in English, and nothing of our environment: it may hold secrets and PG* settings.
    env: { LC_ALL: 'C', PATH: process.env.PATH ?? '', TZ: 'UTC' },
  };
}

/**
 * Names the folder of a cluster that is at rest, of which new ones are copies. `./gw test` makes one
 * (`makeTemplateCluster`), since to make and to migrate a cluster takes longer than most tests.
 */
export const templateVariable = 'GW_TEST_CLUSTER';

const durability = ['fsync', 'synchronous_commit', 'full_page_writes'];

function settings(sockets: string, durable: boolean): string[] {
  const values = {
    listen_addresses: '',
    unix_socket_directories: sockets,
    unix_socket_permissions: '0700',
    max_connections: '100',
    shared_buffers: '64MB',
    jit: 'off',
    timezone: 'UTC',
    log_timezone: 'UTC',
    // Bound values may be personal data or hashes; they stay out of the log.
    log_parameter_max_length: '0',
    log_parameter_max_length_on_error: '0',
    // On are Postgres' defaults too; said here, since an acknowledged commit has to survive a power cut.
    ...Object.fromEntries(durability.map((name) => [name, durable ? 'on' : 'off'])),
  };
  return Object.entries(values).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

function createCluster(cluster: Cluster, options: Pick<ServiceOptions, 'durable' | 'log'>): void {
  options.log('Creating the database…');
  // A folder without PG_VERSION is what a first start that was cut short left behind.
  rmSync(cluster.data, { recursive: true, force: true });
  mkdirSync(dirname(cluster.data), { recursive: true });
  if (copyTemplate(cluster)) return;
  mkdirSync(cluster.data, { recursive: true });
  chmodSync(cluster.data, 0o700);
  if (cluster.user) chownSync(cluster.data, cluster.user.uid, cluster.user.gid);
  const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
  const sync = options.durable === false ? ['--no-sync'] : [];
  const made = run(cluster, cluster.binaries.initdb, [
    '-D',
    cluster.data,
    '-U',
    'gw',
    '-A',
    'trust',
    ...locale,
    ...sync,
  ]);
  const named = made.ok
    ? run(cluster, cluster.binaries.postgres, ['--single', '-D', cluster.data, 'postgres'], 'CREATE DATABASE gw;\n')
    : made;
  if (named.ok) return;
  rmSync(cluster.data, { recursive: true, force: true });
  throw new Problem(`Postgres could not create its data in ${cluster.data}: ${named.output}`);
}

function copyTemplate({ data }: Cluster): boolean {
  const template = process.env[templateVariable];
  if (template === undefined) return false;
  // Not by cpSync: the files belong to the user who runs Postgres, and one program copies a thousand of them sooner.
  const { status } = spawnSync('cp', ['-a', template, data]);
  if (status !== 0) rmSync(data, { recursive: true, force: true });
  return status === 0;
}

function run(cluster: Cluster, command: string, args: string[], input = ''): { ok: boolean; output: string } {
  const { user } = cluster;
  const [file, argv] = user?.setpriv.length ? ['setpriv', [...user.setpriv, '--', command, ...args]] : [command, args];
  const done = spawnSync(file, argv, {
    env: cluster.env,
    cwd: cluster.data,
    input,
    encoding: 'utf8',
    ...(user && user.setpriv.length === 0 ? { uid: user.uid, gid: user.gid } : {}),
  });
  const lines = (done.error?.message ?? done.stderr).trim().split('\n');
  const reason =
    lines.find((line) => /permission denied|error|fatal/i.test(line)) ?? defined(lines.at(-1), 'The last line');
  return { ok: done.status === 0, output: explain(reason, cluster) };
}

function explain(output: string, cluster: Cluster): string {
  if (!cluster.user || !/permission denied|EACCES/i.test(output)) return output;
  return `${output} (Postgres does not run as root, and user ${cluster.user.uid} may not enter the folder: run ./gw as a normal user)`;
}

/** How long a former server may take to be gone. */
const formerLimitMs = 10_000;

/** A server whose supervisor was killed may still be closing its files. */
async function waitForFormerServer(cluster: Cluster): Promise<void> {
  const deadline = Date.now() + formerLimitMs;
  for (;;) {
    const { pid } = postmaster(cluster);
    if (pid === null || !isAlive(pid)) return;
    if (Date.now() > deadline) throw new Problem(`The database in ${cluster.data} is in use by process ${pid}.`);
    await delay(50);
  }
}

/** Postgres keeps its process id and its state in lines 1 and 8 of this file. */
function postmaster(cluster: Cluster): { pid: number | null; state: string } {
  try {
    const lines = readFileSync(join(cluster.data, 'postmaster.pid'), 'utf8').split('\n');
    return { pid: Number(lines[0]) || null, state: (lines[7] ?? '').trim() };
  } catch {
    return { pid: null, state: '' };
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** False: it has ended, or was ended since it took too long. */
async function isReady(child: Child, cluster: Cluster): Promise<boolean> {
  const deadline = Date.now() + startLimitMs;
  for (;;) {
    const { pid, state } = postmaster(cluster);
    if (pid === child.pid && state === 'ready') return true;
    if (!child.alive() || Date.now() > deadline) {
      await child.stop('SIGINT');
      return false;
    }
    await delay(20);
  }
}
