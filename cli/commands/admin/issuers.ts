/** `./gw admin issuers …`: the identity providers of accounts. The secret comes on standard input, never in an argument. */
import { type AdminCall, type AdminCommand, type AdminResult, given } from './command.ts';
import { standardInput } from './standard-input.ts';
import { card, type TableRow } from './table.ts';

const at = ({ arg }: AdminCall, ...rest: string[]): string =>
  ['/operator/v1/accounts', ...[arg(0), 'issuer', ...rest].map(encodeURIComponent)].join('/');
const usage = './gw admin issuers set <account> --issuer … < the-file-that-holds-the-client-secret';

function shown(value: unknown): AdminResult {
  const { dns_record: record, ...row } = value as TableRow & { readonly dns_record: Record<string, string> };
  return { value, text: card({ ...row, dns_record: `${record.name} ${record.type} ${record.value}` }) };
}

/** `readValue` is for tests. */
export const issuerCommands = (
  readValue: () => Promise<string> = () => standardInput('The client secret', usage),
): readonly AdminCommand[] => [
  {
    name: 'issuers show',
    args: ['account'],
    options: {},
    summary: 'show the identity provider of an account, without its secret',
    run: async (call) => shown(await call.api.get(at(call))),
  },
  {
    name: 'issuers set',
    args: ['account'],
    options: {
      'issuer!': 'the issuer of the provider: https://login.example.com',
      'client-id!': 'the client that is registered there for this account',
      'domain!': 'the domain of their e-mail addresses: example.com',
      claim: 'the claim that identifies the person: email (default), preferred_username, oid or sub',
    },
    fields: { client_id: 'client-id' },
    summary:
      'let the people of an account log in with their own identity provider; the client secret comes on standard input',
    run: async (call) => {
      const { 'client-id': client_id, ...rest } = given(call, 'issuer', 'client-id', 'domain', 'claim');
      return shown(await call.api.send('PUT', at(call), { ...rest, client_id, client_secret: await readValue() }));
    },
  },
  {
    name: 'issuers verify',
    args: ['account'],
    options: { reason: 'verify without DNS, and say why the domain is theirs; the customer can read it' },
    summary: "check the domain's TXT record; after that people can log in with the account's provider",
    run: async (call) => shown(await call.api.send('POST', at(call, 'verify'), given(call, 'reason'))),
  },
  {
    name: 'issuers remove',
    args: ['account'],
    options: {},
    summary: 'remove the identity provider of an account; sessions of its people end',
    run: async (call) => shown(await call.api.send('DELETE', at(call))),
  },
];
