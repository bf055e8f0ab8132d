/** Runs the thread that listens for a service (health-worker.js), and answers what it asks. */
import { Worker } from 'node:worker_threads';
import type { Logger } from '../log.ts';
import type {
  AskedPath,
  FromHealthThread,
  HealthBegun,
  HealthReply,
  HealthThreadData,
  ToHealthThread,
} from './health-messages.ts';

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

interface RunningThread {
  readonly worker: Worker;
  readonly begun: Promise<HealthBegun>;
}

const openWorker = (workerData: HealthThreadData): Worker =>
  new Worker(new URL('./health-worker.js', import.meta.url), { workerData, resourceLimits });

/** Rejects if a port is taken. */
export async function startHealthThread(
  workerData: HealthThreadData,
  answerTo: (path: AskedPath) => Promise<HealthReply>,
  log: Logger,
  open = openWorker,
): Promise<HealthEndpoint> {
  const answer = (path: AskedPath): Promise<HealthReply> =>
    answerTo(path).catch((error: unknown) => {
      log.error({ err: error }, 'the health or the metrics could not be read');
      return { status: 500, contentType: 'text/plain', body: '' };
    });
  let isClosed = false;
  const start = (): RunningThread => {
    const worker = open(workerData);
    const tell = (message: ToHealthThread) => worker.postMessage(message);
    worker.unref();
    const begun = new Promise<HealthBegun>((resolve) => {
      worker.on('message', (message: FromHealthThread) => {
        if (!('question' in message)) return resolve(message);
        void answer(message.path).then((reply) => tell({ answerTo: message.question, reply }));
      });
      worker.on('error', (error) => {
        log.error({ err: error }, 'the thread of the health port has failed');
        resolve({ failed: error.message });
      });
    });
    worker.on('exit', () => {
      setTimeout(() => {
        if (!isClosed) startAgain();
      }, restartMs).unref();
    });
    return { worker, begun };
  };
  const startAgain = (): void => {
    const { begun, worker } = start();
    thread = worker;
    void begun.then((message) => {
      if ('port' in message) return;
      log.error({ reason: message.failed }, 'the health port could not be listened on again; it is tried once more');
      // Its end starts the next one.
      void worker.terminate();
    });
  };
  const first = start();
  let thread = first.worker;
  const turning = setInterval(() => thread.postMessage({ turned: true } satisfies ToHealthThread), turnEveryMs);
  turning.unref();
  const close = async (): Promise<void> => {
    isClosed = true;
    clearInterval(turning);
    await thread.terminate();
  };
  const message = await first.begun;
  if ('port' in message) return { ...message, close };
  await close();
  throw new Error(message.failed);
}
