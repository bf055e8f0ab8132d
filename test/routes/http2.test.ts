/** Every route that leads to a provider or to the control plane, with every trick, over HTTP/2. */
import { routes } from '@gw/contract/routes';
import { forFile } from '@gw/testing/for-file';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Http2Trick, http2Tricks } from './http2-tricks.ts';
import { exchange2, type Sent } from './http2-wire.ts';
import type { Request } from './request.ts';
import { type Callers, openCallers, refillAfter } from './rights.ts';
import { keysElsewhere, tricks } from './tricks.ts';
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

function plainly(attempt: Attempt): Sent {
  const { method, target, authority, body } = attempt.request;
  const fields = [
    [':method', method],
    [':scheme', 'http'],
    [':authority', authority],
    [':path', target],
    ...headersOf(attempt).map(([name, value]) => [name.toLowerCase(), value] as const),
  ] as const;
  return { fields, ...(body === null ? {} : { data: body }) };
}

const limited = routes
  .filter(({ scope }) => scope !== null)
  .map((route) => [`${route.method} ${route.path}`, route] as const);

async function tryAll<T>(
  attempts: readonly Attempt<T>[],
  attempt: (attempt: Attempt<T>) => Promise<string | null>,
  atATime = refillAfter,
) {
  const before = await gateway.askedOfProvider();
  gateway.arrived.length = 0;
  const faults: string[] = [];
  await inTurns(attempts, callers, atATime, async (each) => {
    const fault = await attempt(each);
    if (fault) faults.push(`${each.name}: ${fault}`);
  });
  const byId = new Map(attempts.map((each) => [each.id, each]));
  for (const arrival of gateway.arrived) {
    const fault = faultOfArrival(arrival, byId);
    if (fault) faults.push(fault);
  }
  expect(faults).toEqual([]);
  expect(await gateway.askedOfProvider()).toBe(before);
}

it.each(limited)('%s demands key, scope and limit, however it is asked for', async (_name, route) => {
  const attempts = [
    ...attemptsOf(route, callers.forRoute(route), tricks),
    ...attemptsOf(route, [callers.nobody], keysElsewhere(callers.entitled.key ?? '')),
  ];
  await tryAll(attempts, async (attempt) => {
    const { reply, end } = await exchange2(gateway.port, plainly(attempt));
    const fault = faultOf(attempt, reply);
    return fault && `${fault} (${end})`;
  });
});

const asTricks = (is: Http2Trick['is']) =>
  http2Tricks
    .filter((trick) => trick.is === is)
    .map(({ name, change: send }) => ({ name, change: (request: Request) => request, send }));

it.each(limited)('%s is the same with what may stand beside it', async (_name, route) => {
  await tryAll(attemptsOf(route, callers.forRoute(route), asTricks('same')), async (attempt) => {
    const { reply } = await exchange2(gateway.port, attempt.trick.send(plainly(attempt)));
    return faultOf(attempt, reply);
  });
});

// With all rights: nothing but its form is in the way of such a request. Envoy closes its connection after a second.
it('no route takes a frame or a field that could be read in two ways', async () => {
  const attempts = limited.flatMap(([, route]) => attemptsOf(route, [callers.entitled], asTricks('malformed')));
  await tryAll(
    attempts,
    async (attempt) => {
      const { reply, end } = await exchange2(gateway.port, attempt.trick.send(plainly(attempt)), 10_000);
      const isRefused = reply === null ? end !== 'silent' : [400, 404].includes(reply.status);
      return isRefused ? null : `${end} ${reply?.status} ${reply?.text.slice(0, 80)}`;
    },
    attempts.length,
  );
});
