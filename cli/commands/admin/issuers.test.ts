/** The issuer of an account from the shell: what is sent, and that the secret is shown nowhere. */
import { expect, test } from 'vitest';
import type { AdminCall } from './command.ts';
import { issuerCommands } from './issuers.ts';

const secret = 'secret of the client';
const reply = {
  object: 'account_issuer',
  domain: 'customer.example',
  dns_record: { name: '_gw-verification.customer.example', type: 'TXT', value: 'gw-verification=1' },
};

async function run(name: string, options: Readonly<Record<string, string>> = {}) {
  const sent: unknown[] = [];
  const note = async (...call: unknown[]) => {
    sent.push(call);
    return reply;
  };
  const call: AdminCall = {
    api: { get: (path: string) => note('GET', path), send: note } as unknown as AdminCall['api'],
    arg: () => 'acct_1',
    option: (option) => options[option],
    all: () => [],
    progress: () => {},
  };
  const command = issuerCommands(async () => secret).find((each) => each.name === `issuers ${name}`);
  const result = await command?.run(call);
  return { sent, text: result?.text };
}

const path = '/operator/v1/accounts/acct_1/issuer';

test('the secret goes in the body, and the record of DNS is printed in one line', async () => {
  const options = { issuer: 'https://login.customer.example', 'client-id': 'gw', domain: 'customer.example' };
  const { sent, text } = await run('set', options);
  const { issuer, domain } = options;
  expect(sent).toEqual([['PUT', path, { issuer, domain, client_id: 'gw', client_secret: secret }]]);
  expect(text).toMatch(/^dns_record +_gw-verification\.customer\.example TXT gw-verification=1$/m);
  expect(text).not.toContain(secret);
});

test('a domain is looked up, or vouched for with a reason', async () => {
  expect((await run('verify')).sent).toEqual([['POST', `${path}/verify`, {}]]);
  expect((await run('verify', { reason: 'the contract' })).sent).toEqual([
    ['POST', `${path}/verify`, { reason: 'the contract' }],
  ]);
  expect((await run('show')).sent).toEqual([['GET', path]]);
  expect((await run('remove')).sent).toEqual([['DELETE', path]]);
});
