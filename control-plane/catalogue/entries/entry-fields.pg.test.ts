import { add, change, type Kind, kinds, newest, useTestApp, version } from '@gw/testing/control-plane/entries';
import { expect, test } from 'vitest';

useTestApp();

const reported = { kind: 'reported', source: 'https://acme.example/pue' };
const wrong: readonly [Kind, object, string][] = [
  ['models', { id: 'a//b' }, 'id'],
  ['models', { id: '../b' }, 'id'],
  ['models', { id: 'a b' }, 'id'],
  ['models', { owned_by: '' }, 'owned_by'],
  ['models', { kind: 'image' }, 'kind'],
  ['models', { context_window: 0 }, 'context_window'],
  ['models', { context_window: 3e9 }, 'context_window'],
  ['models', { modalities: [] }, 'modalities'],
  ['models', { modalities: ['smell'] }, 'modalities[0]'],
  ['models', { takes_temperature: 'yes' }, 'takes_temperature'],
  ['models', { tokenizer: 'sentencepiece' }, 'tokenizer'],
  ['models', { active_parameters_b: 0, total_parameters_b: 8 }, 'active_parameters_b'],
  ['models', { active_parameters_b: { min: 9, max: 8 }, total_parameters_b: 9 }, 'active_parameters_b'],
  ['models', { active_parameters_b: 9, total_parameters_b: 8 }, 'active_parameters_b'],
  ['models', { active_parameters_b: 8 }, 'total_parameters_b'],
  ['models', { total_parameters_b: 8 }, 'active_parameters_b'],
  ['models', { total_parameters_b: '8' }, 'total_parameters_b'],
  ['models', { model_class: 'huge' }, 'model_class'],
  ['models', { model_class: 'embedding' }, 'model_class'],
  ['models', { kind: 'embedding', model_class: 'unknown' }, 'model_class'],
  ['models', { quantization_bits: 0 }, 'quantization_bits'],
  ['models', { quantization_bits: 128 }, 'quantization_bits'],
  ['models', { tokens_per_s: 0 }, 'tokens_per_s'],
  ['models', { ttft_s: -1 }, 'ttft_s'],
  ['models', { created_at: 'today' }, 'created_at'],
  ['models', { parameters_source: '' }, 'parameters_source'],
  ['models', { parameters_source: 'x'.repeat(301) }, 'parameters_source'],
  ['models', { parameters_source: 'the card\nof the model' }, 'parameters_source'],
  ['models', { parameters_source: '<img src=x onerror=alert(1)>' }, 'parameters_source'],
  ['models', { parameters_source: 'JavaScript:alert(1)' }, 'parameters_source'],
  ['models', { parameters_source: 'https://a.example/\u202egnp' }, 'parameters_source'],
  ['providers', { apis: [] }, 'apis'],
  ['providers', { apis: ['telepathy'] }, 'apis[0]'],
  ['providers', { apis: ['chat', 'chat'] }, 'apis'],
  ['regions', { code: 'PL East' }, 'code'],
  ['regions', { country: 'Poland' }, 'country'],
  ['regions', { country: 'UK' }, 'country'],
  ['regions', { grid_zone: 'a zone' }, 'grid_zone'],
  ['regions', { status: 'broken' }, 'status'],
  ['regions', { preference: -1 }, 'preference'],
  ['regions', { preference: 0.5 }, 'preference'],
  ['providers', { id: 'a>b' }, 'id'],
  ['providers', { kind: 'azure' }, 'kind'],
  ['providers', { base_url: 'llm.acme.example/v1' }, 'base_url'],
  ['providers', { base_url: 'ftp://llm.acme.example' }, 'base_url'],
  ['providers', { base_url: 'https://user:secret@llm.acme.example/v1' }, 'base_url'],
  ['providers', { base_url: 'https://llm.acme.example/v1?key=secret' }, 'base_url'],
  ['providers', { base_url: 'https://llm.acme.example/v1?' }, 'base_url'],
  ['providers', { base_url: 'https://llm.acme.example/v1#x' }, 'base_url'],
  ['providers', { base_url: 'https://llm.acme.example:0/v1' }, 'base_url'],
  ['providers', { base_url: 'http://169.254.169.254/latest' }, 'base_url'],
  ['providers', { base_url: 'http://0xA9FEA9FE/latest' }, 'base_url'],
  ['providers', { base_url: 'http://[::ffff:169.254.169.254]/latest' }, 'base_url'],
  ['providers', { base_url: 'http://metadata.google.internal/v1' }, 'base_url'],
  ['providers', { base_url: 'http://[fe80::1]/v1' }, 'base_url'],
  ['providers', { base_url: 'http://0.0.0.0/v1' }, 'base_url'],
  ['providers', { base_url: 'http://llm.acme.example/v1' }, 'base_url'],
  ['providers', { base_url: 'HTTP://10.0.0.5:8000/v1', local: false }, 'base_url'],
  ['providers', { base_url: 'http://127.0.0.1.acme.example/v1' }, 'base_url'],
  ['providers', { local: 'yes' }, 'local'],
  ['providers', { health_path: 'health' }, 'health_path'],
  ['providers', { health_path: '' }, 'health_path'],
  ['providers', { health_path: 'https://elsewhere/health' }, 'health_path'],
  ['providers', { health_path: '/a b' }, 'health_path'],
  ['providers', { health_path: '/x\r\ny: z' }, 'health_path'],
  ['providers', { local: null }, 'local'],
  ['providers', { auth_header: 'host', credential_ref: 'ACME' }, 'auth_header'],
  ['providers', { auth_header: 'x-gw-key', credential_ref: 'ACME' }, 'auth_header'],
  ['providers', { auth_header: 'a b', credential_ref: 'ACME' }, 'auth_header'],
  ['providers', { auth_scheme: 'Bearer' }, 'auth_scheme'],
  ['providers', { auth_scheme: 'Bearer sk', credential_ref: 'ACME' }, 'auth_scheme'],
  ['providers', { credential_ref: 'sk-secret' }, 'credential_ref'],
  ['deployments', { weight: -1 }, 'weight'],
  ['deployments', { weight: 1001 }, 'weight'],
  ['deployments', { max_concurrent_requests: 0 }, 'max_concurrent_requests'],
  ['deployments', { max_concurrent_requests: 2.5 }, 'max_concurrent_requests'],
  ['deployments', { id: 'a>b' }, 'id'],
  ['deployments', { provider: 'nobody' }, 'provider'],
  ['deployments', { region: 'nowhere' }, 'region'],
  ['deployments', { models: { 'no-such-model': 'x' } }, 'models'],
  ['deployments', { models: { 'acme/m-1': null } }, 'models'],
  ['deployments', { models: { 'acme/m-1': '' } }, 'models'],
  ['deployments', { models: ['acme/m-1'] }, 'models'],
  ['deployments', { pue: 0.99 }, 'pue'],
  ['deployments', { pue: 11 }, 'pue'],
  ['deployments', { wue_onsite_l_per_kwh: -0.1 }, 'wue_onsite_l_per_kwh'],
  ['deployments', { telemetry: 'meter' }, 'telemetry'],
  ['deployments', { accelerators: { model: 'H100', count: 0 } }, 'accelerators.count'],
  ['deployments', { accelerators: { model: 'H100' } }, 'accelerators.count'],
  ['deployments', { typical_concurrency: 0.9 }, 'typical_concurrency'],
  ['deployments', { typical_concurrency: 10_001 }, 'typical_concurrency'],
  ['deployments', { typical_concurrency: '24' }, 'typical_concurrency'],
  ['deployments', { pue_evidence: 'https://acme.example/pue' }, 'pue_evidence'],
  ['deployments', { pue_evidence: { kind: 'known', source: 'x' } }, 'pue_evidence.kind'],
  ['deployments', { pue_evidence: { kind: 'reported' } }, 'pue_evidence.source'],
  ['deployments', { pue_evidence: { kind: 'reported', source: '<b>x</b>' } }, 'pue_evidence.source'],
  ['deployments', { pue_evidence: { kind: 'reported', source: 'data:text/html,x' } }, 'pue_evidence.source'],
  ['deployments', { pue_evidence: { ...reported, period: '2025' } }, 'pue_evidence.period'],
  ['deployments', { pue_evidence: { ...reported, period: '2025-02-30/2025-03-01' } }, 'pue_evidence.period'],
  ['deployments', { pue_evidence: { ...reported, period: '2026-01-01/2025-01-01' } }, 'pue_evidence.period'],
  ['deployments', { pue_evidence: { ...reported, by: 'me' } }, 'pue_evidence.by'],
  ['deployments', { wue_evidence: reported }, 'wue_evidence'],
];
const stateNow = async () => [await newest(), await version()];
const isOfChange = (changes: object, param: string): boolean => {
  const given = changes as { models?: Record<string, unknown> };
  // In a change it takes the model out.
  if (given.models?.['acme/m-1'] === null) return false;
  return param !== 'id' && param !== 'code' && !('kind' in changes);
};

