/**
 * Serves the health of a service on a thread of its own, so that an event loop that stands still is told from one that works. Plain
 * JavaScript, since Node starts it as a file both from the sources and from the bundles.
 *
 * Invariant: each request is answered within seconds, whatever the service does.
 */
import { createServer } from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';
import { parseHostPort } from '@gw/contract/internal/listen';
import { isLoopback } from '@gw/contract/internal/loopback';
import { openLog } from '../log.ts';
import { foreignHost, ownHosts } from '../own-host.ts';

/** @import { AskedPath, FromHealthThread, HealthReply, HealthThreadData, ToHealthThread } from './health-messages.ts' */
/** @import { IncomingMessage, ServerResponse } from 'node:http' */

const port = parentPort;
if (port === null) throw new Error('This file has to run on a thread.');
/** @type {HealthThreadData} */
const { allowedHosts, listen, logLevel, metricsListen, part, times } = workerData;
const { deadAfterS, lookEveryMs, patienceMs, toldAfterS } = times;
const log = openLog(part, logLevel);
const isOwnHost = ownHosts(allowedHosts);

let turnedAt = performance.now();
let lookedAt = turnedAt;
let isTold = false;
const silentS = () => (performance.now() - turnedAt) / 1000;

const look = () => {
  const now = performance.now();
  // This thread was stopped as well, with the whole process or machine, which says nothing about the event loop.
  if (now - lookedAt > 3 * lookEveryMs) turnedAt = now;
  lookedAt = now;
  const isSilent = silentS() >= toldAfterS;
  if (!isTold && isSilent)
    log.error(
      { degraded: 'event_loop', silent_s: Math.round(silentS()) },
      `the event loop stands still: this process answers nothing; if it goes on, /livez is 503 after ${deadAfterS} s, so that the process is started again`,
    );
  if (isTold && !isSilent) log.info({ degraded: 'event_loop' }, 'the event loop turns again');
  isTold = isSilent;
};
setInterval(look, lookEveryMs);

/** @param {number} status @param {object} body @returns {HealthReply} */
const jsonReply = (status, body) => ({ status, contentType: 'application/json', body: JSON.stringify(body) });
/** @param {number} status @param {string} body @returns {HealthReply} */
const textReply = (status, body) => ({ status, contentType: 'text/plain', body: `${body}\n` });

const ownMetric = () =>
  `# HELP gw_event_loop_silent_seconds How long ago the event loop of the service turned last\n# TYPE gw_event_loop_silent_seconds gauge\ngw_event_loop_silent_seconds{part="${part}"} ${silentS().toFixed(1)}\n`;

/** The service has not answered. @param {AskedPath} path @returns {HealthReply} */
function withoutService(path) {
  const sentence = `The event loop has not turned for ${Math.round(silentS())} s. A process that stays like this has to be started again.`;
  if (path !== '/metrics')
    return jsonReply(503, { status: 'unavailable', event_loop: false, degraded: { event_loop: sentence } });
  const gauge = (/** @type {string} */ name, /** @type {string} */ label, /** @type {number} */ value) =>
    `# TYPE ${name} gauge\n${name}{${label}="event_loop",part="${part}"} ${value}\n`;
  return {
    status: 200,
    contentType: 'text/plain; version=0.0.4; charset=utf-8',
    body: gauge('gw_up', 'dependency', 0) + gauge('gw_degraded', 'cause', 1),
  };
}

/** @type {Map<number, (reply: HealthReply) => void>} */
const waiting = new Map();
let questions = 0;
/** @param {FromHealthThread} message */
const tell = (message) => port.postMessage(message);

/** @param {AskedPath} path @returns {Promise<HealthReply>} */
function fromService(path) {
  const question = questions++;
  return new Promise((resolve) => {
    const timer = setTimeout(() => settle(withoutService(path)), patienceMs[path]);
    const settle = (/** @type {HealthReply} */ reply) => {
      clearTimeout(timer);
      waiting.delete(question);
      resolve(reply);
    };
    waiting.set(question, settle);
    tell({ question, path });
  });
}

port.on('message', (/** @type {ToHealthThread} */ message) => {
  turnedAt = performance.now();
  if ('answerTo' in message) waiting.get(message.answerTo)?.(message.reply);
});

/** @param {string | undefined} path @param {'health' | 'metrics'} listener @returns {Promise<HealthReply>} */
async function replyTo(path, listener) {
  if (path === '/metrics' && listener === 'health' && !areMetricsHere)
    return textReply(
      404,
      'Metrics name accounts: they are on a listener of their own, which a setting GW_…_METRICS_LISTEN names.',
    );
  if (path === '/metrics') {
    const reply = await fromService(path);
    return { ...reply, body: reply.status === 200 ? reply.body + ownMetric() : reply.body };
  }
  if (listener === 'metrics') return textReply(404, 'Only /metrics is here.');
  if (path === '/livez') {
    const isDead = silentS() > deadAfterS;
    return jsonReply(isDead ? 503 : 200, { status: isDead ? 'stalled' : 'ok' });
  }
  if (path === '/readyz' || path === '/healthz') return fromService(path);
  return textReply(404, 'Here are /livez, /readyz and /healthz.');
}

/** Without a listener of their own they are where nobody but this machine gets. */
const areMetricsHere = metricsListen === null && listen !== null && isLoopback(parseHostPort(listen).host);

/** @param {IncomingMessage} request @param {ServerResponse} response @param {'health' | 'metrics'} listener */
async function answer(request, response, listener) {
  const { headers, method, url } = request;
  const reply = !isOwnHost(headers.host)
    ? textReply(400, foreignHost)
    : await replyTo(method === 'GET' ? url : undefined, listener);
  response.writeHead(reply.status, { 'content-type': reply.contentType, 'x-content-type-options': 'nosniff' });
  response.end(reply.body);
}

/** @param {string | null} address @param {'health' | 'metrics'} listener @returns {Promise<number>} The port; 0 without an address. */
async function serve(address, listener) {
  if (address === null) return 0;
  const server = createServer((request, response) => void answer(request, response, listener));
  await new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(parseHostPort(address), () => resolve(null));
  });
  const bound = server.address();
  return typeof bound === 'object' && bound ? bound.port : 0;
}

try {
  tell({ port: await serve(listen, 'health'), metricsPort: await serve(metricsListen, 'metrics') });
} catch (error) {
  tell({ failed: error instanceof Error ? error.message : String(error) });
}
