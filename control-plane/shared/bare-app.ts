/** The base of both HTTP applications of the control plane. */
import type { RequestListener, Server } from 'node:http';
import { createServer } from 'node:https';
import { apiError } from '@gw/contract/errors';
import type { ServedCertificates } from '@gw/service/certificates';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyServerOptions,
  LogController,
} from 'fastify';
import { validatorCompiler } from 'fastify-type-provider-zod';
import type { Context } from './context.ts';
import { refuseUnknownQueries } from './query.ts';
import { handleErrors, refuse } from './replies.ts';

/** Longer than Envoy keeps an idle connection, so that this side never closes one in use. */
const keepAliveTimeoutMs = 3_660_000;
/**
 * Envoy lets through half of this and adds its own: what it has let through is never refused here, where Node has no
 * words.
 */
const maxHeaderSize = 64 * 1024;
const requestTimeoutMs = 30_000;

function listener(certificates: ServedCertificates): (handle: RequestListener) => Server {
  return (handle) => {
    const server = createServer({ ...certificates.current(), maxHeaderSize }, handle);
    certificates.follow(server);
    server.keepAliveTimeout = keepAliveTimeoutMs;
    server.requestTimeout = requestTimeoutMs;
    // The same for Fastify: it only listens and closes.
    return server as unknown as Server;
  };
}

export interface BareOptions
  extends Pick<FastifyServerOptions, 'requestIdHeader' | 'genReqId' | 'trustProxy' | 'exposeHeadRoutes'> {
  /** Null means plain HTTP, or a Unix socket. */
  readonly tls?: ServedCertificates | null;
}

/**
 * Builds an application without routes, which refuses what no route may get: unknown parameters, encoded
 * bodies. A body has 64 KiB at most unless a route says otherwise.
 */
export function bareApp(context: Context, { tls = null, ...options }: BareOptions = {}): FastifyInstance {
  const logger: FastifyBaseLogger = context.log;
  const app = Fastify({
    loggerInstance: logger,
    ...(tls ? { serverFactory: listener(tls) } : { http: { maxHeaderSize } }),
    // Envoy writes the access log; a second line per request would double its cost.
    logController: new LogController({ disableRequestLogging: true }),
    // A path that cannot be decoded never reaches the error handler.
    frameworkErrors: (_fault, _request, reply) =>
      refuse(reply.header('x-content-type-options', 'nosniff'), apiError('invalid_request'), context.addresses),
    requestIdHeader: 'x-request-id',
    bodyLimit: 64 * 1024,
    keepAliveTimeout: keepAliveTimeoutMs,
    requestTimeout: requestTimeoutMs,
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: 1024 },
    ...options,
  });
  app.setValidatorCompiler(validatorCompiler);
  app.addHook('onRequest', async ({ headers }, reply) => {
    void reply.header('x-content-type-options', 'nosniff');
    const encoding = headers['content-encoding']?.toLowerCase() ?? 'identity';
    // Else a body would be read as what it is not said to be.
    if (encoding === 'identity') return;
    return refuse(reply, apiError('invalid_content_type', { param: 'Content-Encoding' }), context.addresses);
  });
  app.addHook('onRequest', async ({ headers, raw }) => {
    // Many clients state a type with every request. Of a body that is not there it says nothing.
    const isEmpty = [undefined, '0'].includes(headers['content-length']) && headers['transfer-encoding'] === undefined;
    if (isEmpty) delete raw.headers['content-type'];
  });
  const parse = app.getDefaultJsonParser('error', 'error');
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body: string, done) => {
    // Chunked it can be empty as well.
    if (body === '') done(null, undefined);
    else void parse(request, body, done);
  });
  refuseUnknownQueries(app, context.addresses);
  handleErrors(app, context.addresses);
  return app;
}
