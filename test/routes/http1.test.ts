/** Every route that leads to a provider or to the control plane, with every trick, over HTTP/1.1. */
import { forFile } from '@gw/testing/for-file';
import { expect, it } from 'vitest';
import { http1Tricks } from './http1-tricks.ts';
import { exchange } from './http1-wire.ts';
import { isTriedWithRights, openCallers } from './rights.ts';
import { absoluteForms, keysElsewhere, tricks } from './tricks.ts';
import { type Attempt, attemptsOf, faultOf, headersOf, limitedRoutes, tryAll } from './walk.ts';
import { startWatchedGateway } from './watched-gateway.ts';

const gateway = forFile(startWatchedGateway);
const callers = forFile(openCallers);

function bytesOf(attempt: Attempt): string {
  const { method, target, authority, body } = attempt.request;
  const lines = headersOf(attempt).map(([name, value]) => `${name}: ${value}\r\n`);
  const length = body === null ? '' : `Content-Length: ${body.length}\r\n`;
  return `${method} ${target} HTTP/1.1\r\nHost: ${authority}\r\n${lines.join('')}${length}\r\n${body ?? ''}`;
}

it.each(limitedRoutes)('%s demands key, scope and limit, however it is asked for', async (_name, route) => {
  const attempts = [
    ...attemptsOf(route, callers.forRoute(route), [...tricks, ...absoluteForms, ...http1Tricks]),
    ...attemptsOf(route, [callers.nobody], keysElsewhere(callers.entitled.key ?? '', route.path)),
  ];
  await tryAll({ gateway, callers }, attempts, async (attempt) => {
    const { replies } = await exchange(gateway.port, bytesOf(attempt));
    return replies.length > 1 ? `${replies.length} replies` : faultOf(attempt, replies[0] ?? null);
  });
  expect(gateway.arrived.length > 50).toBe(isTriedWithRights(route) && route.handler === 'control');
});
