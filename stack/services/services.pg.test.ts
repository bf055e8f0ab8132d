import { spawn } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { postgresBinaries } from '../binaries.ts';
import { checkout } from '../checkout.ts';
import { startPostgres } from './postgres.ts';
import type { Service } from './service.ts';
import { startValkey } from './valkey.ts';

let dir: string;
const log = () => {};
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'gw-services-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

async function query(url: string, text: string): Promise<unknown[]> {
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
