/** `./gw admin retention …`: how long each kind is kept, for all accounts and for single ones. */
import { Problem } from '@gw/stack/problem';
import type { AdminCall, AdminCommand } from './command.ts';
import { card, type TableRow, table } from './table.ts';

const path = '/operator/v1/retention';
/** A policy as the API shows it; null: forever. */
interface Policy extends TableRow {
  readonly keep: number | null;
  readonly default: number | null;
  readonly accounts: readonly { readonly account: string; readonly keep: number | null }[];
}

const columns = ['kind', 'keep', 'unit', 'default', 'accounts', 'what'];
const account = 'id of an account; all accounts without a policy of their own unless given';

export const retentionCommands: readonly AdminCommand[] = [
  {
    name: 'retention list',
    args: [],
    options: {},
    summary: 'show how long each kind of data is kept',
    run: async ({ api }) => {
      const { data } = (await api.get(path)) as { readonly data: readonly Policy[] };
      return { value: data, text: table(data.map(inWords), columns) };
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
const shown = (value: unknown) => ({ value, text: card(inWords(value as Policy)) });

const time = (keep: number | null): string => (keep === null ? 'forever' : String(keep));
const inWords = (policy: Policy): TableRow => ({
  ...policy,
  keep: time(policy.keep),
  default: time(policy.default),
  accounts: policy.accounts.map((each) => `${each.account}: ${time(each.keep)}`).join(', ') || null,
});

function keepIn(call: AdminCall): number | null {
  const text = String(call.option('keep'));
  if (text === 'forever') return null;
  if (!/^\d{1,9}$/.test(text)) throw new Problem('--keep must be a whole number, or forever.');
  return Number(text);
}
