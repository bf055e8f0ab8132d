import {
  add,
  addAll,
  alias,
  as,
  at,
  change,
  deployment,
  errorOf,
  idOf,
  kinds,
  log,
  model,
  newest,
  provider,
  region,
  testApp,
  useTestApp,
  version,
} from '@gw/testing/control-plane/entries';
import { expect, onTestFinished, test, vi } from 'vitest';
import { aliasKind } from './alias-entry.ts';

useTestApp();

type Document = Record<'models' | 'regions' | 'providers' | 'deployments' | 'aliases', Record<string, unknown>[]>;
const path = '/operator/v1/catalogue';
const written = async (): Promise<Document> => (await as('viewer')('GET', path)).json();
const put = (document: object, query = '') => as('admin')('PUT', `${path}${query}`, document);
/** Reads all lists, without their warnings, which depend on more than the catalogue. */
const everything = async () =>
  Promise.all(
    kinds.map(async (kind) => {
      const { data } = (await as('viewer')('GET', at(kind))).json() as { data: { last_change?: unknown }[] };
      // An entry that comes back has a later change.
      return data.map(({ last_change: _, ...entry }) => entry);
    }),
  );
const withoutAcme = ({ aliases, deployments, models, providers, regions }: Document): Document => ({
  models: models.filter(({ id }) => id !== model.id),
  regions: regions.filter(({ code }) => code !== region.code),
  providers: providers.filter(({ id }) => id !== provider.id),
  deployments: deployments.filter(({ id }) => id !== deployment.id),
  aliases: aliases.filter(({ id }) => id !== alias.id),
});

test('what is written down says only what somebody has to say, and applied again it changes nothing', async () => {
  await addAll();
  const document = await written();
  expect(document.models).toContainEqual(model);
  expect(document.regions).toContainEqual(region);
  expect(document.providers).toContainEqual(provider);
  expect(document.deployments).toContainEqual(deployment);
  expect(document.aliases).toEqual([alias]);
  const before = [await version(), await newest()];
  expect((await put(document)).json()).toEqual({ object: 'catalogue_import', dry_run: false, changes: [] });
  expect([await version(), await newest()]).toEqual(before);
});

test('a section of further kinds is left out where nothing is in it, and then stays as it is', async () => {
  const document = await written();
  expect(Object.keys(document)).toEqual(['models', 'regions', 'providers', 'deployments']);
  await addAll();
  const { aliases, ...others } = await written();
  expect(aliases).toEqual([alias]);
  expect((await put(others)).json().changes).toEqual([]);
  expect((await put({ aliases: [] })).json().changes).toMatchObject([{ kind: 'alias', after: null }]);
});

test('the deployments are read once for what warns of aliases, however many of them change', async () => {
  await addAll();
  const reads = vi.spyOn(aliasKind as Required<typeof aliasKind>, 'warningsBeside');
  onTestFinished(() => reads.mockRestore());
  const targets = [{ model: 'sim-small' }, { model: 'sim-small', provider: 'simulator' }];
  const aliases = ['acme/best', 'acme/new', 'acme/newer'].map((id) => ({ id, targets }));
  const { changes } = (await put({ aliases })).json();
  expect(changes.map(({ id, warnings }: { id: string; warnings: string[] }) => [id, warnings.length])).toEqual(
    aliases.map(({ id }) => [id, 1]),
  );
  expect(reads).toHaveBeenCalledOnce();
});

test('whatever the entries say, the document brings the same catalogue back', async () => {
  await addAll();
  await change('models', { active_parameters_b: { min: 3, max: 4 }, total_parameters_b: 30, takes_temperature: false });
  await change('regions', { status: 'degraded', preference: 7 });
  await change('providers', { credential_ref: 'ACME', auth_header: 'authorization', auth_scheme: null });
  await change('models', { parameters_source: 'https://acme.example/m-1' });
  await change('deployments', {
    accelerators: { model: 'H100', count: 8 },
    wue_onsite_l_per_kwh: 0.2,
    typical_concurrency: 24,
  });
  const evidence = { kind: 'reported', source: 'the report of 2025', period: '2025-01-01/2026-01-01' };
  await change('deployments', { pue_evidence: evidence, wue_evidence: { kind: 'assumed', source: 'a guess' } });
  const [document, before] = [await written(), await everything()];
  expect((await put(withoutAcme(document))).json().changes).toHaveLength(5);
  for (const kind of kinds) expect((await as('viewer')('GET', at(kind, idOf(kind)))).statusCode).toBe(404);
  expect((await put(document)).statusCode).toBe(200);
  expect(await everything()).toEqual(before);
});

