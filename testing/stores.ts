/**
 * All files of the `stores` project share one Postgres, and the files of a worker of vitest share one Valkey. A file gets a
 * database of its own (`createDatabase`) and an empty Valkey (`emptyValkey`).
 *
 * Invariant: nobody stays connected to a template, since Postgres copies no database that somebody uses.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { elementAt } from '@gw/contract/internal/defined';
import { openDatabase } from '@gw/prisma/client';
import { seed } from '@gw/prisma/internals/seed';
import { freePorts } from '@gw/stack/ports';
import { startPostgres } from '@gw/stack/services/postgres';
import type { Service } from '@gw/stack/services/service';
import { startValkey, type ValkeyOptions } from '@gw/stack/services/valkey';
import { Redis } from 'ioredis';
import type { TestProject } from 'vitest/node';
import { createDatabase } from './prisma/postgres.ts';

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dir = testFolder();
  const started: Service[] = [];
  const start = async (service: Promise<Service>): Promise<string> => {
    const running = await service;
    started.push(running);
    return running.url;
  };
  const stop = async (): Promise<void> => {
    await Promise.all(started.map((each) => each.stop()));
    rmSync(dir, { recursive: true, force: true });
  };
  const options = (name: string) => ({ dir: join(dir, name), log: () => {}, durable: false });
  try {
    const workers = Array.from({ length: project.config.maxWorkers }, (_, at) => `valkey-${at + 1}`);
    const valkeys = await Promise.all(workers.map((name) => start(startCluster(options(name)))));
    const postgres = await start(startPostgres(options('postgres')));
    await makeTemplates(postgres);
    project.provide('postgres', postgres);
    project.provide('valkeys', valkeys);
  } catch (error) {
    await stop();
    throw error;
  }
  return stop;
}

/** Refuses commands whose keys a Valkey Cluster may have on two nodes. */
async function startCluster(options: ValkeyOptions): Promise<Service> {
  const clusterPort = elementAt(await freePorts(1), 0);
  const valkey = await startValkey({ ...options, clusterPort });
  const redis = new Redis(valkey.url);
  await redis.call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
  while (!String(await redis.call('CLUSTER', 'INFO')).includes('cluster_state:ok')) await delay(20);
  redis.disconnect();
  return valkey;
}

async function makeTemplates(postgres: string): Promise<void> {
  const migrated = await createDatabase('empty', 'migrated', postgres);
  await migrated.migrate();
  const { url } = await createDatabase('migrated', 'seeded', postgres);
  const owner = openDatabase(url, { connections: 1 });
  await seed(owner, { pepper: { version: 1, secret: Buffer.alloc(32, 7) }, simulatorUrl: 'http://127.0.0.1:9000' });
  await owner.$disconnect();
}

/** In the folder of `./gw test`, which removes it even after a kill. */
function testFolder(): string {
  const given = process.env.GW_TEST_DIR;
  if (given === undefined) return mkdtempSync(join(tmpdir(), 'gwstores-'));
  const dir = join(given, 'stores');
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  return dir;
}
