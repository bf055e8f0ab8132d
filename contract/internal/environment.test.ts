import { expect, test } from 'vitest';
import { readAllowedHosts, readRedisUrl, readSettings } from './environment.ts';

const read = (environment: Record<string, string>) => {
  const settings = readSettings(environment);
  const addresses = settings.addresses();
  settings.finish();
  return addresses;
};

test('errors point to the published page where there is one', () => {
  expect(read({}).docsUrl).toBeUndefined();
  expect(read({ GW_DOCS_URL: '' }).docsUrl).toBeUndefined();
  expect(read({ GW_DOCS_URL: 'https://docs.example.com/errors' }).docsUrl).toBe('https://docs.example.com/errors');
});

test.each(['docs.example.com', 'https://docs.example.com/errors#codes', 'javascript:alert(1)'])(
  'the page %s is refused with an example',
  (page) => {
    expect(() => read({ GW_DOCS_URL: page })).toThrow('GW_DOCS_URL=https://docs.example.com/errors');
  },
);

test.each([
  'redis://valkey:6379',
  'redis://:secret@valkey/2',
  'rediss://valkey:6380',
  '/run/valkey.sock',
  '/run/valkey.sock?username=gw_sidecar&password=secret',
])('Redis can be at %s', (url) => {
  const settings = readSettings({ GW_REDIS_URL: url });
  expect(readRedisUrl(settings)).toBe(url);
  expect(() => settings.finish()).not.toThrow();
});

test.each(['valkey:6379', 'secret@valkey', 'unix:///run/valkey.sock', 'run/valkey.sock'])(
  'Redis cannot be at %s, which is not repeated',
  (url) => {
    const settings = readSettings({ GW_REDIS_URL: url });
    readRedisUrl(settings);
    expect(() => settings.finish()).toThrow('GW_REDIS_URL=redis://localhost:6379');
    expect(() => settings.finish()).not.toThrow(url);
  },
);

test('a key of 32 bytes is read, or none where none is set', () => {
  const settings = readSettings({ GW_SET: 'aB'.repeat(32), GW_EMPTY: '' });
  expect(settings.hexKey('GW_SET').toString('hex')).toBe('ab'.repeat(32));
  expect(settings.optionalHexKey('GW_SET')).toEqual(settings.hexKey('GW_SET'));
  expect([settings.optionalHexKey('GW_EMPTY'), settings.optionalHexKey('GW_UNSET')]).toEqual([null, null]);
  expect(() => settings.finish()).not.toThrow();
});

test.each(['ab'.repeat(31), 'ab'.repeat(33), `${'ab'.repeat(31)}xy`, `${'ab'.repeat(32)} `, 'secret'])(
  '%s is no key, and is not repeated',
  (key) => {
    for (const read of ['hexKey', 'optionalHexKey'] as const) {
      const settings = readSettings({ GW_SOME_KEY: key });
      settings[read]('GW_SOME_KEY');
      expect(() => settings.finish()).toThrow('GW_SOME_KEY does not have the right form. Example: GW_SOME_KEY=<64 hex');
      expect(() => settings.finish()).not.toThrow(key);
    }
  },
);

test('further hosts are names, and suffixes of two labels or more', () => {
  const settings = readSettings({ GW_ALLOWED_HOSTS: 'ops.internal, ,.gw.internal,*.svc.cluster.local' });
  expect(readAllowedHosts(settings)).toEqual(['ops.internal', '*.gw.internal', '*.svc.cluster.local']);
  expect(() => settings.finish()).not.toThrow();
});

test.each([
  '*',
  '*.com',
  '.com',
  '*.',
  'a.*.example.com',
  '*.*.example.com',
  'ops.example.com:8081',
  'https://ops.example.com',
])('a further host is not %s', (host) => {
  const settings = readSettings({ GW_ALLOWED_HOSTS: host });
  readAllowedHosts(settings);
  expect(() => settings.finish()).toThrow('neither a name without a port nor *. and a suffix of at least two labels');
});
