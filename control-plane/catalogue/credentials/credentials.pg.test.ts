import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runAdmin } from '@gw/cli/internals/commands/admin';
import { openOperatorApi } from '@gw/cli/internals/commands/admin/api';
import { credentialCommands } from '@gw/cli/internals/commands/admin/credentials';
import { add, as, at, errorOf, log, newest, testApp, tokenOf, useTestApp } from '@gw/testing/control-plane/entries';
import { pino } from 'pino';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { createVault } from '../../shared/vault.ts';
import type { CredentialSettings } from './config.ts';
import { openCredentials } from './credentials.ts';

useTestApp();
const path = '/operator/v1/credentials';
const acme = `${path}/ACME`;
const url = 'https://llm.acme.example/v1';
const set = (value: string, more: object = {}) => as('admin')('PUT', acme, { value, ...more });
const used = (baseUrl = url) => testApp().services.catalogue.credentials.find('ACME', baseUrl);
afterEach(async () => {
  await testApp().context.db.providerCredential.deleteMany();
  await testApp().services.catalogue.credentials.refresh();
});

test('a credential is set, rotated, put back and removed; nobody reads it, and the audit log tells of each', async () => {
  await add('providers', { credential_ref: 'ACME' });
  const replies = [await set('sk-one'), await set('sk-two')];
  expect(used()).toBe('sk-two');
  expect(replies[1]?.json()).toEqual({
    name: 'ACME',
    object: 'provider_credential',
    source: 'operator',
    origin: 'https://llm.acme.example',
    set_at: '2026-11-21T09:00:00.000Z',
    has_previous: true,
    readable: true,
    providers: ['acme'],
  });
  replies.push(await as('admin')('POST', `${acme}/restore`));
  expect(used()).toBe('sk-one');
  replies.push(await as('viewer')('GET', path));
  expect(errorOf(await as('admin')('DELETE', acme))).toEqual([409, 'invalid_transition', null]);
  await as('admin')('PATCH', at('providers', 'acme'), { credential_ref: null });
  replies.push(await as('admin')('DELETE', acme));
  expect(used()).toBeNull();
  const told = (await log()).filter(({ target }) => target === 'provider_credential:ACME');
  expect(told.map(({ action, after, before }) => [action, before, after])).toEqual([
    ['provider_credential.removed', { origin: 'https://llm.acme.example' }, null],
    ['provider_credential.restored', { origin: 'https://llm.acme.example' }, { origin: 'https://llm.acme.example' }],
    ['provider_credential.set', { origin: 'https://llm.acme.example' }, { origin: 'https://llm.acme.example' }],
    ['provider_credential.set', null, { origin: 'https://llm.acme.example' }],
  ]);
  expect(replies.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200, 200]);
  expect(JSON.stringify([told, ...replies.map(({ body }) => body)])).not.toContain('sk-');
});

test('it goes to the origin that it was set for, and to no other, whoever changes the provider', async () => {
  expect(errorOf(await set('sk-one'))).toEqual([400, 'missing_required_parameter', 'base_url']);
  expect((await set('sk-one', { base_url: url })).statusCode).toBe(200);
  expect([used(), used('https://llm.acme.example:8443/v1'), used('http://llm.acme.example/v1')]).toEqual([
    'sk-one',
    null,
    null,
  ]);
  await add('providers', { credential_ref: 'ACME', base_url: 'https://elsewhere.example/v1' });
  const [shown] = (await as('viewer')('GET', at('providers'))).json().data;
  expect(shown.warnings).toEqual([expect.stringContaining('no credential ACME for https://elsewhere.example')]);
  expect(errorOf(await set('sk-two', { base_url: url }))).toEqual([400, 'invalid_base_url', 'base_url']);
  // Set for another place, it begins anew: the one before was not for that place.
  const moved = await set('sk-two');
  expect(moved.json()).toMatchObject({ origin: 'https://elsewhere.example', has_previous: false });
  expect(errorOf(await as('admin')('POST', `${acme}/restore`))).toEqual([409, 'invalid_transition', null]);
});

test('a provider that has moved: without its address the new one is not sent to where it was', async () => {
  await add('providers', { credential_ref: 'ACME' });
  await set('sk-one');
  await as('admin')('PATCH', at('providers', 'acme'), { base_url: 'https://moved.example/v1', credential_ref: 'ACME' });
  expect((await set('sk-two')).json()).toMatchObject({ origin: 'https://moved.example', has_previous: false });
  expect([used(), used('https://moved.example/v1')]).toEqual([null, 'sk-two']);
});

