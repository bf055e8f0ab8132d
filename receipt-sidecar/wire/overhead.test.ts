import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { createOverheadMetrics } from './overhead.ts';

const shown = (list: readonly { readonly header: { readonly key: string; readonly rawValue: Buffer } }[]) =>
  list.map(({ header }) => `${header.key}: ${header.rawValue}`);
const told = (us: string) => new Map([['x-gw-request-us', us]]);

test('a stream has what Envoy took, a JSON reply what the sidecar took of it too', async () => {
  const metrics = createOverheadMetrics(() => 1000);
  const overhead = metrics.of(told('1234'), 1);
  expect(shown(overhead.headers(null))).toEqual(['x-gw-overhead-ms: 1.23']);
  expect(shown(overhead.headers(997.5))).toEqual(['x-gw-overhead-ms: 3.73']);
  const registry = new Registry();
  metrics.register(registry);
  const text = await registry.metrics();
  expect(text).toContain('gw_overhead_seconds_sum{phase="request"} 0.001234');
  expect(text).toContain('gw_overhead_seconds_sum{phase="reply"} 0.0025');
});

test.each([
  ['failed attempts of others are in it', '1234', 2],
  ['Envoy did not say it', '-', 1],
  ['it is no count', '1e9', 1],
])('there is no header where %s', (_why, us, attempts) => {
  const overhead = createOverheadMetrics(() => 1000).of(told(us), attempts);
  expect([...overhead.headers(null), ...overhead.headers(990)]).toEqual([]);
});