test.each([...new Set(wrong.map(([kind]) => kind))])(
  '%s with a wrong field are refused, and the error names it; nothing is changed',
  async (kind) => {
    const own = wrong.filter(([each]) => each === kind);
    for (const other of kinds.filter((each) => each !== kind)) if (other !== 'deployments') await add(other);
    const before = await stateNow();
    for (const [, changes, param] of own) {
      const { json, statusCode } = await add(kind, changes);
      const { param: named, type } = json().error;
      expect([statusCode, named, type], JSON.stringify(changes)).toEqual([400, param, 'validation_error']);
      expect(await stateNow(), JSON.stringify(changes)).toEqual(before);
    }
    expect((await add(kind)).statusCode).toBe(200);
    const stands = await stateNow();
    for (const [, changes, param] of own.filter((row) => isOfChange(row[1], row[2]))) {
      const { json, statusCode } = await change(kind, changes);
      expect([statusCode, json().error.param], JSON.stringify(changes)).toEqual([400, param]);
      expect(await stateNow(), JSON.stringify(changes)).toEqual(stands);
    }
  },
);

test('no error repeats what may be a credential', async () => {
  for (const changes of [{ base_url: 'https://u:sk-secret@llm.acme.example' }, { credential_ref: 'sk-secret' }])
    expect((await add('providers', changes)).body).not.toContain('sk-secret');
});
