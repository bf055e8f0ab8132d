/** `GET /healthz`, and for operators `GET /metrics`. */
import { apiError } from '@gw/contract/errors';
import { healthSchema } from '@gw/contract/management';
import { serviceMetrics } from '@gw/service/metrics';
import type { FastifyInstance } from 'fastify';
import type { Registry } from 'prom-client';
import { z } from 'zod';
import {
  type CatalogueView,
  deploymentsNeedingOperator,
  registerMetrics as registerCatalogueMetrics,
} from './catalogue/index.ts';
import { unscreenedCount } from './customers/index.ts';
import { countFaults, countWaiting, isCheckOverdue, readAlarm, registerMetrics } from './ledger/index.ts';
import { registerMetrics as registerPeopleMetrics } from './people/index.ts';
import { secretNames } from './secrets/watch.ts';
import type { Services } from './services.ts';
import { type Context, inRole } from './shared/context.ts';
import { refuse } from './shared/replies.ts';

/** Which stores answer within 2 s and take writes, and whether a catalogue is loaded. */
export interface Health {
  readonly postgres: boolean;
  readonly redis: boolean;
  readonly catalogue: boolean;
}

const probeMs = 2000;

// On the operators' port, whose guard asks: the monitoring system has no login.
const config = { access: { kind: 'public' }, anyQuery: true } as const;

const operatorHealthSchema = z.strictObject({
  status: z
    .enum(['ok', 'degraded', 'unavailable'])
    .describe(
      '`degraded`: records were altered, were not checked for too long, could not be stored, were lost by a Postgres that went back in time, or `degraded` names something else; `unavailable`: a part is missing',
    ),
  postgres: z.boolean(),
  redis: z.boolean(),
  catalogue: z.boolean(),
  secrets_unfit: z
    .array(z.enum(secretNames))
    .describe(
      'Secrets that are not those of the stored data. The keys of the ledger and of evidence make the instance `unavailable`',
    ),
  deployments_needing_operator: z
    .int()
    .nullable()
    .describe('Deployments whose providers refuse the credential or do not know the model. Null: not known'),
  audit_chain_faults: z.int().nullable().describe('That nobody has acknowledged. Null: not known'),
  receipt_integrity_faults: z.int().nullable().describe('That nobody has acknowledged. Null: not known'),
  receipt_log_faults: z.int().nullable().describe('That nobody has acknowledged. Null: not known'),
  receipt_batch_faults: z.int().nullable().describe('That nobody has acknowledged. Null: not known'),
  receipt_archive_faults: z.int().nullable().describe('That nobody has acknowledged. Null: not known'),
  evidence_pack_faults: z.int().nullable().describe('That nobody has acknowledged. Null: not known'),
  ledger_witness_faults: z
    .int()
    .nullable()
    .describe(
      'Minutes in which the ledger and the count of calls differ, and that nobody has acknowledged. Null: not known',
    ),
  degraded: z
    .record(z.string(), z.string())
    .describe(
      'What else is wrong at the moment, by its name in `gw_degraded`: a sentence with its cause and its cure. `redis` and `postgres` take no writes',
    ),
  integrity_check_overdue: z.boolean().nullable().describe('Null: not known'),
  postgres_went_back: z
    .boolean()
    .nullable()
    .describe(
      'Postgres lacks what it had acknowledged, or is another one, and no operator has confirmed it. Null: not known',
    ),
  ledger_waiting: z.int().nullable().describe('Receipts that wait in Redis for Postgres. Null: not known'),
  ledger_set_aside: z
    .int()
    .nullable()
    .describe('Entries that could not be stored and wait for a human. Null: not known'),
});

/**
 * For Envoy: whether this instance shall have calls, and nothing about its parts, since most reads survive the loss of one
 * store. A 503 means only "rather another one": Envoy asks all the same where no instance says 200.
 */
export function shortHealthRoute(app: FastifyInstance, { addresses }: Context, isServing: () => boolean): void {
  app.get('/healthz', { config: { ...config, reply: healthSchema } }, async (_request, reply) =>
    isServing() ? { status: 'ok' } : refuse(reply, apiError('overloaded'), addresses),
  );
}

