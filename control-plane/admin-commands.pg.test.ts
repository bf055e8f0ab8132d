import { runAdmin } from '@gw/cli/internals/commands/admin';
import { findTarget, openOperatorApi } from '@gw/cli/internals/commands/admin/api';
import { knownProviders } from '@gw/contract/internal/catalogue/known-providers';
import { type Database, openDatabase } from '@gw/prisma/client';
import { seedOperators } from '@gw/testing/control-plane/access';
import { startTestApp, type TestApp } from '@gw/testing/control-plane/app';
import { forgeAudit } from '@gw/testing/control-plane/forge-audit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { appendAudit } from './people/audit/append.ts';

let running: TestApp;
let owner: Database;
let url: string;
let tokens: Awaited<ReturnType<typeof seedOperators>>;
const clock = new Date('2026-11-21T09:00:00.000Z');

/** As typed in a shell, by an admin unless said otherwise. */
async function gw(
  line: string,
  shown: string | NodeJS.ProcessEnv = tokens.admin,
): Promise<{ code: number; out: string; note: string }> {
  const environment = typeof shown === 'string' ? { GW_OPERATOR_TOKEN: shown } : shown;
  let out = '';
  let note = '';
  const args = [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
  const code = await runAdmin(args, {
    openApi: () => openOperatorApi(findTarget({ GW_CONTROL_URL: url, ...environment }, null)),
    print: (text) => {
      out += text;
    },
    tell: (text) => {
      note += text;
    },
  });
  return { code, out, note };
}
const json = async (line: string, shown?: NodeJS.ProcessEnv) => JSON.parse((await gw(`${line} --json`, shown)).out);

beforeAll(async () => {
  running = await startTestApp(() => clock);
  owner = openDatabase(running.stores.postgres.url, { connections: 1 });
  tokens = await seedOperators(running.context);
  url = running.operatorUrl;
}, 120_000);
afterAll(async () => {
  await owner?.$disconnect();
  await running?.stop();
});

test('accounts are listed in a table for people and as JSON for scripts', async () => {
  const { out } = await gw('accounts list --tier audit');
  expect(out).toMatch(/^ID +NAME +TIER +STATE +CREATED_AT\nacct_demo_audit +Demo, Audit +audit +active +2\S+Z\n$/);
  expect(await json('accounts list')).toHaveLength(3);
});

test('an account goes through suspension, reinstatement and change from the shell', async () => {
  expect((await json('accounts suspend acct_demo_audit --reason "not paid"')).state).toBe('suspended');
  await expect(gw('accounts suspend acct_demo_audit --reason x')).rejects.toThrow(
    /is suspended.*\(invalid_transition\)/,
  );
  expect((await gw('accounts reinstate acct_demo_audit --reason paid')).out).toMatch(/^state +active$/m);
  await json('accounts change acct_demo_audit --tier enterprise --limits 1/2/3');
  const changed = await json('accounts change acct_demo_audit --limits 10/20/3000 --models sim-small,sim-large');
  expect(changed).toMatchObject({
    limits: { per_s: 10, burst: 20, per_day: 3000, streams: 100 },
    models: ['sim-small', 'sim-large'],
  });
  expect(await json('accounts change acct_demo_audit --limits 10/20/3000/7 --shadow rate,day')).toMatchObject({
    limits: { streams: 7 },
    shadow: ['rate', 'day'],
  });
  expect(await json('accounts change acct_demo_audit --added-latency-ms 50 --added-cost-percent any')).toMatchObject({
    tolerance: { added_latency_ms: 50, added_cost_percent: null },
  });
  for (const [word, usage_impacts] of [
    ['on', true],
    ['off', false],
  ] as const)
    expect(await json(`accounts change acct_demo_audit --usage-impacts ${word}`)).toMatchObject({ usage_impacts });
  expect(await json('accounts change acct_demo_audit --added-latency-ms any')).toMatchObject({
    tolerance: { added_latency_ms: null, added_cost_percent: null },
  });
  expect(await json('accounts change acct_demo_audit --tokens 100000/')).toMatchObject({
    tokens: { per_minute: 100_000, per_day: null },
  });
  await expect(gw('accounts change acct_demo_audit --tokens 100000')).rejects.toThrow('--tokens takes');
  expect(await json('accounts change acct_demo_audit --tokens tier')).toMatchObject({
    tokens: { per_minute: null, per_day: null },
  });
  expect(await json('accounts change acct_demo_audit --shadow none')).toMatchObject({ shadow: [] });
  expect(await json('accounts change acct_demo_audit --tier audit --limits tier --models all')).toMatchObject({
    negotiated: false,
    models: null,
  });
});

test('a key is issued, rotated, revoked and restored from the shell; alone on standard output, and never again', async () => {
  const account = 'acct_demo_audit_plus';
  const { out, note } = await gw(
    `keys create ${account} --name robot --scopes inference:write,gw:export --expires-at 2027-01-01T00:00:00Z`,
  );
  expect(out).toMatch(/^gw_\S{62}\n$/);
  const id = out.slice(3, 15);
  expect(note).toMatch(new RegExp(`^id +${id}$`, 'm'));
  expect(note).not.toContain(out.slice(16, 40));
  expect(await json(`keys show ${account} ${id}`)).toMatchObject({
    name: 'robot',
    state: 'active',
    scopes: ['inference:write', 'gw:export'],
    expires_at: '2027-01-01T00:00:00.000Z',
  });
  const successor = await json(`keys rotate ${account} ${id} --name robot-2`);
  expect(successor).toMatchObject({ name: 'robot-2', predecessor: id, key: expect.stringMatching(/^gw_\S{62}$/) });
  expect(await json(`keys revoke ${account} ${id}`)).toMatchObject({ id, state: 'revoked' });
  const listed = await gw(`keys list ${account}`);
  expect(listed.out).toMatch(new RegExp(`^${id} +robot +revoked +- +\\["inference:write","gw:export"\\]`, 'm'));
  expect(listed.out).toMatch(new RegExp(`^${successor.id} +robot-2 +active`, 'm'));
  expect(await json(`keys list ${account}`)).toHaveLength(3);
  expect(listed.out).not.toContain(out.trim());
  expect((await gw(`keys restore ${account} ${id}`)).out).toMatch(/^state +active$/m);
  await expect(gw(`keys show acct_demo_audit ${id}`)).rejects.toThrow(/key_not_found/);
  await expect(gw(`keys create acct_demo_audit --name x --scopes gw:export`)).rejects.toThrow(/needs the tier/);
});

test('an account that is not there has no empty list of keys or people, but is unknown', async () => {
  for (const line of [
    'keys list acct_none',
    'keys list NOPE/x',
    'admins list acct_none',
    'keys show acct_none xxxxxxxxxxxx',
  ])
    await expect(gw(line), line).rejects.toThrow(/There is no such (account|key)/);
  expect((await gw('admins list acct_demo_audit_plus')).out).toBe('Nobody.\n');
});

test('a key of an Enterprise account is limited from the shell', async () => {
  const account = 'acct_demo_enterprise';
  const { id, limits } = await json(`keys create ${account} --name slow --limits 10/20//5`);
  expect(limits).toMatchObject({ per_s: 10, burst: 20, per_day: null, streams: 5, tokens_per_minute: null });
  expect(await json(`keys change ${account} ${id} --limits //300/`)).toMatchObject({
    limits: { per_s: null, burst: null, per_day: 300, streams: null },
  });
  expect(await json(`keys change ${account} ${id} --limits ///5/60000/`)).toMatchObject({
    limits: { per_day: null, streams: 5, tokens_per_minute: 60_000, tokens_per_day: null },
  });
  expect((await json(`keys change ${account} ${id} --limits none`)).limits).toBeNull();
  await expect(gw(`keys change ${account} ${id} --limits 10/20/30`)).rejects.toThrow('--limits 10/20//5');
  await expect(gw(`keys change ${account} ${id} --limits 10///`)).rejects.toThrow(/invalid_limits/);
});

test('people and their tokens are made and ended from the shell', async () => {
  const made = await json('operators create --name Ada --email ada@ops.example --role viewer');
  const { id } = made;
  const login = { GW_OPERATOR_EMAIL: 'ada@ops.example', GW_OPERATOR_CREDENTIAL: made.credential };
  const { token, id: tokenId } = await json('operators create-token --name nightly --days 3', login);
  const wrong = gw('operators whoami', { ...login, GW_OPERATOR_CREDENTIAL: 'wrong' });
  await expect(wrong).rejects.toThrow('does not accept the e-mail and credential');
  expect((await gw('operators whoami', token)).out).toContain(id);
  await expect(gw(`operators disable ${id}`, token)).rejects.toThrow(/needs the operator role admin/);
  await gw(`operators revoke-token ${id} ${tokenId}`);
  await expect(gw('operators whoami', token)).rejects.toThrow('does not accept the operator token');
  const person = await json('admins create acct_demo_audit --name Bo --email bo@demo.example');
  expect((await gw('admins list acct_demo_audit')).out).toContain(person.id);
  expect((await json(`admins disable acct_demo_audit ${person.id}`)).state).toBe('disabled');
});

test('a line that cannot be right shows how it is written', async () => {
  await expect(gw('accounts suspend acct_demo_audit')).rejects.toThrow('--reason is missing');
  await expect(gw('accounts fly')).rejects.toThrow("unknown command 'fly'");
  await expect(gw('accounts change acct_demo_audit --limits many')).rejects.toThrow('--limits 100/400/200000');
  expect((await gw('help')).out).toMatch(/^ +audit +list, verify/m);
  expect((await gw('accounts --help')).out).toContain('list');
});

test('the token of this checkout is not sent to another gateway, and what is missing is named', () => {
  const run = { controlUrl: 'http://127.0.0.1:8081', operatorToken: 'secret' } as Parameters<typeof findTarget>[1];
  expect(findTarget({}, run)).toEqual({ url: 'http://127.0.0.1:8081', token: 'secret' });
  const plain = { GW_CONTROL_URL: 'http://ops.example', GW_OPERATOR_TOKEN: 'secret' };
  expect(() => findTarget(plain, run)).toThrow('https');
  expect(() => findTarget({ GW_CONTROL_URL: 'https://other.example' }, run)).toThrow('GW_OPERATOR_TOKEN is not set');
  expect(() => findTarget({}, null)).toThrow('./gw up');
});

describe('audit verify', () => {
  const chain = 'acct_verified';
  const write = async (count: number) => {
    const actor = { kind: 'system', id: 'test', name: null } as const;
    for (let i = 0; i < count; i += 1)
      await running.context.db.$transaction((tx) =>
        appendAudit(tx, clock, {
          accountId: chain,
          actor,
          action: 'thing.done',
          target: `x:${i}`,
          requestId: null,
          after: { i },
        }),
      );
  };
  const headOf = async () => {
    const [found] = await json(`audit verify --chain ${chain}`);
    return `${found.chain}:${found.seq}:${found.hash}`;
  };
  /** Does what only the owner of the database can do. */
  const tamper = (sql: string) =>
    owner.$transaction([
      owner.$executeRawUnsafe('SET LOCAL session_replication_role = replica'),
      owner.$executeRawUnsafe(sql),
    ]);

  test('every chain verifies, prints its head, and still does when it has grown since the head was noted', async () => {
    await write(3);
    const noted = await headOf();
    await write(2);
    const { code, out } = await gw(`audit verify --head ${noted}`);
    expect(code).toBe(0);
    expect(out).toMatch(/^operators +\d+ +[0-9a-f]{64} +ok$/m);
    expect(out).toMatch(/^acct_verified +5 +[0-9a-f]{64} +ok$/m);
    expect(out).toMatch(/\d chains, no fault\.\n$/);
    // A head of another chain than the one that is asked for says nothing about it.
    expect((await gw(`audit verify --chain operators --head ${noted}`)).code).toBe(0);
  });

  test('a chain of more entries than a page verifies too', async () => {
    await write(1020);
    expect((await gw(`audit verify --chain ${chain}`)).code).toBe(0);
  }, 60_000);

  test('a chain of any name, and entries that nobody can have hashed, keep no other fault from being found', async () => {
    const heads = `INSERT INTO audit_heads VALUES ('a b/ä', 9223372036854775807, repeat('é', 64))`;
    const entries = [`at = 'infinity'`, `after = '{"i":"\\ud800"}'`];
    await tamper(heads);
    for (const [at, change] of entries.entries())
      await tamper(`UPDATE audit SET ${change} WHERE chain = '${chain}' AND seq = ${at + 1}`);
    const { code, out } = await gw('audit verify');
    expect(code).toBe(1);
    expect(out).toMatch(/^a b\/ä .* missing at 1$/m);
    expect(out).toMatch(/^acct_verified .* altered at 1, altered at 2$/m);
    await tamper(`DELETE FROM audit_heads WHERE chain = 'a b/ä'`);
    await tamper(`UPDATE audit SET at = '${clock.toISOString()}', after = json_build_object('i', seq - 1)
      WHERE chain = '${chain}' AND seq <= 2`);
    expect((await gw(`audit verify --chain ${chain}`)).code).toBe(0);
  });

  test('an entry that somebody with the database has chained is named, and listed with its fault', async () => {
    const account = 'acct_planted';
    await forgeAudit(running.context.db, account);
    const { code, out } = await gw('audit verify');
    expect(code).toBe(1);
    expect(out).toMatch(/^acct_planted .* forged at 1$/m);
    expect((await gw(`audit list --chain ${account}`)).out).toMatch(/account\.suspended .* forged$/m);
    await tamper(`DELETE FROM audit WHERE chain = '${account}'`);
    await tamper(`DELETE FROM audit_heads WHERE chain = '${account}'`);
  });

  test('an altered entry, one that was taken out, and a noted head that is gone are found', async () => {
    const noted = await headOf();
    await tamper(`UPDATE audit SET action = 'thing.undone' WHERE chain = '${chain}' AND seq = 2`);
    expect(await gw('audit verify')).toMatchObject({ code: 1, out: expect.stringContaining('altered at 2') });
    await tamper(`DELETE FROM audit WHERE chain = '${chain}' AND seq = 2`);
    expect(await gw(`audit verify --chain ${chain}`)).toMatchObject({
      code: 1,
      out: expect.stringContaining('missing at 2'),
    });
    // The end is cut off together with the head: the chain is whole in itself.
    await tamper(`DELETE FROM audit WHERE chain = '${chain}' AND seq > 1`);
    await tamper(
      `UPDATE audit_heads SET seq = 1, hash = (SELECT hash FROM audit WHERE chain = '${chain}') WHERE chain = '${chain}'`,
    );
    expect((await gw(`audit verify --chain ${chain}`)).code).toBe(0);
    expect((await gw(`audit verify --chain ${chain} --head ${noted}`)).code).toBe(1);
    // Written anew from the second entry on, with hashes that fit.
    await write(1100);
    expect((await gw(`audit verify --chain ${chain}`)).code).toBe(0);
    const rewritten = await gw(`audit verify --chain ${chain} --head ${noted}`);
    expect(rewritten).toMatchObject({ code: 1, out: expect.stringMatching(/altered at \d+/) });
    await tamper(`DELETE FROM audit WHERE chain = '${chain}'`);
    await tamper(`DELETE FROM audit_heads WHERE chain = '${chain}'`);
    expect((await gw(`audit verify --head ${noted}`)).code).toBe(1);
  }, 60_000);

  test('a chain whose head was deleted or set back stays in the check, as does one of which nothing is left', async () => {
    const account = 'acct_beheaded';
    const contact = { name: 'Bo', email: 'bo@a.example' };
    const contacts = { billingContact: contact, technicalContact: contact };
    await owner.account.create({
      data: { id: account, name: 'Beheaded', tier: 'audit', state: 'onboarding', ...contacts },
    });
    const row = async () => (await gw('audit verify')).out.split('\n').find((line) => line.startsWith(account));
    expect(await row()).toMatch(/ 0 +- +no entry$/);
    const actor = { kind: 'system', id: 'test', name: null } as const;
    const fact = { accountId: account, actor, action: 'a.b', target: 'x', requestId: null };
    for (let i = 0; i < 2; i += 1) await running.context.db.$transaction((tx) => appendAudit(tx, clock, fact));
    expect(await row()).toMatch(/ 2 +[0-9a-f]{64} +ok$/);
    const first = `(SELECT hash FROM audit WHERE chain = '${account}' AND seq = 1)`;
    await tamper(`UPDATE audit_heads SET seq = 1, hash = ${first} WHERE chain = '${account}'`);
    expect(await row()).toMatch(/ 2 +[0-9a-f]{64} +missing at 3$/);
    await tamper(`DELETE FROM audit_heads WHERE chain = '${account}'`);
    expect(await row()).toMatch(/ 2 +- +without a head at 2$/);
    await tamper(`DELETE FROM audit WHERE chain = '${account}'`);
    expect(await row()).toMatch(/no entry$/);
    const expiresAt = clock;
    await owner.onboarding.create({
      data: { accountId: account, state: 'account_created', expiresAt, updatedAt: clock },
    });
    expect(await gw('audit verify')).toMatchObject({
      code: 1,
      out: expect.stringMatching(/1 of \d+ chains have faults/),
    });
    expect(await row()).toMatch(/ 1 +- +missing at 1, without a head at 1$/);
  }, 60_000);
});

describe('a well-known provider', () => {
  test('is added as the list says, and what is given comes first', async () => {
    const url = 'https://acme.openai.azure.com';
    expect(await json(`providers add az --as azure-openai --url ${url} --credential AZ --timeout-s 90`)).toMatchObject({
      name: 'Azure OpenAI',
      base_url: url,
      auth_header: 'api-key',
      auth_scheme: null,
      credential_ref: 'AZ',
      path: 'openai/deployments/{model}/{endpoint}?api-version=2024-10-21',
      timeout_s: 90,
    });
    const mistral = await json('providers add mi --as mistral --name "Le Chat" --headers x-a=1,x-b=2');
    expect(mistral).toMatchObject({ name: 'Le Chat', base_url: 'https://api.mistral.ai/v1', headers: { 'x-a': '1' } });
    expect(mistral.request_fields).toMatchObject({ max_completion_tokens: 'max_tokens', logit_bias: null });
    expect(await json('providers set mi --request-fields seed=random_seed,user= --headers none')).toMatchObject({
      request_fields: { seed: 'random_seed', user: null },
      headers: null,
    });
    expect((await gw('providers show mi')).out).toContain('seed=random_seed,user=');
  });

  test('is refused in words that say what is missing', async () => {
    await expect(gw('providers add x --as azure-openai')).rejects.toThrow(
      '--url is missing: it is like https://resource.openai.azure.com.',
    );
    await expect(gw('providers add x --as nobody')).rejects.toThrow('--as takes one of openai, azure-openai,');
    await expect(gw('providers add x --url https://llm.example.com/v1')).rejects.toThrow('--name is missing.');
  });

  test('in the own network is marked as that', async () => {
    const add = 'providers add own --as vllm --url http://gpu-1:8000/v1';
    await expect(gw(add)).rejects.toThrow(/plain http to gpu-1:8000.*--local/);
    expect(await json(`${add} --local yes`)).toMatchObject({ base_url: 'http://gpu-1:8000/v1', local: true });
    await expect(gw('providers set own --local no')).rejects.toThrow('plain http to gpu-1:8000');
    expect(await json('providers set own --url https://gpu-1/v1 --local no')).toMatchObject({ local: false });
  });

  test('says where it tells how it is, unless a proxy in front does not pass that on', async () => {
    const add = (id: string) => `providers add ${id} --as vllm --url https://gpu-1/v1`;
    expect(await json(add('near'))).toMatchObject({ health_path: '/health' });
    expect(await json(`${add('behind')} --health-path none`)).toMatchObject({ health_path: null });
    expect(await json('providers set behind --health-path /llm/health')).toMatchObject({ health_path: '/llm/health' });
    // Nobody knows whether it is passed on there.
    const proxied = await json('providers add proxied --as vllm --url https://proxy/vllm/v1');
    expect(proxied).toMatchObject({ health_path: null });
  });

  test.each(Object.entries(knownProviders))('%s is an entry that the catalogue takes', async (id, known) => {
    const url = known.base_url ?? known.example;
    const added = await json(`providers add known-${id} --as ${id} --url ${url}`);
    expect(added).toMatchObject({ id: `known-${id}`, base_url: url, request_fields: known.request_fields ?? null });
    expect(added.apis).toEqual(known.apis);
  });
});
