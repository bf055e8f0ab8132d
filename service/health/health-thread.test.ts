/** The thread as the service sees it, with threads that say what a test lets them. */
import { EventEmitter } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { FromHealthThread, HealthThreadData } from './health-messages.ts';
import { startHealthThread } from './health-thread.ts';

const threads: StandIn[] = [];
class StandIn extends EventEmitter {
  readonly told: unknown[] = [];
  constructor() {
    super();
    threads.push(this);
  }
  postMessage(message: unknown): void {
    this.told.push(message);
  }
  unref(): void {}
  async terminate(): Promise<void> {
    this.emit('exit');
  }
  says(message: FromHealthThread): void {
    this.emit('message', message);
  }
}

const errors: Record<string, unknown>[] = [];
const log = pino({ level: 'error' }, { write: (line: string) => void errors.push(JSON.parse(line)) });
const start = () =>
  startHealthThread(
    {} as HealthThreadData,
    async () => reply,
    log,
    () => new StandIn() as unknown as Worker,
  );
const reply = { status: 200, contentType: 'text/plain', body: 'well' };

beforeEach(() => {
  threads.length = 0;
  errors.length = 0;
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('a probe of the first listener before the second is bound is answered, and does not end the start', async () => {
  const starting = start();
  threads[0]?.says({ question: 0, path: '/readyz' });
  threads[0]?.says({ port: 1, metricsPort: 2 });
  expect(await starting).toMatchObject({ port: 1, metricsPort: 2 });
  expect(threads[0]?.told).toEqual([{ answerTo: 0, reply }]);
});

test('a thread that cannot listen when it is started again says why, and is tried until it can', async () => {
  const starting = start();
  threads[0]?.says({ port: 1, metricsPort: 2 });
  const endpoint = await starting;
  threads[0]?.emit('exit');
  for (const tries of [2, 3]) {
    await vi.advanceTimersByTimeAsync(1000);
    expect(threads).toHaveLength(tries);
    threads.at(-1)?.says({ failed: 'EADDRINUSE' });
  }
  await vi.advanceTimersByTimeAsync(1000);
  threads[3]?.says({ port: 1, metricsPort: 2 });
  await vi.advanceTimersByTimeAsync(10_000);
  expect(threads).toHaveLength(4);
  expect(errors.map(({ reason }) => reason)).toEqual(['EADDRINUSE', 'EADDRINUSE']);
  await endpoint.close();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(threads).toHaveLength(4);
});
