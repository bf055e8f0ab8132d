/** The applications of the control plane on real stores, and calls as Envoy forwards them. */
import { randomBytes } from 'node:crypto';
import { annualReading } from '@gw/methodology/grid-annual';
import type { FastifyInstance, LightMyRequestResponse } from 'fastify';
import { buildInternalApp } from './app.ts';
import { createCatalogueKeeper } from './catalogue/keeper.ts';
import type { Context } from './context.ts';
import { addresses, type entryOf, type Stores, silentLog, startStores } from './fixtures-for-tests.ts';
import { createKeys } from './keys/keys.ts';
import { buildOperatorApp } from './operator-app.ts';
import { parseEntry } from './receipts/entry-row.ts';
import { insertReceipts } from './receipts/store-batch.ts';
import { createVersionCounts } from './receipts/version-counts.ts';

/** With which the app hashes the keys that it issues. */
export const testPepper = Buffer.alloc(32, 7);

export const internalToken = 'a-token-of-the-tests-that-is-long-enough';

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
  const catalogue = createCatalogueKeeper({ db, redis, annualReading, now, log: silentLog });
  await catalogue.refresh();
  const pepper = { version: 1, secret: testPepper };
  const keys = createKeys({ db, redis, log: silentLog, now, pepper, random: randomBytes });
  const versionCounts = createVersionCounts(db);
  const context: Context = {
    ...{ db, redis, log: silentLog, addresses, now, catalogue, keys, versionCounts },
    ...{ seals: stores.seals, fullCheckS: 3600 },
  };
  const none = (): object[] => [];
  const writer = { clusterResources: none, listenerResources: none, secretResources: none };
  const app = buildInternalApp(context, { internalToken, writer, credentials: new Map() });
  const operator = buildOperatorApp(context);
  return {
    context,
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
      await insertReceipts(db, rows, stores.seals);
    },
    stop: async () => {
      await app.close();
      await operator.close();
      await stores.stop();
    },
  };
}
