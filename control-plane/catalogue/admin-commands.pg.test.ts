import { readFileSync } from 'node:fs';
import { runAdmin } from '@gw/cli/internals/commands/admin';
import { openOperatorApi } from '@gw/cli/internals/commands/admin/api';
import { newest, testApp, tokenOf, useTestApp } from '@gw/testing/control-plane/entries';
import { beforeAll, expect, test } from 'vitest';

let url: string;
useTestApp();
beforeAll(async () => {
  url = testApp().operatorUrl;
});

const page = readFileSync(new URL('../../docs/catalogue.md', import.meta.url), 'utf8');

/** As typed in a shell, by an admin. */
async function gw(line: string): Promise<string> {
  let out = '';
  const args = [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
  const print = (text: string) => {
    out += text;
  };
  const api = () => openOperatorApi({ url, token: tokenOf('admin') });
  expect(await runAdmin(args, { openApi: api, print, tell: print })).toBe(0);
  return out;
}
const json = async (line: string) => JSON.parse(await gw(`${line} --json`));
const addAll = async () => {
  await gw('providers add acme --name "Acme Inc" --url https://llm.acme.example/v1 --credential ACME');
  await gw('regions add pl-east --name Warsaw --country PL --zone POL');
  await gw(
    'models add acme/m-1 --owned-by acme --kind chat --total 30-40 --active 3 --class moe_small_active --bits 8',
  );
  await gw('deployments add acme-pl --provider acme --region pl-east --pue 1.2 --model acme/m-1=m=1 --model sim-small');
};

test('each kind of entry is added, shown, listed, changed and removed', async () => {
  await addAll();
  expect(await json('models show acme/m-1')).toMatchObject({
    active_parameters_b: { min: 3, max: 3 },
    total_parameters_b: { min: 30, max: 40 },
    quantization_bits: 8,
  });
  expect(await json('deployments show acme-pl')).toMatchObject({
    models: { 'acme/m-1': 'm=1', 'sim-small': 'sim-small' },
  });
  expect(await json('providers list')).toMatchObject([{ id: 'acme', credential_ref: 'ACME' }, { id: 'simulator' }]);
  const changed = await json('regions set pl-east --status degraded --preference 3');
  expect(changed).toMatchObject({ status: 'degraded', preference: 3, grid_zone: 'POL' });
  await gw('deployments set acme-pl --without sim-small --model acme/m-1 --wue 0.3 --accelerators "8 x H100"');
  expect(await newest()).toMatchObject({
    action: 'deployment.changed',
    after: {
      models: { 'acme/m-1': 'acme/m-1' },
      wue_onsite_l_per_kwh: 0.3,
      accelerators: { model: 'H100', count: 8 },
    },
  });
  await gw('deployments set acme-pl --pue-evidence "reported 2025-01-01/2026-01-01 https://acme.example/pue 2025"');
  const reported = { kind: 'reported', source: 'https://acme.example/pue 2025', period: '2025-01-01/2026-01-01' };
  expect(await json('deployments show acme-pl')).toMatchObject({ pue_evidence: reported });
  expect(await gw('deployments show acme-pl')).toContain(
    'reported 2025-01-01/2026-01-01 https://acme.example/pue 2025',
  );
  await gw('deployments set acme-pl --wue-evidence "assumed by us"');
  expect(await json('deployments show acme-pl')).toMatchObject({
    wue_evidence: { kind: 'assumed', source: 'by us', period: null },
  });
  await gw('deployments set acme-pl --typical-concurrency 24.5');
  expect(await json('deployments show acme-pl')).toMatchObject({ typical_concurrency: 24.5 });
  expect(await gw('deployments show acme-pl')).toMatch(/^typical_concurrency +24\.5$/m);
  await gw('deployments set acme-pl --typical-concurrency none');
  expect(await json('deployments show acme-pl')).toMatchObject({ typical_concurrency: null });
  await gw('deployments set acme-pl --accelerators none --wue none --pue-evidence none');
  expect(await json('deployments show acme-pl')).toMatchObject({ pue_evidence: null, wue_evidence: null });
  expect(await json('deployments show acme-pl')).toMatchObject({ accelerators: null, wue_onsite_l_per_kwh: null });
  await gw('models set acme/m-1 --takes-temperature no --modalities text,image --ttft none --context-window 8192');
  await gw('models set acme/m-1 --tokenizer cl100k_base');
  expect(await json('models show acme/m-1')).toMatchObject({
    takes_temperature: false,
    modalities: ['text', 'image'],
    ttft_s: null,
    context_window: 8192,
    tokenizer: 'cl100k_base',
  });
  await expect(gw('regions remove pl-east')).rejects.toThrow('deployments are in it: acme-pl. (invalid_transition)');
  expect(await json('deployments remove acme-pl')).toEqual({ id: 'acme-pl', object: 'deployment', deleted: true });
  for (const one of ['models remove acme/m-1', 'regions remove pl-east', 'providers remove acme']) await gw(one);
  await expect(gw('models show acme/m-1')).rejects.toThrow('There is no such model. (invalid_model)');
});

test('people see ranges, names and warnings in the form in which they are typed', async () => {
  await addAll();
  expect(await gw('models list')).toMatch(/^acme\/m-1 +chat +acme +3 +30-40 +moe_small_active +-$/m);
  expect(await gw('deployments list')).toMatch(/^acme-pl +acme +pl-east +acme\/m-1=m=1,sim-small +1\.2 +- +-$/m);
  const warning = /^Warning: acme: There is no credential ACME for /m;
  expect(await gw('providers list')).toMatch(warning);
  expect(await gw('providers show acme')).toMatch(warning);
  await gw('deployments set acme-pl --accelerators "8 x H100 NVL"');
  expect(await gw('deployments show acme-pl')).toMatch(/^accelerators +8 x H100 NVL$/m);
});

test('what cannot be right is refused before it is sent, and shows how it is written', async () => {
  const lines = {
    'models add m --owned-by acme': '--kind is missing',
    'models set sim-small': 'Nothing to change',
    'models set sim-small --total many': '--total 8, or 30-40',
    'models set sim-small --bits eight': '--bits takes a number',
    'models set sim-small --takes-temperature 1': '--takes-temperature takes yes or no',
    'deployments set sim-us-east --accelerators H100': '--accelerators "8 x H100"',
    'deployments set sim-us-east --pue-evidence reported': '--pue-evidence "reported 2025-01-01/2026-01-01 https://…"',
    'deployments set sim-us-east --pue 0.5': '(invalid_pue)',
    'deployments set sim-us-east --model nothing-like-it': 'the catalogue has no model nothing-like-it',
  };
  for (const [line, words] of Object.entries(lines)) await expect(gw(line), line).rejects.toThrow(words);
  expect(await gw('deployments set --help')).toMatch(/--without <value> +a model that it serves no more/);
});

test('evidence is stated as the documentation types it', async () => {
  await addAll();
  const [, block = ''] = /```sh\n(\.\/gw admin deployments set [^`]*)```/.exec(page) ?? [];
  const lines = block.trim().split('\n');
  expect(lines).toHaveLength(2);
  for (const line of lines) await gw(line.replace('./gw admin ', ''));
  expect(await json('deployments show acme-pl')).toMatchObject({
    pue: 1.18,
    pue_evidence: { kind: 'reported', source: 'https://acme.example/pue-2025', period: '2025-01-01/2026-01-01' },
  });
  expect(await json('models show acme/m-1')).toMatchObject({ parameters_source: expect.stringContaining('the card') });
});
