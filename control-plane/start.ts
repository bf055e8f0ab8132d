/** Wires the control plane together: its stores, its services, its jobs and its two ports. */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { elementAt } from '@gw/contract/internal/defined';
import { isUnixSocket } from '@gw/contract/internal/listen';
import { openDatabase } from '@gw/prisma/client';
import { readGround } from '@gw/prisma/ground';
import { byControlPlaneRole, type ControlPlaneRole, queryTimeoutMs } from '@gw/prisma/roles';
import { openAddressGuard } from '@gw/service/address-guard';
import { type GroundOptions, openGround } from '@gw/service/ground';
import { postgresGround } from '@gw/service/ground/postgres';
import { valkeyGround } from '@gw/service/ground/valkey';
import { openTroubles } from '@gw/service/health/troubles';
import { type Logger, openLog } from '@gw/service/log';
import { openRedis, untilReady } from '@gw/service/redis';
import { openRedisWriter, type RedisWriter } from '@gw/service/redis-writer';
import type { FastifyInstance } from 'fastify';
import type { Redis } from 'ioredis';
import { buildInternalApp } from './app.ts';
import * as catalogue from './catalogue/index.ts';
import type { Config } from './config.ts';
import * as customers from './customers/index.ts';
import * as ledger from './ledger/index.ts';
import { listen } from './listen.ts';
import { buildOperatorApp } from './operator-app.ts';
import { ownListeners } from './own-listeners.ts';
import * as people from './people/index.ts';
import { openServices, type Services } from './services.ts';
import { type Context, type Databases, inRole } from './shared/context.ts';
import type { RepeatedJob } from './shared/repeat.ts';

/** How long it takes, ms, until Envoy has heard that it leaves: it asks for health every 0.5 s (envoy.template.yaml). */
const heardWithinMs = 750;

/** How long, ms, an end waits for requests that are under way: what it has to do after them needs time as well. */
const closeWithinMs = 5000;

interface Stores {
  readonly databases: Databases;
  readonly redis: Redis;
  /** The connection for reads that block. */
  readonly blockingRedis: Redis;
  /** The one for claims of idempotency keys. */
  readonly claims: RedisWriter;
  close(): Promise<void>;
}

/** The parts that tests replace by their own. */
export interface Overrides {
  readonly log?: Logger;
  readonly now?: () => Date;
  readonly stores?: Stores;
  /** False starts no jobs. */
  readonly runJobs?: boolean;
}

/**
 * Resolves when both ports listen. It starts even if Postgres or Redis is away; rejects if a setting or a port fails.
 */
export async function startControlPlane(config: Config, overrides: Overrides = {}) {
  const { now = () => new Date(), runJobs = true } = overrides;
  const log = overrides.log ?? openLog('control-plane', config.logLevel);
  for (const text of config.ignored) log.warn(text);
  const stores = overrides.stores ?? (await openStores(config, log));
  const { addresses, currency } = config;
  const own = ownListeners(config);
  // An identity provider can share its host with us: its calls do not come back as those of a provider would.
  const guard = openAddressGuard(own.filter(({ isShared }) => !isShared));
  const providerGuard = openAddressGuard(own);
  const { objects } = config;
  const troubles = openTroubles(log, () => performance.now());
  const ground = overrides.stores ? null : await openStoresGround(stores, { troubles, log });
  const context = contextOf(stores, { log, troubles, addresses, guard, providerGuard, currency, now, objects });
  const services = openServices(context, config, stores.claims);
  // A first try, so that the catalogue is there with the first request; the job goes on if a store is away.
  await services.catalogue.keeper.refresh().catch(() => {});
  await services.catalogue.credentials.refresh().catch(() => {});
  const { kid, x } = config.evidenceKey.publicJwk;
  log.info({ kid, publicKey: x }, 'evidence packs are signed with this key');
  await people.warnOfRights(context);
  const jobs = runJobs ? await startJobs(context, services, config, stores.blockingRedis) : [];
  let stays = true;
  const internal = buildInternalApp(context, services, {
    stays: () => stays,
    internalToken: config.internalToken,
    tls: isUnixSocket(config.internalListen) ? null : config.internalTls,
  });
  const operator = buildOperatorApp(context, services, () => stays, ground);
  await listen(internal, config.internalListen);
  const operatorUrl = await listen(operator, config.operatorListen);
  log.info({ internal: config.internalListen, operator: config.operatorListen }, 'the control plane is listening');
  return {
    context,
    services,
    internal,
    operator,
    operatorUrl,
    log,
    /** Tells Envoy to use other instances, and resolves when it has heard it. */
    leave: () => {
      stays = false;
      return delay(heardWithinMs);
    },
    stop: async () => {
      services.idempotency.stopWaiting();
      await Promise.all([closeSoon(internal), closeSoon(operator)]);
      await services.idempotency.freeHeld();
      services.idempotency.stop();
      ground?.stop();
      await Promise.all(jobs.map((job) => job.stop()));
      await stores.close();
    },
  };
}

