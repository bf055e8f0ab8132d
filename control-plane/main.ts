/** The control plane: wires the parts, and nothing else. */
import { randomBytes } from 'node:crypto';
import { clusterResources, listenerResources, secretResources } from '@gw/envoy/clusters';
import { annualReading } from '@gw/methodology/grid-annual';
import { openDatabase } from '@gw/prisma/client';
import { openLog } from '@gw/service/log';
import { runService } from '@gw/service/process';
import { openRedis, untilReady } from '@gw/service/redis';
import { openAccess, startAccessJobs } from './access/services.ts';
import { buildInternalApp } from './app.ts';
import { warnOfRights } from './audit/rights.ts';
import { createCatalogueKeeper } from './catalogue/keeper.ts';
import { surroundingsOf } from './catalogue/surroundings.ts';
import { loadConfig } from './config.ts';
import type { Context } from './context.ts';
import { openLedgerSeals, warnOfUnsealed } from './integrity/open-seals.ts';
import { startJobs } from './jobs.ts';
import { createKeys } from './keys/keys.ts';
import { openOnboarding, startOnboarding } from './onboarding/services.ts';
import { buildOperatorApp } from './operator-app.ts';
import { createVersionCounts } from './receipts/version-counts.ts';
import { listen } from './server.ts';

await runService(async () => {
  const config = loadConfig(process.env);
  const log = openLog('control-plane', config.logLevel);
  const db = openDatabase(config.databaseUrl, {
    // Longer than any query here needs; a connection that died in silence is noticed too.
    queryTimeoutMs: 30_000,
    onConnectionLost: (fault) => log.warn({ fault: fault.message }, 'a database connection was lost'),
  });
  const redis = openRedis(config.redisUrl, log, { commandTimeoutMs: 2000 });
  // Longer than the ingester blocks; a connection that died in silence is noticed too.
  const blockingRedis = openRedis(config.redisUrl, log, { commandTimeoutMs: 10_000 });
  await Promise.all([untilReady(redis, 5000), untilReady(blockingRedis, 5000)]);
  const now = (): Date => new Date();
  const keeper = createCatalogueKeeper({ db, redis, annualReading, now, log });
  // A first try, so that the catalogue is there with the first request; the job goes on if a store is away.
  await keeper.refresh().catch(() => {});
  const versionCounts = createVersionCounts(db);
  const keys = createKeys({
    db,
    redis,
    log,
    now,
    pepper: config.peppers.current,
    otherPepper: config.peppers.other,
    random: randomBytes,
  });
  const { addresses, integrity } = config;
  const sealing = { db, keys: integrity.keys, sealedSince: integrity.sealedSince, log };
  const seals = openLedgerSeals(sealing);
  const context: Context = {
    ...{ db, redis, log, addresses, now, keys, versionCounts, seals },
    ...{ catalogue: keeper, fullCheckS: integrity.fullS },
  };
  await warnOfRights(context);
  await warnOfUnsealed(sealing);
  const jobs = startJobs(context, {
    keeper,
    blockingRedis,
    redisUrl: config.redisUrl,
    grid: config.grid,
    gpu: config.gpu,
    integrity,
  });
  const onboarding = openOnboarding(context, config.screening);
  const onboardingJobs = startOnboarding(context, onboarding, config.redisUrl);
  const access = openAccess(context, config.access);
  const accessJobs = await startAccessJobs(context, access);
  const internal = buildInternalApp(context, {
    internalToken: config.internalToken,
    tls: config.internalListen.startsWith('unix:') ? null : config.internalTls,
    writer: { clusterResources, listenerResources, secretResources },
    credentials: config.credentials,
  });
  const operator = buildOperatorApp(context, access, onboarding, surroundingsOf(config));
  await listen(internal, config.internalListen);
  await listen(operator, config.operatorListen);
  log.info({ internal: config.internalListen, operator: config.operatorListen }, 'the control plane listens');
  return {
    log,
    stop: async () => {
      await Promise.all([internal.close(), operator.close()]);
      await Promise.all([jobs.stop(), accessJobs.stop(), onboardingJobs.stop()]);
      redis.disconnect();
      blockingRedis.disconnect();
      await db.$disconnect();
    },
  };
});
