/** Every route behind TLS over HTTP/2 with every trick, many on one connection. */
import { it } from 'vitest';
import { routesBehindTls } from './behind-tls.ts';
import { tricks } from './tricks.ts';

const { overHttp2, tryRoutes } = routesBehindTls();
/** A fragment ends the connection in HTTP/2, and with it the attempts beside it. */
const onOneConnection = tricks.filter(({ name }) => !name.includes('fragment'));

it('every route demands key, scope and limit behind TLS, however it is asked for', () =>
  tryRoutes(overHttp2, onOneConnection));
