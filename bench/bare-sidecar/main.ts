/**
 * Runs in place of the sidecar, and does none of its work: it reads, decides, counts and stores nothing of a call. What the gateway takes
 * with it is what the gateway's way takes, in Envoy and in the transport, whatever is done behind it.
 *
 * Nobody can be served by it: every client gets the same receipt of nothing.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { serveEnvoy } from '@gw/grpc/server';
import { holdCatalogue } from '@gw/receipt-sidecar/internals/catalogue/snapshot';
import { loadConfig } from '@gw/receipt-sidecar/internals/config';
import { serveHealth } from '@gw/service/health';
import { openTroubles } from '@gw/service/health/troubles';
import { openLog } from '@gw/service/log';
import { runService } from '@gw/service/process';
import { openRedis } from '@gw/service/redis';
import { Answers, BareCall, type ChainOf } from './call.ts';
import { bareVariable } from './variable.ts';

async function start() {
  const { [bareVariable]: isWanted, ...environment } = process.env;
  if (isWanted !== 'yes')
    throw new Error('This is no sidecar but a part of the benchmarks: nobody can be served by it.');
  const config = loadConfig(environment);
  mkdirSync(config.spoolDir, { recursive: true });
  const log = openLog('bare-sidecar', config.logLevel);
  const [reader, subscriber] = [openRedis(config.redisUrl, log), openRedis(config.redisUrl, log)];
  const file = join(config.spoolDir, 'catalogue.json');
  const catalogue = holdCatalogue({ redis: reader, subscriber, pollMs: 1000, file, key: config.entryKey, log });
  const answers = new Answers();
  const chainOf: ChainOf = (model) => {
    const offered = catalogue.current()?.named.get(model)?.candidates ?? [];
    const [first, ...others] = offered.filter(({ deployment }) => deployment.firstAttempt);
    return first ? [first, ...others] : null;
  };
  const server = await serveEnvoy(
    config,
    {
      openProcessor: (call) => new BareCall(call, answers, chainOf),
      accessLog: () => undefined,
      isServing: () => catalogue.current() !== null,
    },
    (error) => log.error({ err: error }, 'a call failed'),
  );
  const report = () => ({ ok: catalogue.current() !== null, details: {} });
  const troubles = openTroubles(log, () => performance.now());
  const health = await serveHealth({ part: 'bare-sidecar', listeners: config.health, log, report, troubles });
  return {
    log,
    stop: async () => {
      await server.close(1000);
      await health.close();
      catalogue.stop();
      for (const connection of [reader, subscriber]) connection.disconnect();
    },
  };
}

await runService(start);
