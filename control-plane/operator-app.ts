/**
 * Builds the HTTP application of the operators' port: `/session` to log in, `/operator/v1` for the platform team,
 * `/organisation/v1` for the admins of a customer, and the web pages for both.
 */
import { randomUUID } from 'node:crypto';
import cookies from '@fastify/cookie';
import { apiError } from '@gw/contract/errors';
import { foreignHost, ownHosts } from '@gw/service/own-host';
import type { FastifyInstance } from 'fastify';
import type { Registry } from 'prom-client';
import * as catalogue from './catalogue/index.ts';
import * as customers from './customers/index.ts';
import { dashboardRoutes } from './dashboard.ts';
import { controlPlaneMetrics, operatorHealthRoutes } from './health.ts';
import * as ledger from './ledger/index.ts';
import { liveRoute } from './live.ts';
import { openApiRoute } from './operator-openapi.ts';
import * as people from './people/index.ts';
import { secretRoutes } from './secrets/routes.ts';
import type { Services } from './services.ts';
import { bareApp } from './shared/bare-app.ts';
import { type Context, inRole } from './shared/context.ts';
import { refuse } from './shared/replies.ts';
import { demandReplySchemas } from './shared/reply-schemas.ts';
import { timeRoutes } from './times/routes.ts';

export interface OperatorAppOptions {
  /** False when it is about to end. */
  readonly stays?: () => boolean;
  /** The metrics that `/metrics` shows; null: they are elsewhere. */
  readonly metrics?: Registry | null;
}

/** Builds the application without listening. Its routes throw here if they do not state their access or their reply. */
export function buildOperatorApp(
  context: Context,
  services: Services,
  { metrics = controlPlaneMetrics(context, services), stays = () => true }: OperatorAppOptions = {},
): FastifyInstance {
  const { access } = services.people;
  const app = bareApp(context, {
    // The audit log holds it, so it is ours alone.
    requestIdHeader: false,
    genReqId: () => randomUUID(),
    trustProxy: [...access.settings.trustedProxies],
    tls: services.certificates.operators,
  });
  const isOwnHost = ownHosts([new URL(access.settings.controlUrl).hostname, ...access.settings.allowedHosts]);
  // Before all else, so that a page whose name was made to lead here does not even read the metrics.
  app.addHook('onRequest', async ({ headers }, reply) =>
    isOwnHost(headers.host)
      ? undefined
      : refuse(reply, apiError('invalid_request', { message: foreignHost }), context.addresses),
  );
  // Without its hook: a cookie is read where one is asked for.
  void app.register(cookies, { hook: false });
  app.addHook('onSend', async (request, reply) => {
    void reply.header('x-request-id', request.id);
    // Replies here are for one person, and some are shown once, so nothing is cached unless a route allows it.
    if (!reply.hasHeader('cache-control')) void reply.header('cache-control', 'no-store');
  });
  demandReplySchemas(app);
  people.guard(app, context, services.people, services.idempotency);
  openApiRoute(app, access.settings.controlUrl);
  dashboardRoutes(app, people.loginWords(services.people));
  operatorHealthRoutes(app, context, services, { stays, metrics });
  liveRoute(app, context);
  secretRoutes(app, services.secrets);
  timeRoutes(app, context);
  people.operatorRoutes(app, context, services.people);
  customers.operatorRoutes(app, context, services.customers, access);
  catalogue.operatorRoutes(app, inRole(context, 'catalogue'), services.catalogue);
  ledger.operatorRoutes(app, context, services.ledger, {
    catalogue: services.catalogue.keeper,
    keys: services.people.keys,
  });
  return app;
}