test('while the key is exchanged, what the one before has sealed is sealed again, and then opens without it', async () => {
  const { db } = testApp().context;
  const [older, newer] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
  const origin = 'https://llm.acme.example';
  const seal = (value: string) => new Uint8Array(createVault([older]).seal(value, { name: 'ACME', origin }));
  const data = { name: 'ACME', origin, sealed: seal('sk-two'), previous: seal('sk-one'), setAt: new Date() };
  await db.providerCredential.create({ data });
  const log = pino({ enabled: false });
  const openWith = async (...keys: [Buffer, ...Buffer[]]) => {
    const settings = { environment: new Map<string, string>(), dir: null, vault: createVault(keys) };
    const credentials = openCredentials({ db, log, settings });
    expect(credentials.isRead()).toBe(false);
    await credentials.refresh();
    expect(credentials.isRead()).toBe(true);
    return credentials.find('ACME', url);
  };
  expect(await openWith(newer)).toBeNull();
  const old = openCredentials({
    db,
    log,
    settings: { environment: new Map(), dir: null, vault: createVault([older]) },
  });
  await old.refresh();
  expect(await openWith(newer, older)).toBe('sk-two');
  expect(await openWith(newer)).toBe('sk-two');
  // An instance that was not started again yet goes on with what it has.
  await old.refresh();
  expect(old.find('ACME', url)).toBe('sk-two');
  expect(old.list()).toMatchObject([{ isReadable: false }]);
  const row = await db.providerCredential.findUniqueOrThrow({ where: { name: 'ACME' } });
  expect(createVault([newer]).open(row.previous ?? new Uint8Array(), { name: 'ACME', origin })?.value).toBe('sk-one');
});

test('a row that was moved to another origin, or altered, opens for nobody', async () => {
  await set('sk-one', { base_url: url });
  const { credentials } = testApp().services.catalogue;
  const { db } = testApp().context;
  await db.providerCredential.update({ where: { name: 'ACME' }, data: { origin: 'https://evil.example' } });
  await credentials.refresh();
  expect(credentials.find('ACME', 'https://evil.example/v1')).toBeNull();
  expect(credentials.list()).toMatchObject([{ name: 'ACME', isReadable: false }]);
});

test.each([
  ['sk one\nx-evil: 1', 'value'],
  ['', 'value'],
  [' sk', 'value'],
  ['schlüssel', 'value'],
  ['x'.repeat(8193), 'value'],
])('a value that cannot stand in a header is refused, and is in no error: %j', async (value, param) => {
  const reply = await set(value, { base_url: url });
  expect(errorOf(reply)).toEqual([400, 'invalid_value', param]);
  if (value.length > 2) expect(reply.body).not.toContain(value.slice(0, 40));
});

test('viewers list them, admins change them; another name is refused', async () => {
  expect((await as('viewer')('PUT', acme, { value: 'sk', base_url: url })).statusCode).toBe(403);
  expect(errorOf(await as('admin')('PUT', `${path}/acme`, { value: 'sk', base_url: url }))[0]).toBe(400);
  expect(errorOf(await as('admin')('DELETE', acme))).toEqual([404, 'invalid_provider_credential', null]);
  expect(errorOf(await as('admin')('POST', `${acme}/restore`))).toEqual([404, 'invalid_provider_credential', null]);
});

test('in the shell it is read from standard input', async () => {
  const api = openOperatorApi({ url: testApp().operatorUrl, token: tokenOf('admin') });
  const command = credentialCommands(async () => 'sk-typed').find(({ name }) => name === 'credentials set');
  const call = {
    api,
    arg: () => 'ACME',
    option: (name: string) => (name === 'url' ? url : undefined),
    all: () => [],
    progress: () => {},
  };
  const { text } = (await command?.run(call)) ?? { text: '' };
  expect(text).toMatch(/origin +https:\/\/llm\.acme\.example/);
  expect(text).not.toContain('sk-typed');
  expect(used()).toBe('sk-typed');
  let out = '';
  const print = (said: string) => {
    out += said;
  };
  expect(await runAdmin(['credentials', 'list'], { openApi: () => api, print, tell: print })).toBe(0);
  expect(out).toMatch(/ACME +operator +https:\/\/llm\.acme\.example/);
  expect((await newest())?.action).toBe('provider_credential.set');
});

test('an operator’s comes before a file’s, and that before the environment’s; files are read again', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'gw-credentials-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const { db } = testApp().context;
  const logged: string[] = [];
  const settings: CredentialSettings = {
    environment: new Map([['ACME', 'sk-environment']]),
    dir,
    vault: createVault([Buffer.alloc(32, 1)]),
  };
  const log = pino({}, { write: (line: string) => void logged.push(line) });
  const credentials = openCredentials({ db, log, settings });
  const find = async () => {
    await credentials.refresh();
    return credentials.find('ACME', url);
  };
  expect(await find()).toBe('sk-environment');
  writeFileSync(join(dir, 'ACME'), 'sk-file\n');
  writeFileSync(join(dir, '..data'), 'no credential');
  writeFileSync(join(dir, 'ODD'), 'two\nlines');
  expect(await find()).toBe('sk-file');
  writeFileSync(join(dir, 'ACME'), 'sk-file-2\n');
  mkdirSync(join(dir, 'FOLDER'));
  expect(await find()).toBe('sk-file-2');
  // Somebody is about to write it.
  writeFileSync(join(dir, 'ACME'), '');
  expect(await find()).toBe('sk-file-2');
  expect(logged.filter((line) => line.includes('/ODD"'))).toHaveLength(1);
  expect(logged.join()).not.toContain('lines');
  const sealed = settings.vault?.seal('sk-operator', { name: 'ACME', origin: 'https://llm.acme.example' });
  await db.providerCredential.create({
    data: { name: 'ACME', origin: 'https://llm.acme.example', sealed: new Uint8Array(sealed ?? []), setAt: new Date() },
  });
  expect(await find()).toBe('sk-operator');
  // While the folder is away, what was read holds.
  await db.providerCredential.deleteMany();
  rmSync(dir, { recursive: true });
  expect(await find()).toBe('sk-file-2');
});
