/**
 * A lean connection to Redis (Valkey) for the hot path, where ioredis costs more than the commands themselves: all commands of one turn
 * of the event loop leave in one write, and each group of commands has one promise.
 *
 * Invariants: replies come in the order of the commands. Without a connection, commands fail immediately and are not queued. When it
 * breaks, commands without a reply fail and may have been executed. It always reconnects, and closes a connection that has not answered
 * for ten seconds, because waiting commands would fill the memory.
 */
import { EventEmitter, once } from 'node:events';
import type { Socket } from 'node:net';
import { clusterOptions } from './redis-address.ts';
import { openClusterWriter } from './redis-cluster-writer.ts';
import { type Command, type RedisWriter, type RedisWriterOptions, textOf } from './redis-commands.ts';
import { openQueue } from './redis-queue.ts';
import { type Reply, readReplies } from './redis-replies.ts';
import { connectTimeoutMs, type RedisTarget, targetOf } from './redis-target.ts';

export type { Command, RedisWriter } from './redis-commands.ts';
export type { Reply } from './redis-replies.ts';

const longestRetryMs = 1000;
const timeoutEveryMs = 100;
const longestSilenceMs = 10_000;
/** How long commands sent before `stop` may take to be written. */
const lastWordsMs = 2000;

const nothing = (): void => undefined;

export function openRedisWriter({ url, log, commandTimeoutMs }: RedisWriterOptions): RedisWriter {
  if (clusterOptions(url) !== null) return openClusterWriter({ url, log, commandTimeoutMs });
  const target = targetOf(url);
  let connection: Connection | null = null;
  let attempt = 0;
  let away = false;
  let isStopped = false;
  let retry: NodeJS.Timeout | undefined;
  const onceReady = new EventEmitter();

  const closed = (error: Error): void => {
    connection = null;
    if (isStopped) return;
    if (!away) log.warn({ err: error }, 'Redis is unavailable');
    away = true;
    attempt += 1;
    retry = setTimeout(open, Math.min(50 * attempt, longestRetryMs));
  };
  const open = (): void => {
    let isGivenUp = false;
    closeOpened = () => {
      isGivenUp = true;
    };
    target.dial().then((socket) => {
      const opened = openConnection(socket, target, commandTimeoutMs, {
        onReady: () => {
          connection = opened;
          attempt = 0;
          onceReady.emit('ready');
          if (away) log.info('Redis is back');
          away = false;
        },
        onClose: closed,
      });
      closeOpened = opened.close;
      if (isGivenUp || isStopped) opened.close();
    }, closed);
  };
  let closeOpened: () => void = nothing;
  open();

  const send = (commands: readonly Command[], isPatient: boolean): Promise<readonly Reply[]> =>
    connection === null ? Promise.reject(new Error('Redis is unavailable.')) : connection.send(commands, isPatient);

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
      target.stop();
    },
  };
}

interface Connection {
  readonly send: (commands: readonly Command[], isPatient: boolean) => Promise<readonly Reply[]>;
  readonly close: () => void;
  /** Closes after the pending writes. */
  readonly end: () => void;
}

interface ConnectionEvents {
  readonly onReady: () => void;
  readonly onClose: (error: Error) => void;
}

function openConnection(
  socket: Socket,
  target: Pick<RedisTarget, 'connected' | 'hello'>,
  commandTimeoutMs: number,
  { onClose, onReady }: ConnectionEvents,
): Connection {
  const waiting = openQueue();
  let out = '';
  let failure = new Error('Redis closed the connection.');
  const flush = (): void => {
    const text = out;
    out = '';
    if (text !== '') socket.write(text, 'latin1');
  };
  const send = (commands: readonly Command[], isPatient: boolean): Promise<readonly Reply[]> => {
    // Encodes all before any is sent, so that a failure sends none of the group.
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
  socket.on('data', readReplies(unlessReplica(waiting.take, fail), fail));
  socket.on('error', (error) => {
    failure = error;
  });
  socket.on('close', () => {
    clearTimeout(connecting);
    clearInterval(watch);
    waiting.failAll(failure);
    onClose(failure);
  });
  socket.once(target.connected, () => {
    // A server that is still loading its data answers with an error and is not ready; neither is a replica.
    send([...target.hello, ['INFO', 'replication']], false)
      .then((replies) => {
        expectPrimary(replies.at(-1));
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

function expectPrimary(info: Reply | undefined): void {
  if (/^role:slave/m.test(String(info))) throw new Error('This Redis is a replica, and takes no writes.');
}

type Take = (reply: Reply) => boolean;

/** A primary that becomes a replica is left, since another one is in its place. */
const unlessReplica =
  (take: Take, fail: (error: Error) => void): Take =>
  (reply) => {
    const isAwaited = take(reply);
    if (reply instanceof Error && reply.message.startsWith('READONLY')) fail(reply);
    return isAwaited;
  };
