/** The same routes behind TLS, as official clients ask. `tls.slow.test.ts` has the tricks, which `http2.test.ts` tries without TLS. */
import { it } from 'vitest';
import { routesBehindTls } from './behind-tls.ts';
import { tricks } from './tricks.ts';

const { overHttp1, overHttp2, tryRoutes } = routesBehindTls();
const plainly = tricks.filter(({ name }) => name === 'plainly');

it.each([
  ['HTTP/2', overHttp2],
  ['HTTP/1.1', overHttp1],
] as const)('every route demands key, scope and limit behind TLS too, over %s', async (_name, ask) => {
  await tryRoutes(ask, plainly);
});
