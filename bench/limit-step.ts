/**
 * The decision of a call's limits as the gRPC server asks for it, on a Valkey of its own.
 *
 * The processor time of Valkey is not counted, being that of another process; sending the command and reading the reply is.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openAdmission } from '@gw/ext-authz/internals/limits/admission';
import { makeShouldRateLimit } from '@gw/ext-authz/internals/should-rate-limit';
import { createLimitMetrics } from '@gw/service/limits/limit-metrics';
import { openLimiter } from '@gw/service/limits/limiter';
import { openLog } from '@gw/service/log';
import { openRedisWriter } from '@gw/service/redis-writer';
import { startValkey } from '@gw/stack/services/valkey';
import { decideLimitUs, type Step } from './micro.ts';

/** Calls that are decided at once where a gateway has work; then one turn of the event loop serves several. */
const atOnce = 16;
const most = 1_000_000;

export async function startLimitStep(): Promise<{ readonly step: Step; stop(): Promise<void> }> {
  const dir = mkdtempSync(join(tmpdir(), 'gw-bench-limits-'));
  const log = openLog('bench', 'silent');
  const valkey = await startValkey({ dir, log: () => undefined, durable: false });
  const redis = openRedisWriter({ url: valkey.url, log, commandTimeoutMs: Number.POSITIVE_INFINITY });
  await redis.untilReady(5000);
  const monotonic = () => performance.now();
  const limiter = openLimiter({ redis, now: Date.now, monotonic, instances: 1, log, patienceMs: 5000, probeMs: 100 });
  const metrics = createLimitMetrics({ log, now: monotonic, local: limiter.local });
  const decide = makeShouldRateLimit({
    admission: openAdmission({ limiter, metrics, giveBack: () => undefined }),
    addresses: { baseUrl: '', statusUrl: '', auditEmail: '', securityEmail: '' },
  });
  const fields = {
    account_id: 'acct_bench',
    limits: JSON.stringify({ account: [most, most, 1000 * most], body: [most, most] }),
    kind: 'calls',
  };
  const call = { descriptors: [{ entries: Object.entries(fields).map(([key, value]) => ({ key, value })) }] };
  const several = () => Promise.all(Array.from({ length: atOnce }, () => decide(call)));

  // A step that refuses, or that is decided without Redis, would measure something else.
  if ((await several()).some(({ overallCode }) => overallCode !== 1) || limiter.local())
    throw new Error('The limits of the benchmark do not admit its calls.');
  return {
    step: { name: 'decide the limits of a call', run: several, limitUs: decideLimitUs, calls: atOnce },
    stop: async () => {
      limiter.stop();
      redis.stop();
      await valkey.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
