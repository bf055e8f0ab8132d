/** The applications of the control plane on real stores, and calls as Envoy forwards them. */
import { readSettings } from '@gw/contract/internal/environment';
import type { FastifyInstance, LightMyRequestResponse } from 'fastify';
import { defaultAccessSettings } from './access/config.ts';
import { buildInternalApp } from './app.ts';
import type { Context } from './context.ts';
import { addresses, type entryOf, ledgerKeys, type Stores, silentLog, startStores } from './fixtures-for-tests.ts';
import { readGpuSettings } from './gpu/config.ts';
import { readGridSettings } from './grid/config.ts';
import { buildOperatorApp } from './operator-app.ts';
import { parseEntry } from './receipts/entry-row.ts';
import { insertReceipts } from './receipts/store-batch.ts';
import { noLists } from './screening/config.ts';
import { openServices, type ServiceSettings, type Services } from './services.ts';

/** With which the app hashes the keys that it issues. */
export const testPepper = Buffer.alloc(32, 7);

export const internalToken = 'a-token-of-the-tests-that-is-long-enough';

/** Nothing is configured that has to be. */
const testSettings: ServiceSettings = {
  access: defaultAccessSettings,
  credentials: new Map(),
  gpu: readGpuSettings(readSettings({})),
  grid: readGridSettings(readSettings({})),
  integrity: { keys: ledgerKeys, sealedSince: null, everyS: 60, fullS: 3600 },
  peppers: { current: { version: 1, secret: testPepper }, other: null },
  screening: noLists,
};

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
  /** Reads the catalogue again. */
  refresh(): Promise<void>;
  get(url: string, headers?: Headers): Promise<LightMyRequestResponse>;
  /** Puts entries into Postgres as the ingester does. */
  store(...entries: ReturnType<typeof entryOf>[]): Promise<void>;
  stop(): Promise<void>;
}

export async function startTestApp(now: () => Date = () => new Date()): Promise<TestApp> {
  const stores = await startStores();
  const { db, redis } = stores;
  const context: Context = { db, redis, log: silentLog, addresses, now };
  const services = openServices(context, testSettings);
  const { catalogue, seals } = services;
  await catalogue.refresh();
  const none = (): object[] => [];
  const writer = { clusterResources: none, listenerResources: none, secretResources: none };
  const app = buildInternalApp(context, services, { internalToken, writer, credentials: new Map() });
  const operator = buildOperatorApp(context, services);
  return {
    context,
    services,
    stores,
    app,
    operator,
    refresh: () => catalogue.refresh(),
    get: async (url, headers) => app.inject({ url, headers: identified(headers) }),
    store: async (...entries) => {
      const rows = entries.map((entry) => {
        const parsed = parseEntry(JSON.stringify(entry));
        if ('poison' in parsed) throw new Error(parsed.poison);
        return parsed.row;
      });
      await insertReceipts(db, rows, seals);
    },
    stop: async () => {
      await app.close();
      await operator.close();
      await stores.stop();
    },
  };
}
