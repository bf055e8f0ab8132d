/** Calls over keep-alive connections by autocannon, in this process: each reply is read to its end, and then the next one is asked for. */
import autocannon from 'autocannon';
import { percentile } from './statistics.ts';
import type { Call, Load } from './target.ts';

/**
 * autocannon's own histogram counts whole milliseconds, too coarse for what a hop adds; so the times of the single
 * replies are kept, which it gives in fractions.
 */
export const replyLoad = (call: Call, connections: number, seconds: number): Promise<Load> =>
  new Promise((resolve, reject) => {
    const timesMs: number[] = [];
    let refused = 0;
    const started = performance.now();
    const run = autocannon(
      { url: call.url, method: 'POST', headers: call.headers, body: call.body, connections, duration: seconds },
      (error: Error | null, result) => {
        if (error !== null) {
          reject(error);
          return;
        }
        resolve({
          requests: timesMs.length,
          errors: refused + result.errors + result.timeouts,
          durationS: (performance.now() - started) / 1000,
          p50Ms: percentile(timesMs, 0.5),
          p99Ms: percentile(timesMs, 0.99),
          events: 0,
        });
      },
    );
    run.on('response', (_client, status, _bytes, timeMs) => {
      if (status === 200) timesMs.push(timeMs);
      else refused += 1;
    });
  });
