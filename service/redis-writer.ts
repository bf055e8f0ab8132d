/**
 * A connection to Redis (Valkey) for commands of the hot path, for which the client of all other commands costs more than they do:
 * all commands of one turn of the event loop leave in one write, and there is one promise for each group of them.
 *
 * Invariants: replies come in the order of the commands. While the connection is away, commands fail at once and are not queued; when it
 * breaks, those without a reply fail, and may have been carried out. It reconnects for ever, and breaks a connection that has not
 * answered for ten seconds: what waits there would fill the memory.
 */
import { EventEmitter, once } from 'node:events';
import { createConnection, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Logger } from './log.ts';
import { type Command, textOf } from './redis-commands.ts';
import { openQueue } from './redis-queue.ts';
import { type Reply, readReplies } from './redis-replies.ts';

export type { Command } from './redis-commands.ts';
export type { Reply } from './redis-replies.ts';

export interface RedisWriter {
  /**
   * Sends commands one behind the other. Resolves with their replies; rejects if one of them is an error, if the connection is away or
   * breaks, or if Redis takes longer than the time-out.
   */
  send(...commands: readonly Command[]): Promise<readonly Reply[]>;
  /** The same without a time-out, for who is patient by a clock of its own: what fails here was not sent, or its connection broke. */
  readonly patient: Pick<RedisWriter, 'send'>;
  readonly isReady: () => boolean;
  /** Makes the connection anew, at once. */
  renew(): void;
  /** Resolves when it is ready, or after `waitMs` even if it is not: a service also starts without Redis. */
  untilReady(waitMs: number): Promise<void>;
  /** What was sent before still leaves. */
  stop(): void;
}

export interface RedisWriterOptions {
  /** `redis://…`, `rediss://…`, or the path of a Unix socket. */
  readonly url: string;
  readonly log: Logger;
  /** Infinity: none, for who is patient by a clock of its own. */
  readonly commandTimeoutMs: number;
}

const connectTimeoutMs = 2000;
const longestRetryMs = 1000;
const timeoutEveryMs = 100;
const longestSilenceMs = 10_000;
/** What keeps NAT and load balancers from forgetting a connection, or shows that they have. */
const keepAliveMs = 30_000;
/** How long what was sent before the end has to leave. */
const lastWordsMs = 2000;

const nothing = (): void => undefined;

export function openRedisWriter({ url, log, commandTimeoutMs }: RedisWriterOptions): RedisWriter {
  const place = placeOf(url);
  let connection: Connection | null = null;
  let attempt = 0;
  let away = false;
  let isStopped = false;
  let retry: NodeJS.Timeout | undefined;
  const onceReady = new EventEmitter();

  const open = (): void => {
    const opened = openConnection(place, commandTimeoutMs, {
      onReady: () => {
        connection = opened;
        attempt = 0;
        onceReady.emit('ready');
        if (away) log.info('Redis is back');
        away = false;
      },
      onClose: (error) => {
        connection = null;
        if (isStopped) return;
        // One line for an outage, not one for each attempt.
        if (!away) log.warn({ err: error }, 'Redis is away');
        away = true;
        attempt += 1;
        retry = setTimeout(open, Math.min(50 * attempt, longestRetryMs));
      },
    });
    closeOpened = opened.close;
  };
  let closeOpened: () => void = nothing;
  open();

  const send = (commands: readonly Command[], isPatient: boolean): Promise<readonly Reply[]> =>
    connection === null ? Promise.reject(new Error('Redis is away.')) : connection.send(commands, isPatient);

  return {
    send: (...commands) => send(commands, false),
    patient: { send: (...commands) => send(commands, true) },
    isReady: () => connection !== null,
    renew: () => closeOpened(),
    async untilReady(waitMs) {
      if (connection !== null) return;
      await once(onceReady, 'ready', { signal: AbortSignal.timeout(waitMs) }).catch(nothing);
    },
    stop() {
      isStopped = true;
      clearTimeout(retry);
      if (connection === null) closeOpened();
      else connection.end();
      connection = null;
    },
  };
}

