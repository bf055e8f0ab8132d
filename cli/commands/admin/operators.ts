/** `./gw admin operators …`. */
import { Problem } from '@gw/stack/problem';
import type { Page } from './accounts.ts';
import { type AdminCommand, type AdminResult, given } from './command.ts';
import { card, type TableRow, table } from './table.ts';

const path = '/operator/v1/operators';
const at = (id: string, ...rest: string[]): string => [path, ...[id, ...rest].map(encodeURIComponent)].join('/');
const shown = (value: unknown): AdminResult => ({ value, text: card(value as TableRow) });
const roles = 'viewer, support or admin';

const move = (verb: 'disable' | 'enable' | 'reset-credential' | 'unbind-identity', summary: string): AdminCommand => ({
  name: `operators ${verb}`,
  args: ['operator'],
  options: {},
  summary,
  run: async ({ api, arg }) => shown(await api.send('POST', at(arg(0), verb))),
});

export const operatorCommands: readonly AdminCommand[] = [
  {
    name: 'operators whoami',
    args: [],
    options: {},
    summary: 'whose token this is',
    run: async ({ api }) => shown(await api.get('/session')),
  },
  {
    name: 'operators list',
    args: [],
    options: {},
    summary: 'the platform team',
    run: async ({ api }) => {
      const { data } = (await api.get(path)) as Page;
      return { value: data, text: table(data, ['id', 'name', 'email', 'role', 'state', 'logins', 'second_factor']) };
    },
  },
  {
    name: 'operators create',
    args: [],
    options: { 'name!': 'of the person', 'email!': 'with which the person logs in', 'role!': roles },
    summary: 'add a person; the credential is shown once',
    run: async (call) => shown(await call.api.send('POST', path, given(call, 'name', 'email', 'role'))),
  },
  {
    name: 'operators change',
    args: ['operator'],
    options: { name: 'new name', role: roles },
    summary: 'change name or role',
    run: async (call) => shown(await call.api.send('PATCH', at(call.arg(0)), given(call, 'name', 'role'))),
  },
  move('disable', 'end all logins, sessions and tokens of a person'),
  move('enable', 'let a disabled person in again'),
  move('reset-credential', 'make a new credential, shown once; sessions and tokens end'),
  move('unbind-identity', 'let the next login with the identity provider bind anew; sessions end'),
  {
    name: 'operators bind-identity',
    args: ['operator'],
    options: { 'subject!': "the person's claim sub, or oid if GW_OIDC_CLAIM is oid" },
    summary: 'bind an identity of the identity provider before its first login',
    run: async (call) => shown(await call.api.send('POST', at(call.arg(0), 'bind-identity'), given(call, 'subject'))),
  },
  {
    name: 'operators tokens',
    args: ['operator'],
    options: {},
    summary: 'tokens for scripts',
    run: async ({ api, arg }) => {
      const { data } = (await api.get(at(arg(0), 'tokens'))) as Page;
      return { value: data, text: table(data, ['id', 'name', 'created_at', 'expires_at'], 'No token.') };
    },
  },
  {
    name: 'operators create-token',
    args: [],
    options: { 'name!': 'what it is for', days: 'until it expires, 1 to 365; 90 unless given' },
    summary: 'make a token for a script in your own name; it is shown once',
    run: async (call) => {
      const days = call.option('days');
      if (days !== undefined && !/^\d+$/.test(days))
        throw new Problem('--days takes a whole number, for example --days 30.');
      const body = { ...given(call, 'name'), ...(days === undefined ? {} : { days: Number(days) }) };
      const { id } = (await call.api.get('/session')) as { readonly id: string };
      return shown(await call.api.send('POST', at(id, 'tokens'), body));
    },
  },
  {
    name: 'operators revoke-token',
    args: ['operator', 'token'],
    options: {},
    summary: 'end a token at once, by its id',
    run: async ({ api, arg }) => shown(await api.send('DELETE', at(arg(0), 'tokens', arg(1)))),
  },
];
