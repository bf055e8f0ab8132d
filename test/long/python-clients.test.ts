/** The official Python clients by the APIs that they speak today: each line of their checks, and the class of each error of the catalogue. */

import { errorCatalogue } from '@gw/contract/error-catalogue';
import { clientClass } from '@gw/contract/internals/error-pages/client-classes';
import { inCheckout } from '@gw/stack/checkout';
import { errorCodes, serveErrors } from '@gw/testing/error-replies';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type OwnGateway, startOwnGateway } from '../outage/own-gateway.ts';
import { runPython } from '../sdk/python-checks.ts';
import { pythonRelease, watchClients } from './frameworks/newest.ts';
import { pythonPackages } from './frameworks/packages.ts';

let gateway: OwnGateway;
let python: string;
let errors: Awaited<ReturnType<typeof serveErrors>>;

beforeAll(async () => {
  python = await pythonPackages('responses-messages');
  gateway = await startOwnGateway();
  errors = await serveErrors();
}, 1_200_000);
afterAll(async () => {
  await errors?.stop();
  await gateway?.stop();
});

watchClients(
  ['openai', 'anthropic'].map((name) => ({ name, releases: () => [pythonRelease(python, name)] })),
  (name) => name.replace(/: .*/, ''),
);

async function run(module: string, env: Readonly<Record<string, string>> = {}) {
  const folder = inCheckout('test', 'long', 'frameworks', 'python');
  const { checks, results } = await runPython(
    python,
    [`${folder}/checks.py`, module, inCheckout('test', 'sdk', 'python')],
    {
      GW_TEST_BASE_URL: `${gateway.stack.publicUrl}/v1`,
      GW_TEST_KEY: gateway.stack.keys.enterprise,
      ...env,
    },
  );
  expect(results.filter(([, failure]) => failure !== null)).toEqual([]);
  expect(checks).toBe(results.length);
}

test('openai: responses', () => run('responses'));

test('anthropic: messages', async () => {
  await run('messages', { GW_TEST_READ_ONLY_KEY: await readOnlyKey() });
});

test.each([
  ['openai', ['chat', 'responses']],
  ['anthropic', ['messages']],
] as const)('%s: the class of each error', async (maker, apis) => {
  const lines = errorCodes.map((code) => {
    const expected = clientClass(errorCatalogue[code].status, maker, 'python');
    return { code, url: errors.url(code), classes: Object.fromEntries(apis.map((api) => [api, expected])) };
  });
  await run('error_classes', { GW_TEST_ERRORS: JSON.stringify(lines) });
});

async function readOnlyKey(): Promise<string> {
  const reply = await fetch(`${gateway.stack.publicUrl}/v1/keys`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.stack.keys.admin}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'reader', scopes: ['inference:read'] }),
  });
  const { key } = (await reply.json()) as { readonly key: string };
  return key;
}
