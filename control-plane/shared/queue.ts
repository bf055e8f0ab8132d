/**
 * The connections of a BullMQ queue and its worker, opened and closed in one place.
 *
 * Invariant: what is in a queue may be lost with Redis; whoever uses one looks after it and fills it again.
 */
import type { EventEmitter } from 'node:events';
import { connectRedis } from '@gw/service/redis-address';
import type { Processor, Queue, Worker, WorkerOptions } from 'bullmq';
import type { Redis } from 'ioredis';

/** The hash tag keeps all keys of the queue on one node of a cluster. */
const prefix = '{gw}';

export interface OpenQueue<Data> {
  readonly queue: Queue<Data>;
  readonly worker: Worker<Data>;
  /** Waits for the jobs that run, but for 5 s at most, and not at all if Redis is away. */
  close(): Promise<void>;
}

/** `run` does one job; what it throws fails the attempt. */
export interface QueueSettings<Data> {
  readonly name: string;
  readonly redisUrl: string;
  readonly worker: Omit<WorkerOptions, 'connection' | 'prefix'>;
  readonly run: Processor<Data>;
}

/** Opens a queue with its worker. It resolves even if Redis is away, and the worker begins when Redis is there. */
export async function openQueue<Data>(settings: QueueSettings<Data>): Promise<OpenQueue<Data>> {
  const { name, redisUrl, run } = settings;
  // Loaded here, so that a gateway without jobs does not pay its memory.
  const { Queue, Worker } = await import('bullmq');
  // BullMQ waits inside Redis and wants its commands never to be given up; so its connections are its own.
  const connect = () =>
    connectRedis(redisUrl, { maxRetriesPerRequest: null, retryStrategy: (attempt) => Math.min(50 * attempt, 1000) });
  const [queueRedis, workerRedis] = [connect(), connect()];
  const queue = new Queue<Data>(name, { connection: queueRedis, prefix });
  const worker = new Worker<Data>(name, run, { ...settings.worker, connection: workerRedis, prefix });
  // Redis being away is told by the service's own connection; without listeners the faults would end the process.
  const emitters: readonly EventEmitter[] = [queueRedis, workerRedis, queue, worker];
  for (const emitter of emitters) emitter.on('error', () => {});
  return {
    queue: queue as Queue<Data>,
    worker,
    close: async () => {
      const connections = [queueRedis, workerRedis];
      const orderly = connections.every(({ status }) => status === 'ready');
      // Commands wait for Redis without end, so an orderly close would too: not if it goes, or stands still, meanwhile.
      if (orderly) await Promise.race([worker.close().then(() => queue.close()), lost(connections)]);
      else void worker.close(true).catch(() => {});
      for (const connection of connections) end(connection);
    },
  };
}

/**
 * Between two attempts to connect, `disconnect` alone takes the next attempt back and lets nobody go who waits for an
 * answer. An attempt that is given up before it has opened a socket tells all of them.
 */
function end(connection: Redis): void {
  connection.disconnect();
  if (connection.status !== 'reconnecting') return;
  connection.connect().catch(() => undefined);
  connection.disconnect();
}

const patienceMs = 5000;

/** Resolves when one of the connections is lost, at the latest after `patienceMs`. */
function lost(connections: readonly Redis[]): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, patienceMs);
    const end = (): void => {
      clearTimeout(timer);
      resolve();
    };
    for (const connection of connections) connection.once('close', end);
  });
}
