import { serveEnvoy } from '@gw/grpc/server';
import { allPublicIds, findKey, keyChanges, renewKeyHash } from '@gw/prisma/find-key';
import { readGround } from '@gw/prisma/ground';
import { queryTimeoutMs } from '@gw/prisma/roles';
import { commitNothing, openStatements } from '@gw/prisma/statements';
import { openCertificates } from '@gw/service/certificates';
import { giveBackDayUnit } from '@gw/service/day-unit';
import { openGround } from '@gw/service/ground';
import { postgresGround } from '@gw/service/ground/postgres';
import { valkeyGround } from '@gw/service/ground/valkey';
import { serveHealth } from '@gw/service/health';
import { createPoolMetrics } from '@gw/service/health/pool-metrics';
import { watchPostgres } from '@gw/service/health/postgres-watch';
import { openTroubles } from '@gw/service/health/troubles';
import { watchValkey } from '@gw/service/health/valkey-watch';
import { createLimitMetrics } from '@gw/service/limits/limit-metrics';
import { limitTimes, openLimiter } from '@gw/service/limits/limiter';
import { openLog } from '@gw/service/log';
import { openRedis, untilReady } from '@gw/service/redis';
import { isRedisCluster, redisPrimaries } from '@gw/service/redis-address';
import { openRedisWriter } from '@gw/service/redis-writer';
import { withTierTokens } from './caller.ts';
import { makeCheck } from './check.ts';
import type { Config } from './config.ts';
import { watchChanges } from './keys/change-watch.ts';
import { openErrorLog } from './keys/error-log.ts';
import { KeyCache } from './keys/key-cache.ts';
import { KeyDirectory } from './keys/key-directory.ts';
import { openKeyNotes } from './keys/key-notes.ts';
import { watchPeppers } from './keys/pepper-watch.ts';
import { openRenewal } from './keys/renew-hash.ts';
import { makeGrantLease } from './lease.ts';
import { openAdmission } from './limits/admission.ts';
import { makeShouldRateLimit } from './should-rate-limit.ts';
import { openShownReceipts } from './shown-receipts.ts';
import { openWitness } from './witness.ts';

/** How long cached keys are accepted while neither Postgres nor Redis can be reached. */
const graceMs = 60_000;

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: it only connects the parts, in the order of their dependencies.
export async function startExtAuthz(config: Config) {
  const log = openLog('ext-authz', config.logLevel);
  for (const text of config.ignored) log.warn(text);
  const pools = createPoolMetrics();
  const db = openStatements(config.databaseUrl, {
    connections: 4,
    queryTimeoutMs: queryTimeoutMs('ext_authz'),
    onConnectionLost: (error) => log.warn({ err: error }, 'a Postgres connection broke'),
    onStatement: (seconds) => pools.took('ext_authz', seconds),
  });
  const redis = openRedis(config.redisUrl, log, { commandTimeoutMs: 250, autoPipelining: true });
  const subscriber = openRedis(config.redisUrl, log);
  const limitsRedis = openRedisWriter({ url: config.redisUrl, log, commandTimeoutMs: Number.POSITIVE_INFINITY });
  await Promise.all([untilReady(redis, 2000), limitsRedis.untilReady(2000)]);

  const monotonic = () => performance.now();
  const troubles = openTroubles(log, monotonic);
  const certificates = await openCertificates({ internal: config.internalTls, log, troubles });
  const ground = await openGround(
    [valkeyGround(() => redisPrimaries(redis), isRedisCluster(redis)), postgresGround(() => readGround(db))],
    { troubles, log },
  );
  const valkey = watchValkey((command) => limitsRedis.send(command), troubles, monotonic);
  const postgres = watchPostgres(() => commitNothing(db), troubles, monotonic);
  const directory = new KeyDirectory({ now: monotonic, load: () => allPublicIds(db) });
  const cache = new KeyCache(
    { find: async (publicId) => withTierTokens(await findKey(db, publicId), config.tierTokens) },
    { now: monotonic, capacity: 50_000, graceMs, admit: (publicId) => directory.admit(publicId) },
  );
  const watch = watchChanges({
    cache,
    directory,
    changes: (known) => keyChanges(db, known),
    redis,
    subscriber,
    now: monotonic,
    pollMs: 300,
    patienceMs: 300,
    log,
  });
  const limiter = openLimiter({
    redis: limitsRedis,
    now: Date.now,
    monotonic,
    instances: config.instances,
    log,
    ...limitTimes,
  });
  const metrics = createLimitMetrics({ log, now: monotonic, local: limiter.local });
  const admission = openAdmission({
    limiter,
    metrics,
    // Fail open: without Redis the call counts twice, but never less than once.
    giveBack: (accountId, keyId) => void giveBackDayUnit(redis, accountId, keyId).catch(() => undefined),
  });

  const shownReceipts = openShownReceipts({ redis, log });
  const witness = openWitness({ db, key: config.witnessKeys.current, log, now: monotonic });
  const notes = openKeyNotes({ redis, now: Date.now });
  const flushing = setInterval(() => void notes.flush(), 1000);
  const renew = openRenewal({
    current: config.peppers.current,
    store: (key, renewed) => renewKeyHash(db, key, renewed),
    log,
  });
  // Without the list, each key would use the budget for unknown ones.
  await watch.ready;

  const peppers = await watchPeppers({ db, peppers: config.peppers, log });

  const errors = openErrorLog({ log, now: monotonic, intervalMs: 10_000 });
  const keys = { cache, peppers: config.peppers, fits: peppers.fits, renew, now: Date.now };
  const onError = (error: unknown) => log.error({ err: error }, 'a call failed');
  const server = await serveEnvoy(
    { ...config, certificates: certificates.internal },
    {
      check: makeCheck({ ...keys, notes, addresses: config.addresses, errors, admission }),
      grantLease: makeGrantLease({ ...keys, notes, limiter, instances: config.instances }),
      shouldRateLimit: makeShouldRateLimit({ admission, addresses: config.addresses }),
      accessLog: shownReceipts.note,
      logTexts: witness.count,
      connectionEnded: witness.connectionEnded,
      // It still accepts cached keys, but another instance may reach a store.
      isServing: () => watch.confirmed() && peppers.isServing(),
    },
    onError,
  );
  let isEnding = false;
  await Promise.all([valkey.first, postgres.first]);
  const health = await serveHealth({
    part: 'ext-authz',
    listeners: config.health,
    log,
    report: () => ({
      ok: watch.confirmed() && peppers.isServing() && !isEnding,
      details: {
        keys_confirmed: watch.confirmed(),
        pepper_fits: peppers.allFit(),
        postgres_current: !watch.inDoubt(),
        limits_exact: !limiter.local(),
        postgres: postgres.isWell(),
        redis: valkey.isWell(),
        ...certificates.details(),
      },
    }),
    troubles,
    register: (registry) => {
      for (const each of [metrics, shownReceipts, witness, ground, certificates]) each.register(registry);
      pools.register(registry, { ext_authz: db.pool });
    },
  });
  log.info({ listen: config.listen }, 'ready');

  return {
    log,
    stop: async () => {
      isEnding = true;
      if (config.instances > 1) await server.leave();
      ground.stop();
      watch.stop();
      peppers.stop();
      limiter.stop();
      certificates.stop();
      clearInterval(flushing);
      await server.close(2000);
      await health.close();
      for (const store of [valkey, postgres]) store.stop();
      await notes.flush();
      await shownReceipts.stop();
      await witness.stop();
      redis.disconnect();
      limitsRedis.stop();
      subscriber.disconnect();
      await db.close();
    },
  };
}
