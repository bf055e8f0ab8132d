/** Where a provider's name leads to, and whether that is ourselves, is judged before an operator's change is stored. */
import dns from 'node:dns';
import { add, as, at, change, errorOf, newest, provider, useTestApp, version } from '@gw/testing/control-plane/entries';
import { afterEach, expect, test, vi } from 'vitest';

useTestApp();
afterEach(() => {
  vi.restoreAllMocks();
});

/** From now on every name leads there; null: DNS knows none. */
function everyNameIs(address: string | null): void {
  const lookup = vi.spyOn(dns, 'lookup') as unknown as { mockImplementation(use: unknown): void };
  const family = address?.includes(':') ? 6 : 4;
  lookup.mockImplementation(
    (_name: string, _options: unknown, callback: (error: Error | null, all?: unknown) => void) =>
      address === null ? callback(new Error('ENOTFOUND')) : callback(null, [{ address, family }]),
  );
}
const put = (providers: readonly object[]) => as('admin')('PUT', '/operator/v1/catalogue', { providers });
const stored = async () => (await as('viewer')('GET', '/operator/v1/catalogue')).json().providers as object[];

test.each(['169.254.169.254', 'fd00:ec2::254', '::ffff:169.254.169.254', '0.0.0.0'])(
  'a provider whose name leads to %s is neither added nor changed nor imported',
  async (address) => {
    everyNameIs(address);
    const before = [await newest(), await version()];
    const refused = await add('providers');
    expect(errorOf(refused)).toEqual([400, 'invalid_base_url', 'base_url']);
    expect(refused.json().error.message).toContain('leads to an address that is not allowed (');
    const others = await stored();
    const imported = await put([...others, provider]);
    expect(errorOf(imported)).toEqual([400, 'invalid_base_url', `providers[${others.length}].base_url`]);
    expect([await newest(), await version()]).toEqual(before);
    everyNameIs('203.0.113.9');
    expect((await add('providers')).statusCode).toBe(200);
    everyNameIs(address);
    expect(errorOf(await change('providers', { base_url: 'https://moved.example/v1' }))[1]).toBe('invalid_base_url');
  },
);

test.each(['http://127.0.0.1:8081/v1', 'http://localhost:8081', 'http://[::1]:8081/v1', 'https://gw.example/v1'])(
  '%s is the gateway itself, and the error says so',
  async (base_url) => {
    const refused = await add('providers', { base_url });
    expect(errorOf(refused)).toEqual([400, 'invalid_base_url', 'base_url']);
    expect(refused.json().error.message).toMatch(/the gateway's own (operators' port|public address) \(GW_\w+_URL\)/);
    expect((await add('providers', { base_url: 'http://127.0.0.1:8000/v1' })).statusCode).toBe(200);
    expect(errorOf(await change('providers', { base_url }))).toEqual([400, 'invalid_base_url', 'base_url']);
    const others = (await stored()).filter((each) => !('id' in each && each.id === provider.id));
    expect(errorOf(await put([...others, { ...provider, base_url }]))[1]).toBe('invalid_base_url');
  },
);

test('a name that DNS does not know here is taken, and what is stored is not judged again with each document', async () => {
  everyNameIs(null);
  expect((await add('providers')).statusCode).toBe(200);
  everyNameIs('169.254.169.254');
  expect((await put(await stored())).statusCode).toBe(200);
  // Also where a change repeats it.
  const same = { name: 'Acme 2', base_url: provider.base_url };
  expect((await change('providers', same)).statusCode).toBe(200);
  expect(await as('viewer')('GET', at('providers', provider.id)).then((reply) => reply.json())).toMatchObject({
    name: 'Acme 2',
  });
});
