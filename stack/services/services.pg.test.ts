import { spawn } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { postgresBinaries } from '../machine/binaries.ts';
import { checkout } from '../machine/checkout.ts';
import { startPostgres } from './postgres.ts';
import type { Service } from './service.ts';
import { startValkey } from './valkey.ts';

let dir: string;
const log = () => {};
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'gw-services-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

function onTcp(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const connection = createConnection(port, '127.0.0.1');
    connection.once('connect', () => resolve(true));
    connection.once('error', () => resolve(false));
  });
}

test('Postgres keeps its rows over a restart and a kill, and is reached through the socket alone', async () => {
  const options = { dir: join(dir, 'postgres'), log };
  let server: Service = await startPostgres(options);
  await query(server.url, 'create table kept (n int)');
  await query(server.url, 'insert into kept values (1)');
  expect(await query(server.url, "select setting from pg_settings where name = 'listen_addresses'")).toEqual([
    { setting: '' },
  ]);
  const durability = `select name, setting from pg_settings
    where name in ('fsync', 'synchronous_commit', 'full_page_writes') order by name`;
  expect(await query(server.url, durability)).toEqual([
    { name: 'fsync', setting: 'on' },
    { name: 'full_page_writes', setting: 'on' },
    { name: 'synchronous_commit', setting: 'on' },
  ]);
  const sockets = decodeURIComponent(server.url.split('host=')[1] ?? '');
  expect(statSync(sockets).mode & 0o777).toBe(0o700);
  await server.stop();
  expect(existsSync(sockets)).toBe(false);

  server = await startPostgres(options);
  await query(server.url, 'insert into kept values (2)');
  server.child.kill('SIGKILL');
  await server.child.exited;
  server = await startPostgres(options);
  expect(await query(server.url, 'select n from kept order by n')).toEqual([{ n: 1 }, { n: 2 }]);
  await server.stop();
  expect(server.child.alive()).toBe(false);
});

test('programs and data may lie where only we can enter, whoever Postgres has to run as', async () => {
  const { postgres } = await postgresBinaries(log);
  const closed = join(dir, 'closed');
  cpSync(dirname(dirname(postgres)), closed, { recursive: true, verbatimSymlinks: true });
  chmodSync(closed, 0o700);
  process.env.GW_POSTGRES_BIN = join(closed, 'bin', 'postgres');
  try {
    const server = await startPostgres({ dir: join(closed, 'state'), log, durable: false });
    expect(await query(server.url, 'select 1 as one')).toEqual([{ one: 1 }]);
    await server.stop();
  } finally {
    delete process.env.GW_POSTGRES_BIN;
  }
});

test('a path that is too long for a socket is no obstacle', async () => {
  const long = join(dir, 'a-folder-with-a-long-name'.repeat(6));
  mkdirSync(long, { recursive: true });
  const [postgres, valkey] = await Promise.all([
    startPostgres({ dir: join(long, 'postgres'), log, durable: false }),
    startValkey({ dir: join(long, 'valkey'), log, durable: false }),
  ]);
  expect(await query(postgres.url, 'select 1 as one')).toEqual([{ one: 1 }]);
  await Promise.all([postgres.stop(), valkey.stop()]);
});

test('Valkey keeps its keys over a restart, refuses to drop them, and listens on no port', async () => {
  const options = { dir: join(dir, 'valkey'), log };
  let server = await startValkey(options);
  let client = new Redis(server.url, { lazyConnect: true });
  await client.connect();
  await client.set('kept', '1');
  expect(await client.config('GET', 'maxmemory-policy')).toEqual(['maxmemory-policy', 'noeviction']);
  expect(await client.config('GET', 'appendonly')).toEqual(['appendonly', 'yes']);
  expect(await client.config('GET', 'appendfsync')).toEqual(['appendfsync', 'everysec']);
  expect(await client.config('GET', 'port')).toEqual(['port', '0']);
  expect(await onTcp(6379)).toBe(false);
  client.disconnect();
  await server.stop();

  server = await startValkey(options);
  client = new Redis(server.url, { lazyConnect: true });
  await client.connect();
  expect(await client.get('kept')).toBe('1');
  client.disconnect();
  await server.stop();
});

