import { networkInterfaces } from 'node:os';
import { expect, test } from 'vitest';
import { type Lookup, type OwnListener, openAddressGuard } from './address-guard.ts';

const known: Record<string, string> = {
  localhost: '127.0.0.1',
  'six.example': '::1',
  postgres: '10.0.0.7',
  'alias-of-postgres': '10.0.0.7',
  'gw.example': '203.0.113.9',
  'at-the-same-ingress.example': '203.0.113.9',
  'gpu-1': '10.0.0.8',
  'inside.example': '169.254.169.254',
};
const lookup: Lookup = async (name) => {
  const address = known[name];
  if (address === undefined) throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: 'ENOTFOUND' });
  return [{ address, family: address.includes(':') ? 6 : 4 }];
};
const refusal = (url: string, own: readonly OwnListener[] = []) => openAddressGuard(own, lookup).refusal(url);

const postgres = { what: 'Postgres', host: 'postgres', port: 5432 };
const wild = { what: 'port', host: '0.0.0.0', port: 8081 };
const edge = { what: 'public address', host: 'gw.example', port: 443, isShared: true };
const unknown = { what: 'public address', host: 'known-outside.example', port: 443, isShared: true };
const near = { what: 'public address', host: 'localhost', port: 8080, isShared: true };
const own = [postgres, wild, edge, unknown, near];

test.each([
  'http://postgres:5432/v1',
  'http://POSTGRES.:5432/v1',
  'http://alias-of-postgres:5432',
  'http://10.0.0.7:5432',
  'http://[::ffff:10.0.0.7]:5432',
  'http://localhost:8081',
  'http://127.0.0.2:8081',
  'http://[::1]:8081',
  'http://six.example:8081',
  'https://gw.example/v1',
  'https://203.0.113.9/v1',
  'https://known-outside.example/v1',
  'http://127.0.0.1:8080/v1',
])('%s is a listener of our own', async (url) => {
  expect(await refusal(url, own)).toMatch(/^the gateway's own /);
  expect(await refusal(url)).toBeNull();
});

test('a listener on all addresses is ours on each of this machine', async () => {
  const all = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  for (const { address } of all.filter(({ scopeid }) => !scopeid))
    expect(
      await refusal(`http://${address.includes(':') ? `[${address}]` : address}:8081`, own),
      address,
    ).not.toBeNull();
});

test.each([
  'http://127.0.0.1:8000/v1',
  'http://postgres:8000/v1',
  'http://gpu-1:5432/v1',
  'https://at-the-same-ingress.example/v1',
  'http://gw.example/v1',
  'https://nobody-knows.example/v1',
])('%s is not', async (url) => {
  expect(await refusal(url, own)).toBeNull();
});

test('what a name leads to is judged, and a name that DNS does not know is left to whoever connects', async () => {
  expect(await refusal('http://inside.example/v1')).toContain('link-local');
  expect(await refusal('http://nobody-knows.example/')).toBeNull();
  await expect(openAddressGuard([], lookup).admitted('nobody-knows.example', 80)).rejects.toThrow('ENOTFOUND');
});
