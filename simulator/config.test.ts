import { expect, test } from 'vitest';
import { readConfig } from './config.ts';

test('the listener comes from GW_SIM_LISTEN', () => {
  expect(readConfig({ GW_SIM_LISTEN: '0.0.0.0:0' })).toEqual({ host: '0.0.0.0', port: 0 });
  expect(readConfig({ GW_SIM_LISTEN: '[::1]:9001' })).toEqual({ host: '::1', port: 9001 });
  expect(readConfig({})).toEqual({ host: '127.0.0.1', port: 9000 });
});

test.each(['9000', 'localhost', 'localhost:99999', ''])('"%s" is refused with an example', (listen) => {
  expect(() => readConfig({ GW_SIM_LISTEN: listen })).toThrow(/GW_SIM_LISTEN.*127\.0\.0\.1:9000/);
});
