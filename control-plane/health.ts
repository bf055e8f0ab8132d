/** `GET /healthz`, and for operators `GET /metrics`. */
import { serviceMetrics } from '@gw/service/metrics';
import type { FastifyInstance } from 'fastify';
import type { Context } from './context.ts';
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
    const health = await probe(context);
    const ok = health.postgres && health.redis && health.catalogue;
    return reply.code(ok ? 200 : 503).send({ status: ok ? 'ok' : 'unavailable', ...health });
  });
  if (kind === 'short') return;
  const metrics = serviceMetrics('control-plane', async () => ({ ...(await probe(context)) }));
  context.versionCounts.register(metrics);
  metrics.registerMetric(unscreenedCount(context.db));
  app.get('/metrics', { config }, async (_request, reply) =>
    reply.type(metrics.contentType).send(await metrics.metrics()),
  );
}

async function probe({ db, redis, catalogue }: Context): Promise<Health> {
  const [postgres, redisAnswers] = await Promise.all([answers(db.$queryRaw`SELECT 1`), answers(redis.ping())]);
  return { postgres, redis: redisAnswers, catalogue: catalogue.current() !== null };
}

function answers(question: PromiseLike<unknown>): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), probeMs);
    const settle = (good: boolean) => () => {
      clearTimeout(timer);
      resolve(good);
    };
    question.then(settle(true), settle(false));
  });
}