/** The metrics for Prometheus. */
export function controlPlaneMetrics(
  context: Context,
  { catalogue, certificates, ledger, people, secrets }: Services,
): Registry {
  const metrics = serviceMetrics('control-plane', async () => ({
    ...(await probe(context, catalogue.keeper)),
    ...certificates.details(),
    event_loop: true,
  }));
  certificates.register(metrics);
  secrets.register(metrics);
  metrics.registerMetric(unscreenedCount(inRole(context, 'customers').db));
  registerCatalogueMetrics(metrics, catalogue);
  registerMetrics(metrics, context, ledger);
  context.troubles.register(metrics);
  registerPeopleMetrics(metrics, people);
  return metrics;
}

/** Registers the health for operators, which is 503 if a part is missing or this instance leaves, and the metrics unless they are elsewhere. */
export function operatorHealthRoutes(
  app: FastifyInstance,
  context: Context,
  { catalogue, ledger, secrets }: Services,
  { stays, metrics }: { readonly stays: () => boolean; readonly metrics: Registry | null },
): void {
  const { db, redis, troubles } = context;
  app.get('/healthz', { config: { ...config, reply: operatorHealthSchema } }, async (_request, reply) => {
    const [health, faults, overdue, waiting, needing, back] = await Promise.all([
      probe(context, catalogue.keeper),
      bounded(countFaults(db, ledger.seals)),
      bounded(isCheckOverdue(db, ledger.checkPeriodS)),
      bounded(countWaiting(redis)),
      bounded(deploymentsNeedingOperator(context)),
      bounded(readAlarm(redis).then((alarm) => ({ is: alarm !== null }))),
    ]);
    const unfit = secrets.unfit();
    const ok = stays() && health.postgres && health.redis && health.catalogue && !secrets.isClosed();
    // A restart mends no record, so what was altered or set aside makes the state degraded and leaves the status at 200.
    const isUnaltered = (faults === null || Object.values(faults).every((count) => count === 0)) && overdue !== true;
    const degraded = troubles.current();
    const isWhole =
      isUnaltered &&
      !waiting?.setAside &&
      unfit.length === 0 &&
      back?.is !== true &&
      Object.keys(degraded).length === 0;
    const integrity = {
      secrets_unfit: [...unfit],
      deployments_needing_operator: needing,
      audit_chain_faults: faults?.audit ?? null,
      receipt_integrity_faults: faults?.receipt ?? null,
      receipt_log_faults: faults?.log ?? null,
      receipt_batch_faults: faults?.batch ?? null,
      receipt_archive_faults: faults?.archive ?? null,
      evidence_pack_faults: faults?.pack ?? null,
      ledger_witness_faults: faults?.minute ?? null,
      degraded,
      integrity_check_overdue: overdue,
      postgres_went_back: back?.is ?? null,
      ledger_waiting: waiting?.length ?? null,
      ledger_set_aside: waiting?.setAside ?? null,
    };
    const status = ok ? (isWhole ? 'ok' : 'degraded') : 'unavailable';
    return reply.code(ok ? 200 : 503).send({ status, ...health, ...integrity });
  });
  if (metrics === null) return;
  app.get('/metrics', { config: { ...config, reply: null } }, async (_request, reply) =>
    reply.type(metrics.contentType).send(await metrics.metrics()),
  );
}

async function probe({ db, redis, troubles }: Context, catalogue: CatalogueView): Promise<Health> {
  const answering = await Promise.all([answers(db.$queryRaw`SELECT 1`), answers(redis.ping())]);
  const refused = troubles.current();
  const [postgres, redisAnswers] = answering;
  return {
    postgres: postgres && !('postgres' in refused),
    redis: redisAnswers && !('redis' in refused),
    catalogue: catalogue.current() !== null,
  };
}

const answers = async (question: PromiseLike<unknown>): Promise<boolean> => (await bounded(question)) !== null;

/** Resolves to null if there is no answer within 2 s, or an error. */
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
