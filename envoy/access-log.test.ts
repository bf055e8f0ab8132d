/** Envoy writes of calls under way to whom that is meant for, and to nobody else. */
import { tmpdir } from 'node:os';
import { testSettings } from '@gw/testing/envoy/settings';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { renderEnvoy } from './render.ts';

const filterSchema = z.looseObject({
  log_type_filter: z.strictObject({ types: z.array(z.string()), exclude: z.boolean().optional() }).optional(),
});
const loggerSchema = z.looseObject({
  filter: filterSchema.extend({ and_filter: z.looseObject({ filters: z.array(filterSchema) }).optional() }),
  typed_config: z.looseObject({ common_config: z.looseObject({ log_name: z.string() }).optional() }),
});
const managerSchema = z.looseObject({ access_log_options: z.unknown(), access_log: z.array(loggerSchema) });

function publicManager(): z.infer<typeof managerSchema> {
  const { static_resources: resources } = parse(renderEnvoy(testSettings(tmpdir())));
  return managerSchema.parse(resources.listeners[0].filter_chains[0].filters[1].typed_config);
}

test('one logger alone tells of calls under way, every ten seconds; all others leave these entries out', () => {
  const { access_log: loggers, access_log_options: options } = publicManager();
  expect(options).toEqual({ access_log_flush_interval: '10s' });
  const rules = loggers.map(({ filter, typed_config: { common_config: common } }) => {
    const filters = [filter, ...(filter.and_filter?.filters ?? [])];
    return [common?.log_name ?? 'file', ...filters.flatMap(({ log_type_filter: rule }) => (rule ? [rule] : []))];
  });
  const types = ['DownstreamPeriodic'];
  const ended = { types, exclude: true };
  expect(rules).toEqual([
    ['file', ended],
    ['ends', ended],
    ['unsent', ended],
    ['refused', ended],
    ['shown', ended],
    ['running', { types }],
  ]);
});
