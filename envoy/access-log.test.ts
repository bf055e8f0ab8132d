/** Envoy writes of calls under way to whom that is meant for, and to nobody else. */
import { tmpdir } from 'node:os';
import { testSettings } from '@gw/testing/envoy/settings';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { renderEnvoy } from './render.ts';

const comparisonSchema = z.strictObject({
  op: z.string(),
  value: z.strictObject({ default_value: z.number(), runtime_key: z.string() }),
});
const filterSchema = z.looseObject({
  status_code_filter: z.strictObject({ comparison: comparisonSchema }).optional(),
  log_type_filter: z.strictObject({ types: z.array(z.string()), exclude: z.boolean().optional() }).optional(),
});
const loggerSchema = z.looseObject({
  filter: filterSchema.extend({ and_filter: z.looseObject({ filters: z.array(filterSchema) }).optional() }),
  typed_config: z.looseObject({
    log_name: z.string().optional(),
    common_config: z.looseObject({ log_name: z.string() }).optional(),
  }),
});
const managerSchema = z.looseObject({ access_log_options: z.unknown(), access_log: z.array(loggerSchema) });

function publicManager(): z.infer<typeof managerSchema> {
  const { static_resources: resources } = parse(renderEnvoy(testSettings(tmpdir())));
  return managerSchema.parse(resources.listeners[0].filter_chains[0].filters[1].typed_config);
}

test('one logger alone tells of calls under way, every ten seconds; all others leave these entries out', () => {
  const { access_log: loggers, access_log_options: options } = publicManager();
  expect(options).toEqual({ access_log_flush_interval: '10s' });
  const rules = loggers.map(({ filter, typed_config: { common_config: common, log_name: name } }) => {
    const filters = [filter, ...(filter.and_filter?.filters ?? [])];
    return [
      common?.log_name ?? name ?? 'file',
      ...filters.flatMap(({ log_type_filter: rule }) => (rule ? [rule] : [])),
    ];
  });
  const types = ['DownstreamPeriodic'];
  const ended = { types, exclude: true };
  expect(rules).toEqual([
    ['file', ended],
    ['ends', ended],
    ['unsent', ended],
    ['unsent', ended],
    ['refused', ended],
    ['shown', ended],
    ['witnessed', ended],
    ['running', { types }],
  ]);
});

test('each request that ended in an error without a receipt is told to the sidecar once: 500 at once, by its name, others in batches', () => {
  const { access_log: loggers } = publicManager();
  const statusesOf = (name: string) =>
    loggers
      .filter(({ typed_config: { common_config: common } }) => common?.log_name === name)
      .flatMap(({ filter }) => filter.and_filter?.filters ?? [])
      .flatMap(({ status_code_filter: rule }) => (rule ? [rule.comparison] : []));
  const unsent = { default_value: 500, runtime_key: 'gw.unsent_status' };
  // Both a sidecar and an ext-authz get it, and the sidecar alone counts it.
  expect(statusesOf('unsent')).toEqual([
    { op: 'EQ', value: unsent },
    { op: 'EQ', value: unsent },
  ]);
  expect(statusesOf('refused')).toEqual([
    { op: 'GE', value: { default_value: 400, runtime_key: 'gw.refused_status' } },
    { op: 'NE', value: unsent },
  ]);
});
