/** `./gw admin retention …`: how long each kind is kept, for all accounts and for single ones. */
import { Problem } from '@gw/stack/problem';
import type { AdminCall, AdminCommand } from './command.ts';
import { card, type TableRow, table } from './table.ts';

const path = '/operator/v1/retention';
const columns = ['kind', 'keep', 'unit', 'default', 'accounts', 'what'];
const account = 'id of an account; all accounts without a policy of their own unless given';

export const retentionCommands: readonly AdminCommand[] = [
  {
    name: 'retention list',
    args: [],
    options: {},
    summary: 'show how long each kind of data is kept; - in KEEP means forever',
    run: async ({ api }) => {
      const { data } = (await api.get(path)) as { readonly data: readonly TableRow[] };
      return { value: data, text: table(data, columns) };
    },
  },
  {
    name: 'retention set',
    args: ['kind'],
    options: { 'keep!': 'a number in the unit of the kind, or forever', account },
    summary: 'set how long a kind is kept; older data is removed within minutes, unless a legal hold is on its account',
    run: async (call) => {
      const body = { account: accountIn(call), keep: keepIn(call) };
      return shown(await call.api.send('PUT', at(call), body));
    },
  },
  {
    name: 'retention reset',
    args: ['kind'],
    options: { account },
    summary: 'remove a policy, so that the default applies again',
    run: async (call) => shown(await call.api.send('POST', `${at(call)}/reset`, { account: accountIn(call) })),
  },
];

const at = (call: AdminCall): string => `${path}/${encodeURIComponent(call.arg(0))}`;
const accountIn = (call: AdminCall): string | null => call.option('account') ?? null;
const shown = (value: unknown) => ({ value, text: card(value as TableRow) });

function keepIn(call: AdminCall): number | null {
  const text = String(call.option('keep'));
  if (text === 'forever') return null;
  if (!/^\d{1,9}$/.test(text)) throw new Problem('--keep must be a whole number, or forever.');
  return Number(text);
}
