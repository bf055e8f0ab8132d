/** Envoy writes of calls under way to whom that is meant for, and to nobody else. */
import { tmpdir } from 'node:os';
import { testSettings } from '@gw/testing/envoy/settings';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { renderEnvoy } from './render.ts';

const comparisonSchema = z.strictObject({
  op: z.string(),
  value: z.strictObject({ default_value: z.number(), runtime_key: z.string() }),
});
const filterSchema = z.looseObject({
  status_code_filter: z.strictObject({ comparison: comparisonSchema }).optional(),
  extension_filter: z.looseObject({ typed_config: z.looseObject({ expression: z.string() }) }).optional(),
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
  const { static_resources: resources } = JSON.parse(renderEnvoy(testSettings(tmpdir()), tmpdir()));
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

test('each request that ended in an error without a receipt is told to the sidecar once: what was given up at once, by its name, others in batches', () => {
  const { access_log: loggers } = publicManager();
  const rulesOf = (name: string) =>
    loggers
      .filter(({ typed_config: { common_config: common } }) => common?.log_name === name)
      .flatMap(({ filter }) => filter.and_filter?.filters ?? []);
  const expressionsOf = (name: string) =>
    rulesOf(name).flatMap(({ extension_filter: rule }) => (rule ? [rule.typed_config.expression] : []));
  // The second half is the answer of the sink. Both a sidecar and an ext-authz get it, and the sidecar alone counts it.
  const [failed, sunk] = ['response.code == 500', "response.code == 503 && response.code_details == 'via_upstream'"];
  expect(expressionsOf('unsent')).toEqual([`${failed} || ${sunk}`, `${failed} || ${sunk}`]);
  expect(expressionsOf('refused')).toEqual([
    `response.code_details != 'direct_response' && response.code != 500 && !(${sunk})`,
  ]);
  const statuses = rulesOf('refused').flatMap(({ status_code_filter: rule }) => (rule ? [rule.comparison] : []));
  expect(statuses).toEqual([{ op: 'GE', value: { default_value: 400, runtime_key: 'gw.refused_status' } }]);
});
