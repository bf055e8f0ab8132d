/** `./gw admin hold …`: what nobody may archive, delete or erase for now. */
import { Problem } from '@gw/stack/problem';
import { type AdminCall, type AdminCommand, given } from './command.ts';
import { card, type TableRow, table } from './table.ts';

const path = '/operator/v1/legal-holds';
const columns = ['id', 'account', 'reason', 'placed_at', 'placed_by', 'lifted'];
const everybody = 'all';

export const holdCommands: readonly AdminCommand[] = [
  {
    name: 'hold place',
    args: ['account'],
    options: { 'reason!': 'why; shown in the audit log, and whenever the hold refuses something' },
    summary:
      'keep all data of an account, or of `all`: nothing is archived, deleted by a policy or erased until it is lifted',
    run: place,
  },
  {
    name: 'hold list',
    args: [],
    options: { state: 'open (in force) or all; open unless given' },
    summary: 'list the legal holds',
    run: async (call) => {
      const value = (await call.api.get(path, given(call, 'state'))) as { readonly data: readonly TableRow[] };
      const rows = value.data.map((row) => ({ ...row, account: row.account ?? everybody }));
      return { value: value.data, text: table(rows, columns, 'No hold.') };
    },
  },
  {
    name: 'hold lift',
    args: ['hold'],
    options: { 'reason!': 'why it ends; shown in the audit log' },
    summary: 'lift a legal hold, by its id',
    run: async (call) => shown(await call.api.send('POST', `${path}/${id(call)}/lift`, given(call, 'reason'))),
  },
];

const shown = (value: unknown) => ({ value, text: card(value as TableRow) });

function id(call: AdminCall): string {
  const text = call.arg(0);
  if (!/^[\w.-]+$/.test(text)) throw new Problem(`${text} is not the id of a hold. To list them: ./gw admin hold list`);
  return text;
}

async function place(call: AdminCall) {
  const account = call.arg(0);
  const body = { account: account === everybody ? null : account, ...given(call, 'reason') };
  return shown(await call.api.send('POST', path, body));
}
