/** `GET /healthz`, and for operators `GET /metrics`. */
import { serviceMetrics } from '@gw/service/metrics';
import type { FastifyInstance } from 'fastify';
import type { Context } from './context.ts';
import { countFaults, isCheckOverdue } from './integrity/faults.ts';
import { registerIntegrity } from './integrity/gauges.ts';
import { unscreenedCount } from './onboarding/unscreened-count.ts';

export interface Health {
  readonly postgres: boolean;
  readonly redis: boolean;
  readonly catalogue: boolean;
}

const probeMs = 2000;

/**
 * `short`, for clients: whether the gateway answers, and nothing about its parts. `detailed`, for operators: 503 with
 * what is missing. Clients get 200 as long as this process answers, since most reads survive the loss of one store.
 */
export function healthRoute(app: FastifyInstance, context: Context, kind: 'short' | 'detailed'): void {
  // On the operators' port, whose guard asks: the monitoring system has no login.
  const config = { access: { kind: 'public' }, anyQuery: true } as const;
  app.get('/healthz', { config }, async (_request, reply) => {
    if (kind === 'short') return { status: 'ok' };
    const { db, fullCheckS } = context;
    const [health, faults, overdue] = await Promise.all([
      probe(context),
      bounded(countFaults(db)),
      bounded(isCheckOverdue(db, fullCheckS)),
    ]);
    const ok = health.postgres && health.redis && health.catalogue;
    // A restart mends no record, so what was altered makes the state degraded and leaves the status at 200.
    const isWhole = (faults === null || faults.audit + faults.receipt === 0) && overdue !== true;
    const integrity = {
      audit_chain_faults: faults?.audit ?? null,
      receipt_integrity_faults: faults?.receipt ?? null,
      integrity_check_overdue: overdue,
    };
    const status = ok ? (isWhole ? 'ok' : 'degraded') : 'unavailable';
    return reply.code(ok ? 200 : 503).send({ status, ...health, ...integrity });
  });
  if (kind === 'short') return;
  const metrics = serviceMetrics('control-plane', async () => ({ ...(await probe(context)) }));
  context.versionCounts.register(metrics);
  metrics.registerMetric(unscreenedCount(context.db));
  registerIntegrity(metrics, context.db);
  app.get('/metrics', { config }, async (_request, reply) =>
    reply.type(metrics.contentType).send(await metrics.metrics()),
  );
}

async function probe({ db, redis, catalogue }: Context): Promise<Health> {
  const [postgres, redisAnswers] = await Promise.all([answers(db.$queryRaw`SELECT 1`), answers(redis.ping())]);
  return { postgres, redis: redisAnswers, catalogue: catalogue.current() !== null };
}

const answers = async (question: PromiseLike<unknown>): Promise<boolean> => (await bounded(question)) !== null;

/** Null if there is no answer in time. */
function bounded<T>(question: PromiseLike<T>): Promise<T | null> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(null), probeMs);
    const settle = (answer: T | null): void => {
      clearTimeout(timer);
      resolve(answer);
    };
    question.then(settle, () => settle(null));
  });
}
