/** Runs the thread that listens for a service (health-worker.js), and answers what it asks. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Logger } from '../log.ts';
import type { AskedPath, FromHealthThread, HealthReply, HealthThreadData, ToHealthThread } from './health-messages.ts';

export interface HealthEndpoint {
  readonly port: number;
  /** 0 without a listener of its own. */
  readonly metricsPort: number;
  close(): Promise<void>;
}

const turnEveryMs = 1000;
/** A thread that has died is started again, but not in a loop. */
const restartMs = 1000;
/** It holds no more than the text of the metrics. */
const resourceLimits = { maxOldGenerationSizeMb: 128 };

/** Rejects if a port is taken. */
export async function startHealthThread(
  workerData: HealthThreadData,
  answerTo: (path: AskedPath) => Promise<HealthReply>,
  log: Logger,
): Promise<HealthEndpoint> {
  const answer = (path: AskedPath): Promise<HealthReply> =>
    answerTo(path).catch((error: unknown) => {
      log.error({ err: error }, 'the health or the metrics could not be read');
      return { status: 500, contentType: 'text/plain', body: '' };
    });
  let isClosed = false;
  const start = (): Worker => {
    const started = new Worker(new URL('./health-worker.js', import.meta.url), { workerData, resourceLimits });
    const tell = (message: ToHealthThread) => started.postMessage(message);
    started.unref();
    started.on('message', (message: FromHealthThread) => {
      if ('question' in message) void answer(message.path).then((reply) => tell({ answerTo: message.question, reply }));
    });
    started.on('error', (error) => log.error({ err: error }, 'the thread of the health port has failed'));
    started.on('exit', () => {
      setTimeout(() => {
        if (!isClosed) thread = start();
      }, restartMs).unref();
    });
    return started;
  };
  let thread = start();
  const turning = setInterval(() => thread.postMessage({ turned: true } satisfies ToHealthThread), turnEveryMs);
  turning.unref();
  const close = async (): Promise<void> => {
    isClosed = true;
    clearInterval(turning);
    await thread.terminate();
  };
  const [first] = (await once(thread, 'message')) as [FromHealthThread];
  if ('port' in first) return { ...first, close };
  await close();
  throw new Error('failed' in first ? first.failed : 'The health port asked before it listened.');
}
