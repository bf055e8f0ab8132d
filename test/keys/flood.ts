/** A flood of calls with wrong keys, and the calls of a good one beside it. */
import { randomBytes } from 'node:crypto';
import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { generateApiKey } from '@gw/contract/internal/api-key';

/** Looks like a key at first sight; its checksum does not fit. */
export const randomKey = (): string =>
  `gw_${randomBytes(60).toString('hex').slice(0, 12)}_${randomBytes(25).toString('hex').slice(0, 49)}`;
/** In every respect a key, but that nobody has issued it. */
export const unknownKey = (): string => generateApiKey(randomBytes).plaintext;

const agent = new Agent({ keepAlive: true, maxSockets: 48 });

/** The status of one call. */
export function call(publicUrl: string, key: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${key}` };
    const sent = request(`${publicUrl}/v1/models`, { agent, headers }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode ?? 0));
    });
    sent.on('error', reject);
    sent.end();
  });
}

/** `count` calls, at most `perS` a second and 32 at once; how often each status came. */
export async function flood(publicUrl: string, makeKey: () => string, count: number, perS: number) {
  const statuses = new Map<number, number>();
  const begun = performance.now();
  let sent = 0;
  const work = async (): Promise<void> => {
    while (sent < count) {
      const aheadMs = (sent / perS) * 1000 - (performance.now() - begun);
      sent += 1;
      if (aheadMs > 1) await delay(aheadMs);
      const status = await call(publicUrl, makeKey());
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: 32 }, work));
  return statuses;
}

/** The 99th percentile of the times of calls with a good key, ms, while `running` is. Throws if one is refused. */
export async function p99During(publicUrl: string, key: string, running: Promise<unknown>): Promise<number> {
  let over = false;
  const end = running.finally(() => {
    over = true;
  });
  const times: number[] = [];
  while (!over) {
    const begun = performance.now();
    const status = await call(publicUrl, key);
    if (status !== 200) throw new Error(`A good key got ${status}.`);
    times.push(performance.now() - begun);
    await delay(5);
  }
  await end;
  return times.sort((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? 0;
}
