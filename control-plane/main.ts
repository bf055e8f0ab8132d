/** The control plane: wires the parts, and nothing else. */
import { clusterResources, listenerResources, secretResources } from '@gw/envoy/clusters';
import { openDatabase } from '@gw/prisma/client';
import { openLog } from '@gw/service/log';
import { runService } from '@gw/service/process';
import { openRedis, untilReady } from '@gw/service/redis';
import { startAccessJobs } from './access/services.ts';
import { buildInternalApp } from './app.ts';
import { warnOfRights } from './audit/rights.ts';
import { loadConfig } from './config.ts';
import type { Context } from './context.ts';
import { warnOfUnsealed } from './integrity/open-seals.ts';
import { startJobs } from './jobs.ts';
import { startOnboarding } from './onboarding/services.ts';
import { buildOperatorApp } from './operator-app.ts';
import { listen } from './server.ts';
import { openServices } from './services.ts';

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
  const { addresses, integrity } = config;
  const context: Context = { db, redis, log, addresses, now: () => new Date() };
  const services = openServices(context, config);
  // A first try, so that the catalogue is there with the first request; the job goes on if a store is away.
  await services.catalogue.refresh().catch(() => {});
  await warnOfRights(context);
  await warnOfUnsealed({ db, log, keys: integrity.keys, sealedSince: integrity.sealedSince });
  const { redisUrl, grid, gpu } = config;
  const jobs = startJobs(context, services, { blockingRedis, redisUrl, grid, gpu, integrity });
  const onboardingJobs = startOnboarding(context, services.onboarding, redisUrl);
  const accessJobs = await startAccessJobs(context, services.access);
  const internal = buildInternalApp(context, services, {
    internalToken: config.internalToken,
    tls: config.internalListen.startsWith('unix:') ? null : config.internalTls,
    writer: { clusterResources, listenerResources, secretResources },
    credentials: config.credentials,
  });
  const operator = buildOperatorApp(context, services);
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
