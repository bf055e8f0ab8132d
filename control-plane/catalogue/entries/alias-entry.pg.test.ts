import { runAdmin } from '@gw/cli/internals/commands/admin';
import { openOperatorApi } from '@gw/cli/internals/commands/admin/api';
import {
  add,
  addAll,
  alias,
  as,
  at,
  change,
  deployment,
  errorOf,
  model,
  testApp,
  tokenOf,
  useTestApp,
} from '@gw/testing/control-plane/entries';
import { expect, test } from 'vitest';

useTestApp();
const targets = (...list: object[]) => change('aliases', { targets: list });
const messageOf = (reply: Awaited<ReturnType<typeof add>>): string => reply.json().error.message;

test('an id is that of a model or of an alias, and the error says so', async () => {
  await addAll();
  const asAlias = await add('aliases', { id: model.id });
  expect(errorOf(asAlias)).toEqual([400, 'invalid_id', 'id']);
  expect(messageOf(asAlias)).toContain(`has a model ${model.id}`);
  const asModel = await add('models', { id: alias.id });
  expect(errorOf(asModel)).toEqual([400, 'invalid_id', 'id']);
  expect(messageOf(asModel)).toContain(`has an alias ${alias.id}, and an id is that of a model or of an alias`);
});

test('its targets are there, of one kind, and there once; an alias is none', async () => {
  await addAll();
  const small = { model: 'sim-small' };
  const refusals = {
    nothing: await targets(),
    unknown: await targets(small, { model: 'no-such' }),
    nested: await targets({ model: alias.id }),
    provider: await targets({ ...small, provider: 'nobody' }),
    kinds: await targets(small, { model: 'sim-embed' }),
    twice: await targets(small, { ...small, provider: 'simulator' }, small),
    many: await targets(...Array.from({ length: 9 }, () => small)),
    field: await targets({ ...small, region: 'us-east' }),
  };
  expect(Object.fromEntries(Object.entries(refusals).map(([name, reply]) => [name, errorOf(reply)]))).toEqual({
    nothing: [400, 'invalid_targets', 'targets'],
    unknown: [400, 'invalid_model', 'targets[1].model'],
    nested: [400, 'invalid_model', 'targets[0].model'],
    provider: [400, 'invalid_provider', 'targets[0].provider'],
    kinds: [400, 'invalid_model', 'targets[1].model'],
    twice: [400, 'invalid_model', 'targets[2].model'],
    many: [400, 'invalid_targets', 'targets'],
    field: [400, 'invalid_region', 'targets[0].region'],
  });
  expect(messageOf(refusals.kinds)).toContain('sim-embed serves embedding, and sim-small serves chat');
});

test('a target that nothing serves, or that the ones before it take everything from, gives a warning', async () => {
  await addAll();
  const warnings = async (...list: object[]) => (await targets(...list)).json().warnings;
  const acme = { model: model.id, provider: 'acme' };
  expect(await warnings(acme)).toEqual([]);
  expect(await warnings({ model: 'sim-small', provider: 'acme' }, acme)).toEqual([
    'No deployment serves its target sim-small at acme.',
  ]);
  expect(await warnings({ model: model.id }, acme)).toEqual([
    expect.stringMatching(/^Its target acme\/m-1 at acme adds nothing: a call tries a deployment once/),
  ]);
  const { data } = (await as('viewer')('GET', at('aliases'))).json();
  expect(data[0].warnings).toHaveLength(1);
  await change('deployments', { models: { [model.id]: null } });
  expect((await as('viewer')('GET', at('aliases', alias.id))).json().warnings).toHaveLength(2);
});

test('a document that takes away what an alias names is refused by the name of the alias', async () => {
  await addAll();
  const { models, deployments, ...rest } = (await as('viewer')('GET', '/operator/v1/catalogue')).json();
  const others = (list: { id: string }[], id: string) => list.filter((each) => each.id !== id);
  const without = { models: others(models, model.id), deployments: others(deployments, deployment.id) };
  const { aliases: _, ...left } = { ...rest, ...without };
  for (const document of [left, { ...left, aliases: [alias] }]) {
    const reply = await as('admin')('PUT', '/operator/v1/catalogue', document);
    expect(reply.statusCode).toBe(409);
    expect(messageOf(reply)).toContain(`aliases name it: ${alias.id}`);
  }
  const renamed = { ...left, aliases: [{ ...alias, targets: [{ model: 'sim-small' }] }] };
  expect((await as('admin')('PUT', '/operator/v1/catalogue', renamed)).statusCode).toBe(200);
});

