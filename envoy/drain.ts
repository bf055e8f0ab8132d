/**
 * Shuts an Envoy down in an orderly way, by its admin socket. Invariant: clients that are connected, or connect during the notice, get a
 * complete reply if that takes at most `drainS`.
 *
 * It has no imports of ours, because Envoy's image contains only these files.
 */
import { request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

export interface DrainOptions {
  readonly adminSocket: string;
  /** How long it still accepts connections, seconds, while `/healthz` is 503 for load balancers. */
  readonly noticeS: number;
  /** How long it then waits for running calls, seconds. */
  readonly drainS: number;
  /** Aborted when it should not wait any longer. */
  readonly hurry: AbortSignal;
}

const pollMs = 200;
/** How long connections without a call are waited for. */
const idleMs = 5000;
/** Envoy sends its access log every second, and loses unsent entries when it ends. */
const lastWordsMs = 1250;

/** Resolves when Envoy can be stopped. Never rejects, since an Envoy that does not answer can only be stopped. */
export async function drainEnvoy({ adminSocket, noticeS, drainS, hurry }: DrainOptions): Promise<void> {
  const ask = (method: string, path: string) => askAdmin(adminSocket, method, path);
  const pause = (ms: number) => delay(ms, undefined, { signal: hurry });
  try {
    // Replies now have `Connection: close`, or GOAWAY follows.
    await ask('POST', '/healthcheck/fail');
    await ask('POST', '/runtime_modify?gw.draining=100');
    await pause(noticeS * 1000);
    // The internal listeners are still needed for admitted calls.
    await ask('POST', '/drain_listeners?inboundonly');
    const closedAt = performance.now();
    const find = async () => open(await ask('GET', '/stats?filter=^http.public.downstream_(cx|rq)_active$'));
    for (;;) {
      const { connections, calls } = await find();
      const passedMs = performance.now() - closedAt;
      const isOver = passedMs > drainS * 1000;
      if (isOver || connections === 0 || (calls === 0 && passedMs > idleMs)) {
        await pause(lastWordsMs);
        // An idle connection may have started a call meanwhile.
        if (isOver || (await find()).calls === 0) break;
      }
      await pause(pollMs);
    }
  } catch (error) {
    if (!hurry.aborted) process.stderr.write(`Envoy could not be drained: ${String(error)}\n`);
  }
}

function open(stats: string): { connections: number; calls: number } {
  const of = (name: string) => Number(new RegExp(`downstream_${name}_active: (\\d+)`).exec(stats)?.[1] ?? Number.NaN);
  return { connections: of('cx'), calls: of('rq') };
}

function askAdmin(socketPath: string, method: string, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request({ socketPath, method, path, headers: { host: 'localhost' }, timeout: 2000 }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (data: string) => {
        text += data;
      });
      response.on('end', () => {
        if (response.statusCode === 200) resolve(text);
        else reject(new Error(`${path} was answered with ${response.statusCode}`));
      });
      response.on('error', reject);
    });
    sent.on('timeout', () => sent.destroy(new Error(`${path} was not answered`)));
    sent.on('error', reject);
    sent.end();
  });
}
