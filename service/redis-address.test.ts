import { expect, test } from 'vitest';
import { clusterOptions, sentinelOptions } from './redis-address.ts';

test.each(['redis://user:password@host:6379/1', 'rediss://host', '/run/valkey.sock?username=a&password=b'])(
  '%s needs no Sentinel',
  (url) => expect(sentinelOptions(url)).toBeNull(),
);

test('Sentinels, the name of the primary, and who connects to each', () => {
  const url =
    'redis+sentinel://gw_sidecar:s%40me@a.internal,b.internal:26380,[fd00::1]:26381/mymaster/2?sentinel_username=watch&sentinel_password=w%2Fo';
  expect(sentinelOptions(url)).toMatchObject({
    sentinels: [
      { host: 'a.internal', port: 26379 },
      { host: 'b.internal', port: 26380 },
      { host: 'fd00::1', port: 26381 },
    ],
    name: 'mymaster',
    db: 2,
    username: 'gw_sidecar',
    password: 's@me',
    sentinelUsername: 'watch',
    sentinelPassword: 'w/o',
  });
});

test('without users, and over TLS to all of them', () => {
  const plain = sentinelOptions('redis+sentinel://a:1/gw');
  expect(plain).toMatchObject({ sentinels: [{ host: 'a', port: 1 }], name: 'gw', db: 0 });
  for (const name of ['username', 'password', 'sentinelUsername', 'tls']) expect(plain).not.toHaveProperty(name);
  expect(sentinelOptions('rediss+sentinel://:secret@a/gw')).toMatchObject({
    password: 'secret',
    tls: {},
    sentinelTLS: {},
    enableTLSForSentinelMode: true,
  });
});

test.each(['redis+sentinel://a:1', 'redis+sentinel:///gw', 'redis+sentinel://a:b/gw', 'redis+sentinel://a/gw/x'])(
  '%s is refused without saying what is in it that may be secret',
  (url) => expect(() => sentinelOptions(url)).toThrow(/^GW_REDIS_URL /),
);

test('a cluster by some of its nodes', () => {
  expect(clusterOptions('redis+cluster://gw_sidecar:s%40me@n-1,n-2:7000,[fd00::1]')).toEqual({
    nodes: [
      { host: 'n-1', port: 6379 },
      { host: 'n-2', port: 7000 },
      { host: 'fd00::1', port: 6379 },
    ],
    login: { username: 'gw_sidecar', password: 's@me' },
  });
  expect(clusterOptions('rediss+cluster://:secret@n-1')?.login).toEqual({ password: 'secret', tls: {} });
  expect(clusterOptions('redis://n-1')).toBeNull();
});

test.each([
  'redis+cluster://u:secret@',
  'redis+cluster://u:secret@n-1/3',
  'redis+cluster://u:secret@n-1:x',
  'redis+cluster://',
])('%s is no cluster, and the refusal has no password', (url) => {
  expect(() => clusterOptions(url)).toThrow(/^GW_REDIS_URL /);
  expect(() => clusterOptions(url)).not.toThrow('secret');
});
