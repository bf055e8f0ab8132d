import { readSettings } from '@gw/contract/internal/environment';
import { expect, test } from 'vitest';
import { type GpuSettings, readGpuSettings } from './config.ts';

function read(environment: Record<string, string>): GpuSettings {
  const settings = readSettings(environment);
  const gpu = readGpuSettings(settings);
  settings.finish();
  return gpu;
}
const one = { energy: 'DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{Hostname="a{b}"}', tokens: ['vllm:prompt_tokens_total'] };

test('without any setting there are no counters, and no address is asked for', () => {
  expect(read({})).toMatchObject({ deployments: new Map(), refreshS: 10, marginS: 1, maxGapS: 60, giveUpS: 3600 });
});

test('each deployment names its counters; the unit is that of DCGM unless it is stated', () => {
  const gpu = read({
    GW_GPU_COUNTERS: JSON.stringify({ a: one, b: { ...one, unit: 'J' } }),
    GW_GPU_PROMETHEUS_URL: 'https://prometheus.example/team/',
    GW_GPU_PROMETHEUS_TOKEN: 'tok',
    GW_GPU_PROMETHEUS_HEADERS: '{"X-Scope-OrgID":"team"}',
    GW_GPU_MAX_GAP_S: '30',
  });
  expect([...gpu.deployments]).toEqual([
    ['a', { ...one, unit: 'mJ' }],
    ['b', { ...one, unit: 'J' }],
  ]);
  expect(gpu.prometheus).toEqual({
    baseUrl: 'https://prometheus.example/team',
    headers: { 'X-Scope-OrgID': 'team', authorization: 'Bearer tok' },
  });
  expect(gpu.maxGapS).toBe(30);
});

test.each(['rate(x[1m])', 'x[5m]', 'sum by (a) (x)', 'x{a="b"} or y', 'x offset 5m', '{a="b"}', ''])(
  'the selector %s is refused: it names no plain metric',
  (energy) => {
    const environment = {
      GW_GPU_COUNTERS: JSON.stringify({ a: { ...one, energy } }),
      GW_GPU_PROMETHEUS_URL: 'http://p',
    };
    expect(() => read(environment)).toThrow(
      /a\.energy: is not a metric with label matchers.*Example: GW_GPU_COUNTERS=/,
    );
  },
);

test('every problem is reported together, and no secret is', () => {
  const wrong = () =>
    read({
      GW_GPU_COUNTERS: JSON.stringify({ a: { ...one, unit: 'BTU' } }),
      GW_GPU_PROMETHEUS_TOKEN: 'secret token',
      GW_GPU_PROMETHEUS_HEADERS: '{"authorization":"secret\\n"}',
      GW_GPU_MAX_GAP_S: '0',
      GW_GPU_REFRESH_S: '0',
    });
  expect(wrong).toThrow(/a\.unit[\s\S]*GW_GPU_MAX_GAP_S[\s\S]*GW_GPU_REFRESH_S[\s\S]*_HEADERS[\s\S]*_TOKEN/);
  expect(wrong).not.toThrow('secret');
  expect(() => read({ GW_GPU_COUNTERS: '{' })).toThrow(/GW_GPU_COUNTERS is malformed \(the whole:/);
  expect(() => read({ GW_GPU_COUNTERS: JSON.stringify({ a: one }) })).toThrow(/GW_GPU_PROMETHEUS_URL is not set/);
  const withUser = { GW_GPU_COUNTERS: JSON.stringify({ a: one }), GW_GPU_PROMETHEUS_URL: 'http://u:pw@p' };
  expect(() => read(withUser)).toThrow(/not a plain http/);
  expect(() => read(withUser)).not.toThrow('pw');
});

test('samples are not read in plain sight: without https, Prometheus is on loopback or said to be in our own network', () => {
  const of = (url: string, mark: object = {}) =>
    read({ GW_GPU_COUNTERS: JSON.stringify({ a: one }), GW_GPU_PROMETHEUS_URL: url, ...mark }).prometheus.baseUrl;
  for (const url of [
    'https://prometheus.example',
    'http://127.0.0.1:9090',
    'http://localhost:9090',
    'http://[::1]:9090',
  ])
    expect(of(url)).toBe(url);
  const plain = 'http://prometheus:9090';
  expect(() => of(plain)).toThrow(/GW_GPU_PROMETHEUS_URL is plain http[\s\S]*https[\s\S]*GW_GPU_PROMETHEUS_LOCAL=true/);
  expect(() => of(plain, { GW_GPU_PROMETHEUS_LOCAL: 'yes' })).toThrow(
    /GW_GPU_PROMETHEUS_LOCAL is neither true nor false/,
  );
  expect(of(plain, { GW_GPU_PROMETHEUS_LOCAL: 'true' })).toBe(plain);
  for (const host of ['169.254.169.254', '[fe80::1]', 'metadata.google.internal'])
    expect(() => of(`http://${host}:9090`, { GW_GPU_PROMETHEUS_LOCAL: 'true' }), host).toThrow(
      /a host that is not allowed/,
    );
});
