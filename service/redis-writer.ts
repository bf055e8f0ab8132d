/**
 * A connection to Redis (Valkey) for commands of the hot path, for which the client of all other commands costs more than they do:
 * all commands of one turn of the event loop leave in one write, and there is one promise for each group of them.
 *
 * Invariants: replies come in the order of the commands. While the connection is away, commands fail at once and are not queued; when it
 * breaks, those without a reply fail, and may have been carried out. It reconnects for ever.
 */
import { EventEmitter, once } from 'node:events';
import { createConnection, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Logger } from './log.ts';
import { type Command, textOf } from './redis-commands.ts';
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
  /** Makes the connection anew: that of an other end which has vanished without a word would never break by itself. */
  renew(): void;
  /** Resolves when it is ready, or after `waitMs` even if it is not: a service also starts without Redis. */
  untilReady(waitMs: number): Promise<void>;
  stop(): void;
}

export interface RedisWriterOptions {
  /** `redis://…`, `rediss://…`, or the path of a Unix socket. */
  readonly url: string;
  readonly log: Logger;
  /** Infinity: none, for who is patient by a clock of its own. */
  readonly commandTimeoutMs: number;
}

interface Group {
  readonly replies: Reply[];
  readonly size: number;
  /** Null: it is waited for without a time-out. */
  readonly sentAt: number | null;
  readonly resolve: (replies: readonly Reply[]) => void;
  readonly reject: (error: Error) => void;
}

const connectTimeoutMs = 2000;
const longestRetryMs = 1000;
const timeoutEveryMs = 100;

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
      closeOpened();
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
    ? { connect: () => createConnection({ ...at, noDelay: true }), connected: 'connect', hello }
    : {
        connect: () => connectTls({ ...at, ...(isIP(host) === 0 && { servername: host }) }).setNoDelay(true),
        connected: 'secureConnect',
        hello,
      };
}

interface Connection {
  readonly send: (commands: readonly Command[], isPatient: boolean) => Promise<readonly Reply[]>;
  readonly close: () => void;
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
    socket.write(text, 'latin1');
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
        sentAt: isPatient ? null : performance.now(),
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
  const watch = setInterval(() => waiting.giveUpBefore(performance.now() - commandTimeoutMs), timeoutEveryMs);
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
  return { send, close: () => socket.destroy() };
}

/** Groups whose replies are still to come, in the order in which they were sent. */
function openQueue() {
  const groups: (Group | undefined)[] = [];
  let head = 0;
  const first = (): Group | undefined => groups[head];
  const shift = (): void => {
    groups[head] = undefined;
    head += 1;
    if (head < 1024) return;
    groups.splice(0, head);
    head = 0;
  };
  return {
    add: (group: Group): void => void groups.push(group),
    /** Returns whether a reply was waited for. */
    take(reply: Reply): boolean {
      const group = first();
      if (group === undefined) return false;
      group.replies.push(reply);
      if (group.replies.length < group.size) return true;
      shift();
      const error = group.replies.find((each) => each instanceof Error);
      if (error instanceof Error) group.reject(error);
      else group.resolve(group.replies);
      return true;
    },
    /** Those that were sent earlier fail; their replies are waited for all the same, so that the next ones find theirs. */
    giveUpBefore(time: number): void {
      for (let at = head; at < groups.length; at++) {
        const group = groups[at];
        if (group === undefined) return;
        if (group.sentAt === null) continue;
        if (group.sentAt > time) return;
        group.reject(new Error('Redis took too long.'));
      }
    },
    failAll(error: Error): void {
      for (; head < groups.length; head++) first()?.reject(error);
      groups.length = 0;
      head = 0;
    },
  };
}
