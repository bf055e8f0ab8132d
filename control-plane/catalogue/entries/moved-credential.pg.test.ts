/** A provider's credential does not go to another address than the one that it was named for. */
import { runAdmin } from '@gw/cli/internals/commands/admin';
import { openOperatorApi } from '@gw/cli/internals/commands/admin/api';
import { add, change, errorOf, newest, testApp, tokenOf, useTestApp, version } from '@gw/testing/control-plane/entries';
import { expect, test } from 'vitest';

useTestApp();

const moves = [
  'https://evil.example/v1',
  'https://llm.acme.example.evil.example/v1',
  'https://llm.acme.example:8443/v1',
  // The same host, but everybody on the way reads along.
  'http://llm.acme.example/v1',
];

test.each(moves)('a provider that moves to %s has to name its credential anew', async (base_url) => {
  await add('providers', { credential_ref: 'ACME' });
  const before = [await newest(), await version()];
  const refused = await change('providers', { base_url });
  expect(errorOf(refused)).toEqual([400, 'missing_required_parameter', 'credential_ref']);
  expect(refused.json().error.message).toContain('the credential ACME');
  expect([await newest(), await version()]).toEqual(before);
  const local = base_url.startsWith('http:');
  for (const credential_ref of ['ACME', null]) {
    const moved = await change('providers', { base_url, credential_ref, local });
    expect(moved.json()).toMatchObject({ base_url, credential_ref });
    await change('providers', { base_url: 'https://llm.acme.example/v1', credential_ref: 'ACME', local: false });
  }
});

test('another path is no other address, and without a credential there is nothing that could follow', async () => {
  await add('providers', { credential_ref: 'ACME' });
  for (const base_url of ['https://llm.acme.example/v2', 'https://LLM.acme.example:443/v2/'])
    expect((await change('providers', { base_url, name: 'Acme 2' })).statusCode).toBe(200);
  await change('providers', { credential_ref: null });
  expect((await change('providers', { base_url: 'https://other.example' })).statusCode).toBe(200);
});

test('the same in the shell, where the option is named', async () => {
  await add('providers', { credential_ref: 'ACME' });
  const url = testApp().operatorUrl;
  const openApi = () => openOperatorApi({ url, token: tokenOf('admin') });
  const run = (...args: string[]) => runAdmin(args, { openApi, print: () => {}, tell: () => {} });
  const set = ['providers', 'set', 'acme', '--url', 'https://other.example'];
  await expect(run(...set)).rejects.toThrow(/the credential ACME.*--credential/);
  expect(await run(...set, '--credential', 'ACME')).toBe(0);
});