const contextOf = ({ databases, redis }: Stores, rest: Omit<Context, 'databases' | 'db' | 'redis'>): Context => ({
  ...rest,
  db: databases.reader,
  databases,
  redis,
});

/** Lets requests come to their ends, and cuts those that take too long. */
async function closeSoon(app: FastifyInstance): Promise<void> {
  const cut = setTimeout(() => app.server.closeAllConnections(), closeWithinMs);
  await app.close().finally(() => clearTimeout(cut));
}

/**
 * Connections of an instance to Postgres by role, 28 in all (docs/operations.md). One role cannot use up the connections of another: where
 * many wait for the key of an account, receipts are stored all the same.
 */
const connectionsOf: Readonly<Record<ControlPlaneRole, number>> = {
  people: 4,
  customers: 6,
  catalogue: 4,
  ledger: 8,
  reader: 6,
};

function openDatabases(urls: Config['databaseUrls'], log: Logger): Databases {
  const onConnectionLost = (error: Error) => log.warn({ err: error }, 'a database connection was lost');
  return byControlPlaneRole((role) => {
    const options = { connections: connectionsOf[role], queryTimeoutMs: queryTimeoutMs(role), onConnectionLost };
    return openDatabase(urls[role], options);
  });
}

async function openStores({ databaseUrls, redisUrl }: Config, log: Logger): Promise<Stores> {
  const databases = openDatabases(databaseUrls, log);
  const redis = openRedis(redisUrl, log, { commandTimeoutMs: 2000 });
  // Longer than the ingester blocks; a connection that died in silence is noticed too.
  const blockingRedis = openRedis(redisUrl, log, { commandTimeoutMs: 10_000 });
  const claims = openRedisWriter({ url: redisUrl, log, commandTimeoutMs: 2000 });
  await Promise.all([...[redis, blockingRedis].map((each) => untilReady(each, 5000)), claims.untilReady(5000)]);
  return {
    databases,
    redis,
    blockingRedis,
    claims,
    close: async () => {
      redis.disconnect();
      blockingRedis.disconnect();
      claims.stop();
      await Promise.all(Object.values(databases).map((db) => db.$disconnect()));
    },
  };
}

/** The first role that cannot work speaks for the database. */
const openStoresGround = ({ databases, redis }: Pick<Stores, 'databases' | 'redis'>, options: GroundOptions) =>
  openGround(
    [
      valkeyGround((command) => redis.call(command)),
      postgresGround(async () => {
        const read = await Promise.all(Object.values(databases).map((db) => readGround(db)));
        const wrong = read.find((each) => typeof each === 'string' || !each.mayRead);
        return wrong ?? elementAt(read, 0);
      }),
    ],
    options,
  );

async function startJobs(
  context: Context,
  services: Services,
  { gpu, grid, integrity, redisUrl }: Config,
  blockingRedis: Redis,
): Promise<readonly RepeatedJob[]> {
  const consumer = `${hostname()}-${process.pid}-${randomUUID()}`;
  const { keeper } = services.catalogue;
  const ledgerOptions = { blockingRedis, catalogue: keeper, consumer, redisUrl, grid, gpu, integrity };
  return [
    catalogue.startJobs(inRole(context, 'catalogue'), services.catalogue, consumer),
    ledger.startJobs(inRole(context, 'ledger'), services.ledger, ledgerOptions),
    customers.startJobs(inRole(context, 'customers'), services.customers, redisUrl),
    await people.startJobs(context, services.people),
  ];
}
