/** Builds the two HTTP applications of the control plane. Listening is the server's business. */
import type { RequestListener, Server } from 'node:http';
import { createServer } from 'node:https';
import { apiError } from '@gw/contract/errors';
import type { InternalTls } from '@gw/contract/internal/environment';
import { openApiDocument } from '@gw/contract/openapi';
import { internalTlsOptions } from '@gw/envoy/rpc/internal-tls';
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import { validatorCompiler } from 'fastify-type-provider-zod';
import { catalogueRoutes } from './catalogue/routes.ts';
import type { Context } from './context.ts';
import { healthRoute } from './health.ts';
import { demandToken } from './identity.ts';
import { receiptRoutes } from './receipts/routes.ts';
import { handleErrors, refuse, sendJson } from './replies.ts';
import { usageRoutes } from './usage/routes.ts';
import { type XdsOptions, xdsRoutes } from './xds/routes.ts';

export interface InternalOptions extends XdsOptions {
  readonly internalToken: string;
  /** Both sides show a certificate; null: plain, or a Unix socket. */
  readonly tls?: InternalTls | null;
}

/** What only Envoy may reach: the reads of the public API, and Envoy's own configuration. */
export function buildInternalApp(context: Context, options: InternalOptions): FastifyInstance {
  const app = bareApp(context, options.tls ?? null);
  demandToken(app, options.internalToken, context);
  healthRoute(app, context, 'short');
  const document = JSON.stringify(openApiDocument(context.addresses.baseUrl));
  app.get('/openapi.json', (_request, reply) => sendJson(reply, document));
  catalogueRoutes(app, context);
  receiptRoutes(app, context);
  usageRoutes(app, context);
  xdsRoutes(app, context, options);
  return app;
}

/** The operators' port. */
export function buildOperatorApp(context: Context): FastifyInstance {
  const app = bareApp(context);
  healthRoute(app, context, 'detailed');
  return app;
}

/** Longer than Envoy keeps an idle connection, so that this side never closes one in use. */
const keepAliveTimeoutMs = 3_660_000;

function listener(tls: InternalTls): (handle: RequestListener) => Server {
  const options = internalTlsOptions(tls);
  return (handle) => {
    const server = createServer(options, handle);
    server.keepAliveTimeout = keepAliveTimeoutMs;
    // The same for Fastify: it only listens and closes.
    return server as unknown as Server;
  };
}

function bareApp(context: Context, tls: InternalTls | null = null): FastifyInstance {
  const logger: FastifyBaseLogger = context.log;
  const app = Fastify({
    loggerInstance: logger,
    ...(tls ? { serverFactory: listener(tls) } : {}),
    // Envoy writes the access log; a second line per request would double its cost.
    logController: new LogController({ disableRequestLogging: true }),
    // A path that can not be decoded never reaches the error handler.
    frameworkErrors: (_fault, _request, reply) => refuse(reply, apiError('invalid_request'), context.addresses),
    requestIdHeader: 'x-request-id',
    bodyLimit: 64 * 1024,
    keepAliveTimeout: keepAliveTimeoutMs,
    requestTimeout: 30_000,
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: 1024 },
  });
  app.setValidatorCompiler(validatorCompiler);
  handleErrors(app, context.addresses);
  return app;
}
