/** Every route that leads to a provider or to the control plane, with every trick, over HTTP/1.1. */
import { routes } from '@gw/contract/routes';
import { forFile } from '@gw/testing/for-file';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { http1Tricks } from './http1-tricks.ts';
import { exchange } from './http1-wire.ts';
import { type Callers, isTriedWithRights, openCallers, refillAfter } from './rights.ts';
import { absoluteForms, keysElsewhere, tricks } from './tricks.ts';
import { type Attempt, attemptsOf, faultOf, faultOfArrival, headersOf, inTurns } from './walk.ts';
import { startWatchedGateway } from './watched-gateway.ts';

const gateway = forFile(startWatchedGateway);
let callers: Callers;
beforeAll(async () => {
  callers = await openCallers();
});
afterAll(async () => {
  await callers?.close();
});

function bytesOf(attempt: Attempt): string {
  const { method, target, authority, body } = attempt.request;
  const lines = headersOf(attempt).map(([name, value]) => `${name}: ${value}\r\n`);
  const length = body === null ? '' : `Content-Length: ${body.length}\r\n`;
  return `${method} ${target} HTTP/1.1\r\nHost: ${authority}\r\n${lines.join('')}${length}\r\n${body ?? ''}`;
}

it.each(routes.filter(({ scope }) => scope !== null).map((route) => [`${route.method} ${route.path}`, route] as const))(
  '%s demands key, scope and limit, however it is asked for',
  async (_name, route) => {
    const attempts = [
      ...attemptsOf(route, callers.forRoute(route), [...tricks, ...absoluteForms, ...http1Tricks]),
      ...attemptsOf(route, [callers.nobody], keysElsewhere(callers.entitled.key ?? '')),
    ];
    const before = await gateway.askedOfProvider();
    gateway.arrived.length = 0;
    const faults: string[] = [];
    await inTurns(attempts, callers, refillAfter, async (attempt) => {
      const { replies } = await exchange(gateway.port, bytesOf(attempt));
      const fault = replies.length > 1 ? `${replies.length} replies` : faultOf(attempt, replies[0] ?? null);
      if (fault) faults.push(`${attempt.name}: ${fault}`);
    });
    const byId = new Map(attempts.map((attempt) => [attempt.id, attempt]));
    for (const arrival of gateway.arrived) {
      const fault = faultOfArrival(arrival, byId);
      if (fault) faults.push(fault);
    }
    expect(faults).toEqual([]);
    expect(gateway.arrived.length > 50).toBe(isTriedWithRights(route) && route.handler === 'control');
    expect(await gateway.askedOfProvider()).toBe(before);
  },
);
