/** Wires the sidecar together. */
import { hostname } from 'node:os';
import { join } from 'node:path';
import { serveEnvoy } from '@gw/envoy/rpc/server';
import { serveHealth } from '@gw/service/health';
import { openLog } from '@gw/service/log';
import { openRedis, untilReady } from '@gw/service/redis';
import { readAccessLog } from './access-log.ts';
import { Call } from './call.ts';
import type { Config } from './config.ts';
import { openEnds, redisEnds } from './ends.ts';
import { openSpool } from './ledger/spool.ts';
import { openLedgerWriter } from './ledger/writer.ts';
import { createReceiptCounts } from './receipt-counts.ts';
import { holdCatalogue } from './snapshot.ts';

/** How long the access log may take to say how a call ended. */
const endsWaitMs = 2000;

export async function startSidecar(config: Config) {
  const log = openLog('receipt-sidecar', config.logLevel);
  // The ledger's writer has a shorter patience of its own.
  const redis = openRedis(config.redisUrl, log, { commandTimeoutMs: 1000, autoPipelining: true });
  // The catalogue is read over a connection of its own, with time for a large value.
  const subscriber = openRedis(config.redisUrl, log);
  const reader = openRedis(config.redisUrl, log, { commandTimeoutMs: 5000 });
  await Promise.all([redis, subscriber, reader].map((connection) => untilReady(connection, 2000)));

  const spool = await openSpool(config.spoolDir, hostname());
  const catalogue = holdCatalogue({
    redis: reader,
    subscriber,
    pollMs: 1000,
    file: join(config.spoolDir, 'catalogue.json'),
    log,
  });
  const ledger = openLedgerWriter({ redis, spool, now: Date.now, log });
  const counts = createReceiptCounts(ledger.counts);
  const ends = openEnds(endsWaitMs, redisEnds(redis));
  const context = {
    addresses: config.addresses,
    catalogue: catalogue.current,
    checks: [],
    ledger,
    counts,
    ends,
    now: Date.now,
    upstreamTimeoutS: config.upstreamTimeoutS,
    firstByteTimeoutS: config.firstByteTimeoutS,
  };

  const server = await serveEnvoy(
    config.listen,
    config.internalToken,
    { openProcessor: (call) => new Call(context, call), accessLog: (message) => readAccessLog(message, ends, ledger) },
    (fault) =>
      log.error({ fault: fault instanceof Error ? (fault.stack ?? fault.message) : String(fault) }, 'a call failed'),
    config.internalTls,
  );
  const report = () => ({
    ok: catalogue.current() !== null,
    details: { catalogue: catalogue.current() !== null, redis: redis.status === 'ready' },
  });
  const health = config.healthListen
    ? await serveHealth('receipt-sidecar', config.healthListen, report, counts.register)
    : null;
  log.info({ listen: config.listen }, 'ready');

  return {
    log,
    stop: async () => {
      await server.close(5000);
      await health?.close();
      catalogue.stop();
      await ledger.stop();
      for (const connection of [redis, subscriber, reader]) connection.disconnect();
    },
  };
}