test('in one document a name passes from a model to an alias, and back, and accounts stay limited to it', async () => {
  await addAll();
  const account = '/operator/v1/accounts/acct_demo_audit';
  const path = '/operator/v1/catalogue';
  expect((await as('admin')('PATCH', account, { models: [model.id] })).statusCode).toBe(200);
  const before = (await as('viewer')('GET', path)).json();
  const renamed = { ...model, id: 'acme/m-1-pl' };
  const replaced = (list: { id: string }[], id: string, by: object) => list.map((each) => (each.id === id ? by : each));
  const targets = [{ model: renamed.id }, { model: 'sim-small' }];
  const after = {
    ...before,
    models: replaced(before.models, model.id, renamed),
    deployments: replaced(before.deployments, deployment.id, { ...deployment, models: { [renamed.id]: 'm1' } }),
    aliases: [
      { ...alias, targets },
      { id: model.id, targets },
    ],
  };
  const asAlias = await as('admin')('PUT', path, after);
  expect([asAlias.statusCode, asAlias.json().changes?.at(-1)]).toEqual([
    200,
    expect.objectContaining({ kind: 'alias', id: model.id, before: null }),
  ]);
  // The name alone, which nothing takes over, is not given up while the account needs it.
  const without = await as('admin')('PUT', path, { ...after, aliases: [{ ...alias, targets }] });
  expect([without.statusCode, messageOf(without)]).toEqual([409, expect.stringContaining('acct_demo_audit')]);
  expect((await as('admin')('PUT', path, before)).json()).toMatchObject({ object: 'catalogue_import' });
  expect((await as('viewer')('GET', path)).json()).toEqual(before);
  const gone = { ...after, models: replaced(before.models, model.id, renamed), aliases: [{ ...alias, targets }] };
  const refused = await as('admin')('PUT', path, gone);
  expect([refused.statusCode, messageOf(refused)]).toEqual([409, expect.stringContaining('acct_demo_audit')]);
  expect((await as('admin')('PATCH', account, { models: null })).statusCode).toBe(200);
});

test('a name stays with what has it while the document leaves out its section', async () => {
  await addAll();
  const path = '/operator/v1/catalogue';
  const { aliases, models } = (await as('viewer')('GET', path)).json();
  const both = { models: [...models, { ...model, id: alias.id }] };
  expect(errorOf(await as('admin')('PUT', path, both))).toEqual([400, 'invalid_id', `models[${models.length}].id`]);
  const taken = { aliases: [...aliases, { ...alias, id: model.id }] };
  expect(errorOf(await as('admin')('PUT', path, taken))).toEqual([400, 'invalid_id', 'aliases[1].id']);
  expect(errorOf(await as('admin')('PUT', path, { ...taken, models }))).toEqual([400, 'invalid_id', 'aliases[1].id']);
});

test('an account can be limited to it, and then it stays; the account sees it alone', async () => {
  await addAll();
  const path = '/operator/v1/accounts/acct_demo_audit';
  expect((await as('admin')('PATCH', path, { models: ['no-such'] })).statusCode).toBe(400);
  expect((await as('admin')('PATCH', path, { models: [alias.id] })).statusCode).toBe(200);
  const gone = await as('admin')('DELETE', at('aliases', alias.id));
  expect([gone.statusCode, messageOf(gone)]).toEqual([409, expect.stringContaining('acct_demo_audit')]);
  expect((await as('admin')('PATCH', path, { models: null })).statusCode).toBe(200);
  await testApp().refresh();
  expect((await testApp().get(`/v1/models/${alias.id}`)).json()).toMatchObject({
    id: alias.id,
    kind: 'chat',
    context_window: null,
    targets: alias.targets,
    regions: expect.arrayContaining(['pl-east', 'us-east']),
  });
});

test('in a shell its targets are typed and shown in one line', async () => {
  await addAll();
  let out = '';
  const print = (text: string) => {
    out += text;
  };
  const gw = async (...args: string[]) => {
    out = '';
    const api = () => openOperatorApi({ url: testApp().operatorUrl, token: tokenOf('admin') });
    expect(await runAdmin(args, { openApi: api, print, tell: print })).toBe(0);
    return out;
  };
  await gw('aliases', 'add', 'best', '--targets', 'sim-small=simulator, acme/m-1');
  expect(await gw('aliases', 'list')).toMatch(/^best +sim-small=simulator,acme\/m-1$/m);
  expect(await gw('aliases', 'set', 'best', '--targets', 'acme/m-1')).toMatch(/^targets +acme\/m-1$/m);
  await expect(gw('aliases', 'add', 'other')).rejects.toThrow('--targets is missing');
  await expect(gw('aliases', 'add', 'other', '--targets', 'a=')).rejects.toThrow('(invalid_provider)');
  await gw('aliases', 'remove', 'best');
  await expect(gw('aliases', 'show', 'best')).rejects.toThrow('There is no such alias. (invalid_alias)');
});
