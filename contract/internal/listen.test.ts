import { expect, test } from 'vitest';
import { readSettings } from './environment.ts';
import { parseListen, readHostPort } from './listen.ts';

test.each([
  ['127.0.0.1:8080', { host: '127.0.0.1', port: 8080 }],
  ['0.0.0.0:0', { host: '0.0.0.0', port: 0 }],
  ['[::1]:8080', { host: '::1', port: 8080 }],
  ['[::]:65535', { host: '::', port: 65_535 }],
  ['[fe80::1%eth0]:8080', { host: 'fe80::1%eth0', port: 8080 }],
  ['control-plane:9003', { host: 'control-plane', port: 9003 }],
  ['unix:/run/gw/a.sock', { path: '/run/gw/a.sock' }],
  ['unix:/run/gw/a:1.sock', { path: '/run/gw/a:1.sock' }],
])('%s is an address', (text, listen) => {
  expect(parseListen(text)).toEqual(listen);
});

const wrong = [
  '8080',
  ':8080',
  'localhost',
  'localhost:',
  'localhost:http',
  'localhost:65536',
  'localhost:-1',
  '::1:8080',
  '[::1]',
  '[::1]8080',
  '[localhost]:8080',
  '[]:8080',
  'http://localhost:8080',
  '127.0.0.1:8080 ',
  '127.0.0.1:1,127.0.0.1:2',
  'unix:',
];
const example = 'unix:/run/gw/a.sock';

test.each(wrong)('%s is refused by the name of its setting, with an example', (text) => {
  expect(() => parseListen(text)).toThrow('neither unix:/path nor host:port');
  const settings = readSettings({ GW_A_LISTEN: text, GW_B_LISTEN: text });
  settings.listen('GW_A_LISTEN', example);
  settings.hostPort('GW_B_LISTEN', '127.0.0.1:8081');
  expect(() => settings.finish()).toThrow(
    [
      `GW_A_LISTEN is "${text}", which is neither unix:/path nor host:port. Example: GW_A_LISTEN=${example}`,
      `GW_B_LISTEN is "${text}", which is not host:port. Example: GW_B_LISTEN=127.0.0.1:8081`,
    ].join('\n  '),
  );
});

test('a port of the network is not a Unix socket', () => {
  expect(readHostPort(example)).toBeNull();
  const settings = readSettings({ GW_B_LISTEN: example });
  settings.hostPort('GW_B_LISTEN', '127.0.0.1:8081');
  expect(() => settings.finish()).toThrow('GW_B_LISTEN');
});

test('what is not set is the fallback, and is missed where it has to be set', () => {
  const settings = readSettings({});
  expect(settings.hostPort('GW_B_LISTEN', '127.0.0.1:8081')).toBe('127.0.0.1:8081');
  expect(settings.hostPort('GW_C_LISTEN', null, '127.0.0.1:9')).toBeNull();
  settings.listen('GW_A_LISTEN', example);
  expect(() => settings.finish()).toThrow(`GW_A_LISTEN is not set. Example: GW_A_LISTEN=${example}`);
});
