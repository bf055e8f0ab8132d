/**
 * Routes that lead to a provider or to the control plane, with every trick, over HTTP/2: each of them in a long run, one in six
 * otherwise. HTTP/1.1 has each in all runs.
 */
import { isLongRun } from '@gw/testing/cases';
import { forFile } from '@gw/testing/for-file';
import { it } from 'vitest';
import { type Http2Trick, http2Tricks } from './http2-tricks.ts';
import { exchange2, type Sent } from './http2-wire.ts';
import type { Request } from './request.ts';
import { openCallers } from './rights.ts';
import { keysElsewhere, tricks } from './tricks.ts';
import { type Attempt, attemptsOf, faultOf, headersOf, limitedRoutes, tryAll } from './walk.ts';
import { startWatchedGateway } from './watched-gateway.ts';

const gateway = forFile(startWatchedGateway);
const callers = forFile(openCallers);
const tried = limitedRoutes.filter((_, at) => isLongRun || at % 6 === 0);

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

it.each(tried)('%s demands key, scope and limit, however it is asked for', async (_name, route) => {
  const attempts = [
    ...attemptsOf(route, callers.forRoute(route), tricks),
    ...attemptsOf(route, [callers.nobody], keysElsewhere(callers.entitled.key ?? '', route.path)),
  ];
  await tryAll({ gateway, callers }, attempts, async (attempt) => {
    const { reply, end } = await exchange2(gateway.port, plainly(attempt));
    const fault = faultOf(attempt, reply);
    return fault && `${fault} (${end})`;
  });
});

const asTricks = (is: Http2Trick['is']) =>
  http2Tricks
    .filter((trick) => trick.is === is)
    .map(({ name, change: send }) => ({ name, change: (request: Request) => request, send }));

it.each(tried)('%s is the same with what may stand beside it', async (_name, route) => {
  await tryAll({ gateway, callers }, attemptsOf(route, callers.forRoute(route), asTricks('same')), async (attempt) => {
    const { reply } = await exchange2(gateway.port, attempt.trick.send(plainly(attempt)));
    return faultOf(attempt, reply);
  });
});

// With all rights: nothing but its form is in the way of such a request. Envoy closes its connection after a second.
it('no route takes a frame or a field that could be read in two ways', async () => {
  const attempts = tried.flatMap(([, route]) => attemptsOf(route, [callers.entitled], asTricks('malformed')));
  await tryAll(
    { gateway, callers },
    attempts,
    async (attempt) => {
      const { reply, end } = await exchange2(gateway.port, attempt.trick.send(plainly(attempt)), 10_000);
      const isRefused = reply === null ? end !== 'silent' : [400, 404].includes(reply.status);
      return isRefused ? null : `${end} ${reply?.status} ${reply?.text.slice(0, 80)}`;
    },
    attempts.length,
  );
});