test('a dry run says what would change, and changes nothing', async () => {
  await addAll();
  const document = withoutAcme(await written());
  const next = {
    ...document,
    models: [...document.models, { ...model, context_window: 8192 }],
    regions: [...document.regions, { ...region, code: 'pl-west' }],
    providers: [...document.providers, provider],
  };
  const before = [await everything(), await log()];
  const dry = (await put(next, '?dry_run=true')).json();
  expect(dry).toMatchObject({ dry_run: true });
  expect(dry.changes).toEqual([
    expect.objectContaining({ kind: 'alias', id: 'acme/best', after: null }),
    expect.objectContaining({ kind: 'deployment', id: 'acme-pl', after: null }),
    {
      kind: 'model',
      id: 'acme/m-1',
      before: { context_window: null },
      after: { context_window: 8192 },
      warnings: [expect.stringContaining('degraded')],
    },
    expect.objectContaining({ kind: 'region', id: 'pl-west', before: null }),
    expect.objectContaining({ kind: 'region', id: 'pl-east', after: null }),
  ]);
  expect([await everything(), await log()]).toEqual(before);
  expect((await put(next)).json()).toEqual({ ...dry, dry_run: false });
  const actions = (await log()).slice(0, 5).map(({ action, target }) => [action, target]);
  expect(actions.toReversed()).toEqual([
    ['alias.removed', 'alias:acme/best'],
    ['deployment.removed', 'deployment:acme-pl'],
    ['model.changed', 'model:acme/m-1'],
    ['region.added', 'region:pl-west'],
    ['region.removed', 'region:pl-east'],
  ]);
  await testApp().context.db.region.delete({ where: { code: 'pl-west' } });
});

test('a section that is left out stays as it is, and so does a status that nobody has written down', async () => {
  await addAll();
  await change('regions', { status: 'saturated' });
  const { regions } = await written();
  const others = regions.filter(({ code }) => code !== region.code);
  const { changes } = (await put({ regions: [...others, { ...region, name: 'Warszawa' }] })).json();
  expect(changes).toEqual([
    { kind: 'region', id: 'pl-east', before: { name: 'Warsaw' }, after: { name: 'Warszawa' }, warnings: [] },
  ]);
  expect((await as('viewer')('GET', at('regions', 'pl-east'))).json()).toMatchObject({ status: 'saturated' });
  expect((await as('viewer')('GET', at('deployments', 'acme-pl'))).statusCode).toBe(200);
});

test.each<[string, (document: Document) => object, [number, string, string]]>([
  [
    'a field that is wrong',
    (all) => ({ deployments: [...all.deployments, { ...deployment, id: 'x', pue: 0.5 }] }),
    [400, 'invalid_pue', 'deployments[2].pue'],
  ],
  [
    'a field that is not there',
    () => ({ models: [{ id: 'm', kind: 'chat' }] }),
    [...([400, 'missing_required_parameter', 'models[0].owned_by'] as const)],
  ],
  ['a section that nobody knows', () => ({ modles: [] }), [400, 'invalid_modles', 'modles']],
  [
    'an id that is there twice',
    (all) => ({ regions: [...all.regions, region] }),
    [400, 'invalid_code', 'regions[4].code'],
  ],
  [
    'what is referred to and not there',
    (all) => ({ deployments: [...all.deployments, { ...deployment, id: 'x', provider: 'nobody' }] }),
    [400, 'invalid_provider', 'deployments[2].provider'],
  ],
  ['what is still referred to', () => ({ providers: [] }), [409, 'invalid_transition', 'providers']],
])('%s is refused with its place, and nothing has changed', async (_, of, error) => {
  await addAll();
  const document = await written();
  const before = [await everything(), await log(), await version()];
  const reply = await put({ ...of(document), ...(error[2].startsWith('models') ? {} : { models: document.models }) });
  const [status, code, param] = errorOf(reply);
  expect([status, code]).toEqual(error.slice(0, 2));
  expect(String(param).replace(/\[\d+\]/, '[]')).toBe(error[2].replace(/\[\d+\]/, '[]'));
  expect([await everything(), await log(), await version()]).toEqual(before);
});

test('the file names a credential with each address, so an address may move in it', async () => {
  await add('providers', { credential_ref: 'ACME' });
  const document = await written();
  const providers = document.providers.map((each) =>
    each.id === provider.id ? { ...each, base_url: 'https://other.example/v1' } : each,
  );
  expect((await put({ providers })).statusCode).toBe(200);
});

test('admins alone apply a document; viewers read it', async () => {
  expect((await as('viewer')('PUT', path, {})).statusCode).toBe(403);
  expect((await as('viewer')('GET', path)).statusCode).toBe(200);
});
