/** Where the identity provider is asked, and where it is not. */
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openAddressGuard } from '@gw/service/address-guard';
import { expect, onTestFinished, test } from 'vitest';
import { openOidc } from './oidc.ts';

const asked: string[] = [];
async function listening(answer: RequestListener): Promise<number> {
  asked.length = 0;
  const server = createServer((request, reply) => {
    asked.push(request.url ?? '');
    answer(request, reply);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}
const known = (issuer: string, token_endpoint: string): RequestListener => {
  const names = { issuer, token_endpoint, authorization_endpoint: `${issuer}/authorize`, jwks_uri: `${issuer}/jwks` };
  return (_, reply) => reply.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(names));
};
const open = (issuer: string, guard = openAddressGuard()) =>
  openOidc({ issuer, clientId: 'gw', clientSecret: 's' }, 'http://127.0.0.1:1', { guard, now: () => new Date() });

/** The library puts errors of its own around it. */
async function reasonOf(failing: Promise<unknown>): Promise<string> {
  const texts: string[] = [];
  let cause: unknown = await failing.then(
    () => null,
    (error: unknown) => error,
  );
  for (; cause instanceof Error; cause = cause.cause) texts.push(cause.message);
  return texts.join(': ');
}
const inside = [{ address: '169.254.169.254', family: 4 }];

test('an issuer whose name leads to where nobody is asked, or to ourselves, is not asked', async () => {
  const port = await listening((_, reply) => reply.end('{}'));
  const issuer = `http://localhost:${port}`;
  const own = openAddressGuard([{ what: 'port', host: '127.0.0.1', port }]);
  for (const guard of [openAddressGuard([], async () => inside), own])
    expect(await reasonOf(open(issuer, guard).begin())).toContain('its address is not allowed');
  expect(asked).toEqual([]);
});

test('a redirect is not followed', async () => {
  const port = await listening((request, reply) => {
    const issuer = `http://127.0.0.1:${port}`;
    if (request.url === '/elsewhere') known(issuer, `${issuer}/token`)(request, reply);
    else reply.writeHead(302, { location: '/elsewhere' }).end();
  });
  await expect(open(`http://127.0.0.1:${port}`).begin()).rejects.toThrow();
  expect(asked).toEqual(['/.well-known/openid-configuration']);
});

test.each([
  ['https://169.254.169.254/token', 'its address is not allowed'],
  ['https://rebound.example/token', 'its address is not allowed'],
  ['http://metadata.example/token', 'an address that is not https'],
])('the client secret does not go to %s, whatever the provider says', async (tokens, message) => {
  const port: number = await listening((request, reply) => known(`http://127.0.0.1:${port}`, tokens)(request, reply));
  const oidc = open(
    `http://127.0.0.1:${port}`,
    openAddressGuard([], async () => inside),
  );
  const { flow } = await oidc.begin();
  expect(await reasonOf(oidc.finish(`?code=c&state=${flow.state}`, flow))).toContain(message);
  expect(asked).toEqual(['/.well-known/openid-configuration']);
});
