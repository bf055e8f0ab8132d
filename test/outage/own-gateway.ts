/** A gateway that a suite may break: of its own, with stores that keep what they acknowledged when they are killed. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Database, openDatabase, Prisma } from '@gw/prisma/client';
import { inCheckout } from '@gw/stack/checkout';
import { type Stack, type StackOptions, startStack } from '@gw/stack/stack';
import type { PartName } from '@gw/stack/stack-plans';
import { firstVersions } from '@gw/testing/control-plane/calls';
import { type Client, clientOf } from './client.ts';

export interface OwnGateway {
  readonly stack: Stack;
  /** Folder of data, logs and secrets. */
  readonly dir: string;
  readonly client: Client;
  readonly ledger: Ledger;
  /** Past the gateway, with the rights of the services. */
  readonly db: Database;
  /** With those of the owner, for whom no right of the database is an obstacle. */
  readonly owner: Database;
  /** Where the sidecar's spool is. */
  readonly spoolDir: string;
  /** `kill -9`. The supervisor starts it again. */
  kill(name: PartName): void;
  /** `kill -9`, and it stays away until it is started. */
  killForGood(name: PartName): Promise<void>;
  /** Starts it, and returns when a call passes with its receipt made. */
  start(name: PartName): Promise<void>;
  /** Every process of a part stands still until the returned function is called. */
  pause(name: PartName): () => void;
  /** Until a call passes through every part again, and every instance of ext-authz and of the sidecar is healthy. */
  whole(): Promise<void>;
  /** Brings back what a test left away, standing still or not whole yet, as one that failed does. */
  mend(): Promise<void>;
  /** `./gw test` keeps its logs, for whoever looks into a failure. */
  stop(): Promise<void>;
}

/** `env`: more variables for single parts. `instances`: how many there are of ext-authz and of the sidecar. */
export async function startOwnGateway(
  options: Pick<
    StackOptions,
    'env' | 'instances' | 'envoys' | 'controlPlanes' | 'drainS' | 'checkoutOf' | 'internalTls'
  > = {},
): Promise<OwnGateway> {
  const given = process.env.GW_TEST_DIR;
  const parent = given ?? inCheckout('.gw');
  mkdirSync(parent, { recursive: true });
  const dir = mkdtempSync(join(parent, 'test-outage-'));
  const stack = await startStack({ dir, log: () => {}, ...options });
  const db = openDatabase(stack.databaseUrl, { connections: 1, onConnectionLost: () => {} });
  const owner = openDatabase(stack.databaseUrl, { connections: 1, onConnectionLost: () => {} });
  const ledger = ledgerOf(db);
  const client = clientOf(stack);
  const away = new Set<PartName>();
  const paused = new Set<() => void>();
  let isWhole = true;
  const kill = (name: PartName) => {
    isWhole = false;
    stack.part(name).kill('SIGKILL');
  };
  const startAll = async (names: readonly PartName[]) => {
    for (const name of names) {
      await stack.part(name).start();
      away.delete(name);
    }
    await whole();
  };
  // One of several instances answers a call, and the others may be down.
  const isHealthy = async (url: string | undefined) =>
    url === undefined || (await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(2000) })).ok;
  const whole = () =>
    eventually('a call to pass through every part, and every instance to be healthy', async () => {
      const { status, receipt } = await client.chat();
      const healthy = await Promise.all(Object.values(stack.healthUrls).map(isHealthy));
      isWhole = status === 200 && receipt?.tier !== 'degraded' && healthy.every(Boolean);
      return isWhole;
    });
  return {
    stack,
    dir,
    client,
    ledger,
    db,
    owner,
    spoolDir: join(dir, 'spool'),
    kill,
    whole,
    killForGood: async (name) => {
      away.add(name);
      kill(name);
      await stack.part(name).stop();
    },
    start: (name) => startAll([name]),
    pause: (name) => {
      isWhole = false;
      const { pid } = stack.part(name);
      if (pid === null) throw new Error(`${name} does not run.`);
      const pids = [pid, ...childrenOf(pid)];
      for (const each of pids) signalIfThere(each, 'SIGSTOP');
      const goOn = () => {
        paused.delete(goOn);
        for (const each of pids) signalIfThere(each, 'SIGCONT');
      };
      paused.add(goOn);
      return goOn;
    },
    mend: async () => {
      if (isWhole) return;
      for (const goOn of paused) goOn();
      await startAll([...away]);
    },
    stop: async () => {
      await Promise.all([db.$disconnect(), owner.$disconnect()]);
      await stack.stop();
      const rest = given ? readdirSync(dir).filter((name) => name !== 'logs') : ['.'];
      for (const name of rest) rmSync(join(dir, name), { recursive: true, force: true });
    },
  };
}

/** Postgres has a process for each connection. */
function childrenOf(pid: number): number[] {
  const pids = readdirSync('/proc').map(Number).filter(Boolean);
  return pids.filter((each) => {
    try {
      return Number(/^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${each}/status`, 'utf8'))?.[1]) === pid;
    } catch {
      return false;
    }
  });
}

function signalIfThere(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended meanwhile.
  }
}

/** The receipts in Postgres as they were issued (version 1), read past the gateway. */
export interface Ledger {
  /** The texts under these ids, as JSON values, once all are there; fails after 75 s (a lease is 30 s). */
  receipts(ids: readonly string[]): Promise<ReadonlyMap<string, unknown>>;
  /** Rows that came in since `from`, and how many ids they have. */
  count(from: Date): Promise<{ readonly rows: number; readonly ids: number }>;
}

function ledgerOf(db: Database): Ledger {
  return {
    receipts: async (ids) => {
      const found = new Map<string, unknown>();
      const look = async () => {
        const rows = await firstVersions(db, Prisma.sql`r.id = ANY (${[...ids]})`);
        for (const { id, body } of rows) found.set(id, body);
        return rows.length === ids.length;
      };
      await eventually(`${ids.length} receipts in the ledger`, look, 75_000);
      return found;
    },
    count: async (from) => {
      const rows = await db.receipt.findMany({ where: { createdAt: { gte: from }, version: 1 }, select: { id: true } });
      return { rows: rows.length, ids: new Set(rows.map(({ id }) => id)).size };
    },
  };
}

export async function eventually(
  what: string,
  condition: () => boolean | Promise<boolean>,
  limitMs = 30_000,
): Promise<void> {
  for (const deadline = Date.now() + limitMs; Date.now() < deadline; await delay(100)) {
    if (await Promise.resolve(condition()).catch(() => false)) return;
  }
  throw new Error(`Waited ${limitMs / 1000} s in vain for ${what}.`);
}
