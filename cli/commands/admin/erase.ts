/** `./gw admin erase …`: destroys the key that the names of a person or an account are encrypted with. */
import { Problem } from '@gw/stack/problem';
import type { AdminCall, AdminCommand } from './command.ts';
import { card, type TableRow, table } from './table.ts';

const path = '/operator/v1/erasures';
const options = {
  confirm: 'the same ID again, to erase; without it, the command only shows what would be destroyed',
};

export const eraseCommands: readonly AdminCommand[] = [
  {
    name: 'erase person',
    args: ['person'],
    options,
    summary: 'erase the name, e-mail and login of an operator or an organisation admin; records stay and still verify',
    run: (call) => run(call, 'person'),
  },
  {
    name: 'erase account',
    args: ['account'],
    options,
    summary:
      'erase the names, people, API keys and settings of an account; receipts and their log stay and still verify',
    run: (call) => run(call, 'account'),
  },
  {
    name: 'erase list',
    args: [],
    options: {},
    summary: 'list all erasures, to repeat them after a backup is restored',
    run: async ({ api }) => {
      const { data } = (await api.get(path)) as { readonly data: readonly TableRow[] };
      return { value: data, text: table(data, ['kind', 'id', 'decided_at', 'done_at'], 'Nothing was erased.') };
    },
  },
];

async function run(call: AdminCall, kind: 'person' | 'account') {
  const id = call.arg(0);
  const confirm = call.option('confirm');
  const at = `${path}/${kind}/${encodeURIComponent(id)}`;
  if (confirm === undefined) {
    const value = (await call.api.get(at)) as TableRow;
    const next =
      value.held === null
        ? `To erase it permanently: ./gw admin erase ${kind} ${id} --confirm ${id}`
        : 'A legal hold forbids it. To list the holds: ./gw admin hold list';
    return { value, text: card(value), note: `Nothing was erased. ${next}\n` };
  }
  if (confirm !== id) throw new Problem(`--confirm must repeat the id: ${id}`);
  const value = (await call.api.send('POST', at, { confirm })) as TableRow;
  return { value, text: card(value) };
}
