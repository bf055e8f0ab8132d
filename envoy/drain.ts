/**
 * The orderly end of an Envoy, by its admin socket. Invariant: whoever is connected, or connects before Envoy has said for a
 * while that it leaves, gets a whole reply, as long as that takes no longer than `drainS`.
 *
 * It imports nothing of ours: the image of Envoy has these files alone.
 */
import { request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

export interface DrainOptions {
  readonly adminSocket: string;
  /** How long it goes on accepting connections, seconds, so that load balancers notice: `/healthz` is 503 meanwhile. */
  readonly noticeS: number;
  /** How long calls that are under way are waited for after that, seconds. */
  readonly drainS: number;
  /** Aborted when nobody wants to wait any more. */
  readonly hurry: AbortSignal;
}

const pollMs = 200;
/** A connection without a call is one whose client has not noticed; after so long it is given up. */
const idleMs = 5000;
/** Envoy sends the entries of its access log each second, and with its end not those that it still has. */
const lastWordsMs = 1250;

/** Resolves when Envoy can be ended; never rejects, since an Envoy that does not answer can only be ended. */
export async function drainEnvoy({ adminSocket, noticeS, drainS, hurry }: DrainOptions): Promise<void> {
  const ask = (method: string, path: string) => askAdmin(adminSocket, method, path);
  const pause = (ms: number) => delay(ms, undefined, { signal: hurry });
  try {
    // Each reply now asks its client to leave: `Connection: close`, or GOAWAY.
    await ask('POST', '/healthcheck/fail');
    // The configuration of an older release does not know it: there /healthz says 200 to the end.
    await ask('POST', '/runtime_modify?gw.draining=100').catch(() => undefined);
    await pause(noticeS * 1000);
    // Those behind the public one are for calls that were let in.
    await ask('POST', '/drain_listeners?inboundonly');
    const closedAt = performance.now();
    const find = async () => open(await ask('GET', '/stats?filter=^http.public.downstream_(cx|rq)_active$'));
    for (;;) {
      const { connections, calls } = await find();
      const passedMs = performance.now() - closedAt;
      const isOver = passedMs > drainS * 1000;
      if (isOver || connections === 0 || (calls === 0 && passedMs > idleMs)) {
        await pause(lastWordsMs);
        // A kept connection may have brought a call meanwhile.
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
