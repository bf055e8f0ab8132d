/** How often the services have held their event loops for too long, by their own metrics. */
import type { Stack } from '@gw/stack/stack';
import { quick, type Sent, send } from './ask.ts';
import { document } from './worst-bodies.ts';

const services = ['receipt-sidecar', 'ext-authz', 'control-plane'] as const;
type WatchedStack = Pick<Stack, 'healthUrls' | 'controlUrl' | 'operatorToken'>;

/**
 * Turns above `bound` seconds, a bucket of the histogram, of each service. A look shows up to 10 ms of what came before;
 * of a service at rest, as the control plane mostly is beside inference, only what made the look late.
 */
export async function turnsOver(bound: '0.025' | '0.05', stack: WatchedStack): Promise<Record<string, number>> {
  const counts = services.map(async (service) => [service, await turnsOf(service, bound, stack)] as const);
  return Object.fromEntries(await Promise.all(counts));
}

async function turnsOf(service: (typeof services)[number], bound: string, stack: WatchedStack): Promise<number> {
  const url = service === 'control-plane' ? stack.controlUrl : stack.healthUrls[service];
  const headers = { authorization: `Bearer ${stack.operatorToken}` };
  const text = await (await fetch(`${url}/metrics`, { headers })).text();
  const count = (le: string) => {
    const found = text.split('\n').find((line) => line.startsWith(`gw_event_loop_held_seconds_bucket{le="${le}"`));
    return Number(found?.split(' ').at(-1));
  };
  return count('+Inf') - count(bound);
}

/**
 * Tiny calls, one after the other, until `work` has ended. They are what a long turn holds up; and services that do nothing
 * else are at rest, where they look at their turns too seldom to see each.
 */
export async function besideTinyCalls<T>(
  sent: Sent,
  work: () => Promise<T>,
): Promise<{ value: T; statuses: number[] }> {
  const statuses: number[] = [];
  let isOver = false;
  const calls = (async () => {
    while (!isOver) statuses.push((await send({ ...sent, headers: quick, body: document(10) })).status);
  })();
  try {
    return { value: await work(), statuses };
  } finally {
    isOver = true;
    await calls;
  }
}