interface Place {
  readonly connect: () => Socket;
  /** The event by which the socket says that it can be written to. */
  readonly connected: 'connect' | 'secureConnect';
  /** What has to be sent before anything else. */
  readonly hello: readonly Command[];
}

/** Throws for a URL that names no Redis. */
function placeOf(url: string): Place {
  if (url.startsWith('/')) return { connect: () => createConnection(url), connected: 'connect', hello: [] };
  const { hostname, password, pathname, port, protocol, username } = new URL(url);
  if (protocol !== 'redis:' && protocol !== 'rediss:') throw new Error(`Redis cannot be reached by ${protocol}.`);
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const at = { host, port: Number(port || 6379) };
  const user = username === '' ? [] : [decodeURIComponent(username)];
  const auth = password === '' ? [] : [['AUTH', ...user, decodeURIComponent(password)]];
  const database = pathname.slice(1);
  const hello = [...auth, ...(database === '' ? [] : [['SELECT', database]])];
  return protocol === 'redis:'
    ? {
        connect: () => createConnection({ ...at, noDelay: true, keepAlive: true, keepAliveInitialDelay: keepAliveMs }),
        connected: 'connect',
        hello,
      }
    : {
        connect: () =>
          connectTls({ ...at, ...(isIP(host) === 0 && { servername: host }) })
            .setNoDelay(true)
            .setKeepAlive(true, keepAliveMs),
        connected: 'secureConnect',
        hello,
      };
}

interface Connection {
  readonly send: (commands: readonly Command[], isPatient: boolean) => Promise<readonly Reply[]>;
  readonly close: () => void;
  /** The same, when what was sent has left. */
  readonly end: () => void;
}

interface ConnectionEvents {
  readonly onReady: () => void;
  readonly onClose: (error: Error) => void;
}

function openConnection(place: Place, commandTimeoutMs: number, { onClose, onReady }: ConnectionEvents): Connection {
  const socket = place.connect();
  const waiting = openQueue();
  let out = '';
  let failure = new Error('Redis closed the connection.');
  const flush = (): void => {
    const text = out;
    out = '';
    if (text !== '') socket.write(text, 'latin1');
  };
  const send = (commands: readonly Command[], isPatient: boolean): Promise<readonly Reply[]> => {
    // First all, then any: of a group that cannot be written nothing is sent.
    const text = commands.map(textOf).join('');
    if (out === '') setImmediate(flush);
    out += text;
    return new Promise((resolve, reject) =>
      waiting.add({
        replies: [],
        size: commands.length,
        sentAt: performance.now(),
        isPatient,
        resolve,
        reject,
      }),
    );
  };
  const fail = (error: Error): void => {
    failure = error;
    socket.destroy();
  };

  const connecting = setTimeout(() => fail(new Error('Redis did not answer in time.')), connectTimeoutMs);
  const watch = setInterval(() => {
    const now = performance.now();
    waiting.giveUpBefore(now - commandTimeoutMs);
    if (now - (waiting.oldestSentAt() ?? now) > longestSilenceMs) fail(new Error('Redis does not answer.'));
  }, timeoutEveryMs);
  socket.setEncoding('latin1');
  socket.on('data', readReplies(waiting.take, fail));
  socket.on('error', (error) => {
    failure = error;
  });
  socket.on('close', () => {
    clearTimeout(connecting);
    clearInterval(watch);
    waiting.failAll(failure);
    onClose(failure);
  });
  socket.once(place.connected, () => {
    // A server that is reading its file answers this with an error, and is not ready.
    send([...place.hello, ['PING']], false)
      .then(() => {
        clearTimeout(connecting);
        onReady();
      })
      .catch(fail);
  });
  const end = (): void => {
    flush();
    socket.end();
    setTimeout(() => socket.destroy(), lastWordsMs).unref();
  };
  return { send, close: () => socket.destroy(), end };
}