describe('kill -9 in mid-write, round after round', () => {
  /** Numbers one by one, each behind the answer to the one before, until there is no answer. Adds those answered to `taken`. */
  async function writeUntilKilled(taken: string[], round: number, write: (what: string) => Promise<unknown>) {
    for (let n = 0; ; n += 1) {
      const what = `${round}-${n}`;
      const isTaken = await write(what).then(
        () => true,
        () => false,
      );
      if (!isTaken) return;
      taken.push(what);
    }
  }

  /** Kills the server while `writing` goes on, and waits for the end of both. */
  async function killAmid(server: Service, taken: readonly string[], writing: Promise<void>): Promise<void> {
    const before = taken.length;
    await vi.waitUntil(() => taken.length > before + 50, { timeout: 30_000 });
    server.child.kill('SIGKILL');
    await Promise.all([server.child.exited, writing]);
  }

  test('takes nothing from Postgres that was acknowledged', async () => {
    const options = { dir: join(dir, 'killed-postgres'), log };
    const taken: string[] = [];
    let server = await startPostgres(options);
    await query(server.url, 'create table taken (what text)');
    for (let round = 0; round < 3; round += 1) {
      const client = new pg.Client({ connectionString: server.url });
      client.on('error', () => undefined);
      await client.connect();
      const insert = (what: string) => client.query('insert into taken values ($1)', [what]);
      await killAmid(server, taken, writeUntilKilled(taken, round, insert));
      server = await startPostgres(options);
    }
    const there = new Set((await query(server.url, 'select what from taken')).map(({ what }) => what));
    expect(taken.filter((what) => !there.has(what))).toEqual([]);
    await server.stop();
  }, 120_000);

  /** Valkey holds writes back from its file while the kernel syncs it, but for no longer than this (docs/failure-modes.md). */
  const heldBackMs = 2000;

  test('takes the last two seconds from Valkey at most, and nothing in between', async () => {
    const options = { dir: join(dir, 'killed-valkey'), log };
    const rounds: { what: string; at: number }[][] = [];
    const ends: number[] = [];
    let server = await startValkey(options);
    for (let round = 0; round < 2; round += 1) {
      const client = new Redis(server.url, { retryStrategy: () => null, enableOfflineQueue: false, lazyConnect: true });
      client.on('error', () => undefined);
      await client.connect();
      const taken: string[] = [];
      const times: number[] = [];
      const writing = writeUntilKilled(taken, round, async (what) => {
        await client.xadd('taken', '*', 'what', what);
        times.push(Date.now());
      });
      // So that there is something older than what may be lost.
      await vi.waitUntil(() => Date.now() - (times[50] ?? Number.POSITIVE_INFINITY) > heldBackMs, { timeout: 30_000 });
      ends.push(Date.now());
      await killAmid(server, taken, writing);
      rounds.push(taken.map((what, n) => ({ what, at: times[n] ?? 0 })));
      server = await startValkey(options);
    }
    const client = new Redis(server.url);
    const there = new Set((await client.xrange('taken', '-', '+')).map(([, fields]) => fields[1]));
    for (const [round, taken] of rounds.entries()) {
      const kept = taken.filter(({ what }) => there.has(what));
      expect(kept).toEqual(taken.slice(0, kept.length));
      const lost = taken.slice(kept.length).filter(({ at }) => at < (ends[round] ?? 0) - heldBackMs);
      expect(lost).toEqual([]);
      expect(kept.length).toBeGreaterThan(50);
    }
    client.disconnect();
    await server.stop();
  }, 120_000);
});

test('neither outlives a parent that was killed', async () => {
  const script = `
    import { startPostgres } from '${checkout}/stack/services/postgres.ts';
    import { startValkey } from '${checkout}/stack/services/valkey.ts';
    const options = (name) => ({ dir: '${dir}/orphans-' + name, log() {}, durable: false });
    const started = await Promise.all([startPostgres(options('postgres')), startValkey(options('valkey'))]);
    console.log(started.map((each) => each.pid).join(' '));
    setInterval(() => {}, 1000);`;
  const { build } = await import('esbuild');
  const outfile = join(checkout, 'node_modules', '.cache', `orphans-${process.pid}.mjs`);
  await build({
    stdin: { contents: script, resolveDir: checkout, loader: 'ts' },
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile,
  });
  const parent = spawn(process.execPath, [outfile], { stdio: ['ignore', 'pipe', 'inherit'] });
  const line = await new Promise<string>((resolve) => parent.stdout.once('data', (data) => resolve(String(data))));
  const pids = line.trim().split(' ').map(Number);
  expect(pids).toHaveLength(2);
  parent.kill('SIGKILL');
  const alive = () => pids.filter((pid) => existsSync(`/proc/${pid}`));
  for (let tries = 0; tries < 200 && alive().length > 0; tries += 1) await delay(50);
  expect(alive()).toEqual([]);
  rmSync(outfile);
});
