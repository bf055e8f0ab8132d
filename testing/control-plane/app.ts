/** The applications of the control plane on real stores, and calls as Envoy forwards them. */

import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Config, loadConfig } from '@gw/control-plane/internals/config';
import type { Services } from '@gw/control-plane/internals/services';
import type { Context } from '@gw/control-plane/internals/shared/context';
import { startControlPlane } from '@gw/control-plane/internals/start';
import { databaseSettings } from '@gw/prisma/roles';
import type { FastifyInstance, LightMyRequestResponse } from 'fastify';
import { entryKeys } from '../ledger-entry.ts';
import { addresses, type entryOf, ledgerKeys, nameKeys, type Stores, silentLog, startStores } from './fixtures.ts';
import { storeEntries } from './store-entries.ts';

/** With which the app hashes the keys that it issues. */
export const testPepper = Buffer.alloc(32, 7);

/** With which the statements of an ext-authz are signed. */
export const testWitnessKey = Buffer.alloc(32, 11);

/** The cost of hashing credentials, which tests make by the hundred. */
export const testCost = { memorySize: 64, iterations: 1, parallelism: 1 };

export const internalToken = 'a-token-of-the-tests-that-is-long-enough';

type Settings = Readonly<Record<string, string>>;

/** With settings for what has to be set, and `settings`. Objects are in memory, unless they say where. */
function configFor({ objects, postgres, redisUrl }: Stores, probeSocket: string, settings: Settings): Config {
  const isElsewhere = Object.keys(settings).some((name) => name.startsWith('GW_OBJECTS_'));
  const config = loadConfig({
    GW_CONTROL_INTERNAL_LISTEN: '127.0.0.1:0',
    GW_CONTROL_LISTEN: '127.0.0.1:0',
    GW_PROBE_LISTEN: `unix:${probeSocket}`,
    ...databaseSettings((role) => postgres.as(role)),
    GW_REDIS_URL: redisUrl,
    GW_INTERNAL_TOKEN: internalToken,
    GW_KEY_PEPPER: testPepper.toString('hex'),
    GW_LEDGER_KEY: ledgerKeys.current.secret.toString('hex'),
    GW_LEDGER_ENTRY_KEY: entryKeys.current.secret.toString('hex'),
    GW_WITNESS_KEY: testWitnessKey.toString('hex'),
    GW_EVIDENCE_KEY: 'e1'.repeat(32),
    GW_NAMES_KEY: nameKeys.current.secret.toString('hex'),
    GW_CREDENTIALS_KEY: 'ce'.repeat(32),
    GW_IDEMPOTENCY_KEY: '1d'.repeat(32),
    ...(isElsewhere ? {} : { GW_OBJECTS_DIR: '/nowhere' }),
    ...settings,
  });
  return {
    ...config,
    objects: isElsewhere ? config.objects : objects,
    addresses,
    access: { ...config.access, credentialCost: testCost },
  };
}

type Headers = Record<string, string>;

/** The headers with which Envoy forwards a verified call. */
export const identified = (changes: Headers = {}): Headers => ({
  'x-gw-internal-token': `Bearer ${internalToken}`,
  'x-gw-account-id': 'acct_demo_audit',
  'x-gw-key-id': 'key',
  'x-gw-tier': 'audit',
  'x-gw-scopes': 'inference:read inference:write gw:read',
  ...changes,
});

export interface TestApp {
  readonly context: Context;
  readonly services: Services;
  readonly stores: Stores;
  readonly app: FastifyInstance;
  readonly operator: FastifyInstance;
  readonly operatorUrl: string;
  /** Where it expects Envoy to take test calls to providers; nobody listens there by itself. */
  readonly probeSocket: string;
  /** Reads the catalogue again. */
  refresh(): Promise<void>;
  get(url: string, headers?: Headers): Promise<LightMyRequestResponse>;
  /** Puts entries into Postgres as the ingester does. */
  store(...entries: ReturnType<typeof entryOf>[]): Promise<void>;
  /** Resolves when Envoy would have heard that it leaves. */
  leave(): Promise<void>;
  stop(): Promise<void>;
}

export async function startTestApp(
  now: () => Date = () => new Date(),
  on?: Stores,
  settings: Settings = {},
  runJobs = false,
): Promise<TestApp> {
  const stores = on ?? (await startStores());
  const { claims, databases, db, redis } = stores;
  const probeSocket = join(tmpdir(), `gw-probe-${randomUUID()}.sock`);
  const running = await startControlPlane(configFor(stores, probeSocket, settings), {
    log: silentLog,
    now,
    stores: { databases, redis, blockingRedis: redis, claims, close: () => stores.stop() },
    runJobs,
  });
  const { internal: app, operator, operatorUrl, services } = running;
  // A test arranges and looks with it; the applications have those of the roles.
  const context = { ...running.context, db };
  const { keeper } = services.catalogue;
  const { seals } = services.ledger;
  return {
    context,
    services,
    stores,
    app,
    operator,
    operatorUrl,
    probeSocket,
    leave: running.leave,
    refresh: () => keeper.refresh(),
    get: async (url, headers) => app.inject({ url, headers: identified(headers) }),
    store: (...entries) => storeEntries(db, entries, seals),
    stop: () => running.stop(),
  };
}
