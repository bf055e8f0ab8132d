/** `./gw admin budgets …`: what an account, its keys and its projects may use in a month, and what they have used. */
import { Problem } from '@gw/stack/problem';
import { type AdminCall, type AdminCommand, given } from './command.ts';
import { card, type TableRow, table } from './table.ts';

const at = (account: string, ...rest: string[]): string =>
  ['/operator/v1/accounts', ...[account, 'budgets', ...rest].map(encodeURIComponent)].join('/');
const webhookAt = (account: string): string => `/operator/v1/accounts/${encodeURIComponent(account)}/budget-webhook`;
const columns = [
  'id',
  'scope',
  'name',
  'unit',
  'kind',
  'amount',
  'used',
  'used_estimated',
  'reserved',
  'percent',
  'set_by',
];

function amountIn(call: AdminCall): { readonly amount?: number } {
  const text = call.option('amount');
  if (text === undefined) return {};
  if (!/^\d+(\.\d+)?$/.test(text)) throw new Problem('--amount takes a number, such as 2500 or 0.5.');
  return { amount: Number(text) };
}

function ownerOf(call: AdminCall): object {
  const [key, project] = [call.option('key'), call.option('project')];
  if (key !== undefined && project !== undefined) throw new Problem('A budget is for a key or for a project.');
  if (key !== undefined) return { scope: 'key', name: key };
  return project === undefined ? { scope: 'account' } : { scope: 'project', name: project };
}

const shown = (value: unknown) => ({ value, text: card(value as TableRow) });

export const budgetCommands: readonly AdminCommand[] = [
  {
    name: 'budgets set',
    args: ['account'],
    options: {
      'unit!': 'carbon_g, energy_wh, tokens, or cost (in the currency of the prices)',
      'amount!': 'for a UTC month, in the unit',
      'kind!': 'hard: calls beyond it are refused; soft: replies say how much of it is used',
      key: 'id of the key that it is for',
      project: 'name of the project that it is for; the whole account if neither is given',
    },
    fields: { name: 'key' },
    summary: 'set a budget of an account, of one of its keys, or of a project',
    run: async (call) => {
      const body = { ...ownerOf(call), ...given(call, 'unit', 'kind'), ...amountIn(call) };
      return shown(await call.api.send('POST', at(call.arg(0)), body));
    },
  },
  {
    name: 'budgets change',
    args: ['account', 'budget'],
    options: { amount: 'for a UTC month, in the unit', kind: 'hard or soft' },
    summary: 'change the amount or the kind of a budget; what was used stays used',
    run: async (call) => {
      const change = { ...given(call, 'kind'), ...amountIn(call) };
      if (Object.keys(change).length === 0) throw new Problem('Nothing to change: give --amount or --kind.');
      return shown(await call.api.send('PATCH', at(call.arg(0), call.arg(1)), change));
    },
  },
  {
    name: 'budgets remove',
    args: ['account', 'budget'],
    options: {},
    summary: 'take a budget away',
    run: async ({ api, arg }) => shown(await api.send('DELETE', at(arg(0), arg(1)))),
  },
  {
    name: 'budgets set-webhook',
    args: ['account'],
    options: { 'url!': 'https, or http on this machine' },
    summary: 'have an account told at 80 % and 100 % of its budgets; prints the secret that signs, this once',
    run: async (call) => shown(await call.api.send('PUT', webhookAt(call.arg(0)), given(call, 'url'))),
  },
  {
    name: 'budgets webhook',
    args: ['account'],
    options: {},
    summary: 'where an account is told of its budgets, and how the last delivery went',
    run: async ({ api, arg }) => shown(await api.get(webhookAt(arg(0)))),
  },
  {
    name: 'budgets remove-webhook',
    args: ['account'],
    options: {},
    summary: 'no longer tell an account of its budgets',
    run: async ({ api, arg }) => shown(await api.send('DELETE', webhookAt(arg(0)))),
  },
  {
    name: 'budgets',
    args: ['account'],
    options: {},
    summary: 'the budgets of an account and what is used of them in this UTC month',
    run: async ({ api, arg }) => {
      const value = (await api.get(at(arg(0)))) as { readonly data: readonly TableRow[] };
      return { value: value.data, text: table(value.data, columns, 'No budget.') };
    },
  },
];
