/** Wires the control plane together: its stores, its services, its jobs and its two ports. */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { KeyAwayError, type SigningKey } from '@gw/contract/internal/evidence-keys';
import { isUnixSocket, parseHostPort } from '@gw/contract/internal/listen';
import { isLoopback } from '@gw/contract/internal/loopback';
import { openAddressGuard } from '@gw/service/address-guard';
import { openCertificates } from '@gw/service/certificates';
import { type HealthEndpoint, type HealthListeners, serveHealth } from '@gw/service/health';
import { openTroubles } from '@gw/service/health/troubles';
import { type Logger, openLog } from '@gw/service/log';
import type { FastifyInstance } from 'fastify';
import type { Redis } from 'ioredis';
import type { Registry } from 'prom-client';
import { buildInternalApp } from './app.ts';
import * as catalogue from './catalogue/index.ts';
import type { Config } from './config.ts';
import * as customers from './customers/index.ts';
import { controlPlaneMetrics } from './health.ts';
import * as ledger from './ledger/index.ts';
import { listen } from './listen.ts';
import { buildOperatorApp } from './operator-app.ts';
import { ownListeners } from './own-listeners.ts';
import * as people from './people/index.ts';
import { openServices, type Services } from './services.ts';
import { type Context, inRole } from './shared/context.ts';
import { type RepeatedJob, startOnce } from './shared/repeat.ts';
import { openStores, openStoresGround, type Stores, watchGround } from './stores.ts';

/** How long it takes, ms, until Envoy has heard that it leaves: it asks for health every 0.5 s (envoy.template.yaml). */
const heardWithinMs = 750;

/** How long, ms, an end waits for requests that are under way: what it has to do after them needs time as well. */
const closeWithinMs = 5000;

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
  await expectToSign(config.evidenceKey, log);
  const stores = overrides.stores ?? (await openStores(config, log));
  const { certificates, context, ground, services } = await openParts(config, stores, {
    log,
    now,
    looks: !overrides.stores,
  });
  const { kid, x } = config.evidenceKey.publicJwk;
  log.info({ kid, publicKey: x }, 'evidence packs are signed with this key');
  await people.warnOfRights(context);
  const jobs = runJobs ? await startJobs(context, services, config, stores.blockingRedis) : [];
  let stays = true;
  const internal = buildInternalApp(context, services, {
    // Another instance may have the right secrets.
    stays: () => stays && !services.secrets.isClosed(),
    internalToken: config.internalToken,
    previousInternalToken: config.previousInternalToken,
    tls: isUnixSocket(config.internalListen) ? null : certificates.internal,
  });
  const metrics = controlPlaneMetrics(context, services);
  stores.registerPools?.(metrics);
  ground?.register(metrics);
  // A proxy on this machine would show them to others.
  const isOwn =
    isLoopback(parseHostPort(config.operatorListen).host) && isLoopback(new URL(config.access.controlUrl).hostname);
  const showsMetrics = config.health.metricsListen === null && isOwn;
  const operator = buildOperatorApp(context, services, { stays: () => stays, metrics: showsMetrics ? metrics : null });
  const watches = runJobs ? watchGround(context, stores) : [];
  const health = await serveOwnHealth(context, services, { listeners: config.health, metrics, stays: () => stays });
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
      certificates.stop();
      await health.close();
      await Promise.all([...jobs, ...watches, ground].map((job) => job?.stop()));
      await stores.close();
    },
  };
}

/** Rejects if the key of evidence cannot sign until somebody mends it. If its service alone is down, it starts and signs later. */
async function expectToSign(key: SigningKey, log: Logger): Promise<void> {
  try {
    await key.sign(Buffer.from('gw: a test at the start'));
  } catch (error) {
    if (!(error instanceof KeyAwayError && error.isTemporary)) throw error;
    log.error({ err: error }, 'the key of evidence does not sign; until it does there are no packs and no checkpoints');
  }
}

interface OpenOptions {
  readonly log: Logger;
  readonly now: () => Date;
  /** Whether it looks at what the stores are. */
  readonly looks: boolean;
}

/** Opens what both ports and the jobs work with, and reads the stores as far as they answer. */
async function openParts(config: Config, stores: Stores, { log, looks, now }: OpenOptions) {
  const { addresses, currency, objects } = config;
  const own = ownListeners(config);
  // An identity provider can share its host with us: its calls do not come back as those of a provider would.
  const guard = openAddressGuard(own.filter(({ isShared }) => !isShared));
  const providerGuard = openAddressGuard(own);
  const troubles = openTroubles(log, () => performance.now());
  const certificates = await openCertificates({
    internal: config.internalTls,
    operators: config.access.tls,
    watched: config.watchedCertificates,
    log,
    troubles,
  });
  const ground = looks ? await openStoresGround(stores, { troubles, log }) : null;
  const context = contextOf(stores, { log, troubles, addresses, guard, providerGuard, currency, now, objects });
  const services = openServices(context, config, { claims: stores.claims, certificates });
  // A first try, so that the catalogue is there with the first request; the job goes on if a store is away.
  await services.catalogue.keeper.refresh().catch(() => {});
  await services.catalogue.credentials.refresh().catch(() => {});
  await services.secrets.refresh();
  return { certificates, context, ground, services };
}

interface OwnHealth {
  readonly listeners: HealthListeners;
  readonly metrics: Registry;
  readonly stays: () => boolean;
}

/** For probes of the process. Whoever has to look at the ledger asks the operators' port. */
function serveOwnHealth(
  { log, troubles }: Context,
  { catalogue: { keeper }, secrets }: Services,
  { listeners, metrics, stays }: OwnHealth,
): Promise<HealthEndpoint> {
  const isWell = (store: string): boolean => !(store in troubles.current());
  const report = () => {
    const hasCatalogue = keeper.current() !== null;
    // Stores are no reason to send calls elsewhere: all instances have the same.
    return {
      ok: stays() && hasCatalogue && !secrets.isClosed(),
      details: { catalogue: hasCatalogue, postgres: isWell('postgres'), redis: isWell('redis') },
    };
  };
  return serveHealth({ part: 'control-plane', listeners, log, metrics, troubles, report });
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
    services.secrets.start(),
    ledger.startGroundLook(inRole(context, 'ledger')),
    startOnce({
      name: 'start of the work of the ledger',
      log: context.log,
      may: services.secrets.mayWriteLedger,
      start: () => ledger.startJobs(inRole(context, 'ledger'), services.ledger, ledgerOptions),
    }),
    customers.startJobs(inRole(context, 'customers'), services.customers, redisUrl),
    await people.startJobs(context, services.people),
  ];
}
