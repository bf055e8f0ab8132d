/** The simulated provider as an HTTP server. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { chatReply } from './chat.ts';
import { completionReply } from './completions.ts';
import { deliver, type Timing } from './deliver.ts';
import { type Directives, isBadDirective, plainDirectives, readDirectives } from './directives.ts';
import { type Echo, echoOf } from './echo.ts';
import { embeddingReply } from './embeddings.ts';
import { applyFaults } from './faults.ts';
import { Holds } from './holds.ts';
import { messageCountReply, messageReply } from './messages.ts';
import { inMessagesForm } from './messages-form.ts';
import { CREATED, modelList, models } from './models.ts';
import { errorReply, jsonReply, type Reply } from './reply.ts';
import { createRequestLog, type LogEntry, type RequestLog } from './request-log.ts';
import { responseReply } from './responses.ts';
import { bodyHash } from './seed.ts';

const MAX_BODY_BYTES = 64 * 1024 * 1024;

type Endpoint = (body: Buffer, directives: Directives, echo: Echo) => Reply;
const endpoints: ReadonlyMap<string, Endpoint> = new Map([
  ['chat/completions', chatReply],
  ['completions', completionReply],
  ['embeddings', embeddingReply],
  ['responses', responseReply],
  ['messages', messageReply],
  ['messages/count_tokens', messageCountReply],
]);

/** `/v1/x` is the site "" and the rest "x"; `/paris/v1/x` is the site "paris". Null if it is not a path of the API. */
function readPath(path: string): { site: string; rest: string } | null {
  if (path.startsWith('/v1/')) return { site: '', rest: path.slice(4) };
  const match = /^\/([A-Za-z0-9_-]+)\/v1\/(.+)$/.exec(path);
  return match?.[1] === undefined || match[2] === undefined ? null : { site: match[1], rest: match[2] };
}

function modelReply(rest: string): Reply | null {
  if (rest === 'models') return jsonReply(modelList);
  const id = rest.startsWith('models/') ? rest.slice('models/'.length) : '';
  if (!models.has(id)) return null;
  return jsonReply({ id, object: 'model', created: CREATED, owned_by: 'simulator' });
}

function answer(method: string, rest: string, body: Buffer, directives: Directives, echo: Echo): Reply {
  const endpoint = endpoints.get(rest);
  if (endpoint !== undefined) {
    return method === 'POST' ? endpoint(body, directives, echo) : errorReply(405, 'Use POST.');
  }
  const reply = modelReply(rest);
  if (reply === null) return errorReply(404, `There is nothing at /v1/${rest}.`);
  return method === 'GET' ? reply : errorReply(405, 'Use GET.');
}

function readBody(req: IncomingMessage, done: (body: Buffer | null) => void): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  req.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    // The rest is read and dropped, so that the client can read the error.
    if (bytes <= MAX_BODY_BYTES) chunks.push(chunk);
    else chunks.length = 0;
  });
  req.on('end', () => {
    const [first] = chunks;
    if (bytes > MAX_BODY_BYTES) done(null);
    else done(chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks));
  });
}

function watchOutcome(res: ServerResponse, entry: LogEntry, breaks: () => boolean): void {
  res.once('close', () => {
    entry.status = res.headersSent ? res.statusCode : null;
    if (res.writableFinished) entry.outcome = 'complete';
    else entry.outcome = breaks() ? 'broken_by_simulator' : 'closed_by_client';
  });
}

/** Answers `/healthz`, the log and the release of held replies, which are not logged. Null for the provider's API. */
function ownReply(path: string, log: RequestLog, holds: Holds): Reply | null {
  if (!URL.canParse(path, 'http://simulator')) return null;
  const url = new URL(path, 'http://simulator');
  const marker = url.searchParams.get('marker');
  switch (url.pathname) {
    case '/healthz':
      return jsonReply({ status: 'ok' });
    case '/sim/count':
      return jsonReply(log.count(marker));
    case '/sim/requests':
      return jsonReply({ requests: log.last(Number(url.searchParams.get('limit') ?? 100) || 0, marker) });
    case '/sim/release':
      if (marker !== null) holds.release(marker);
      return jsonReply({});
    default:
      return null;
  }
}

/** A failure of the simulator, such as on a body nested too deeply, is a 500. */
function answerSafely(make: () => Reply): Reply {
  try {
    return make();
  } catch (error) {
    return errorReply(500, `The simulator failed: ${error instanceof Error ? error.message : 'unknown'}`);
  }
}

function handleCall(
  req: IncomingMessage,
  res: ServerResponse,
  target: { site: string; rest: string },
  log: RequestLog,
  timing: Timing,
): void {
  const { method = 'GET', url: path = '/' } = req;
  const entry = log.add(method, path, req.rawHeaders);
  const read = readDirectives(req.headers, target.site);
  const directives = isBadDirective(read) ? plainDirectives : read;
  watchOutcome(res, entry, () => directives.faults.has('cut') || directives.faults.has('reset'));
  readBody(req, (body) => {
    entry.bodyBytes = body?.length ?? MAX_BODY_BYTES;
    entry.bodySha256 = body === null ? null : bodyHash(body);
    const reply = answerSafely(() => {
      if (isBadDirective(read)) return errorReply(400, read.message, read.header);
      if (body === null) return errorReply(413, 'The body is too large.');
      const echo = echoOf(directives, path, req.rawHeaders, body);
      const made = applyFaults(answer(method, target.rest, body, directives, echo), directives);
      return target.rest.startsWith('messages') ? inMessagesForm(made) : made;
    });
    deliver(res, reply, directives, timing);
  });
}

/** `now` is a monotonic clock in milliseconds for the pace of streams. */
export function createSimulator(now: () => number): Server {
  const log = createRequestLog();
  const timing = { now, holds: new Holds() };
  const server = createServer((req, res) => {
    const rawPath = req.url ?? '/';
    const query = rawPath.indexOf('?');
    const target = readPath(query < 0 ? rawPath : rawPath.slice(0, query));
    if (target !== null) {
      handleCall(req, res, target, log, timing);
    } else {
      const reply = ownReply(rawPath, log, timing.holds) ?? errorReply(404, 'There is nothing here.');
      deliver(res, reply, plainDirectives, timing);
    }
  });
  // No keep-alive time-out, since closing an idle connection of a proxy races with its next request.
  server.keepAliveTimeout = 0;
  return server;
}
