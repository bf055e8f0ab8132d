/** `./gw admin archive …`: months of receipts that leave Postgres for the store of objects. */
import type { AdminCall, AdminCommand } from './command.ts';
import { card, type TableRow, table } from './table.ts';

const path = '/operator/v1/archives';
const columns = ['month', 'state', 'receipts', 'asked_by', 'asked_at', 'detached_at', 'problem'];

export const archiveCommands: readonly AdminCommand[] = [
  {
    name: 'archive list',
    args: [],
    options: {},
    summary: 'list the months of receipts that are archived or about to be, and why one does not go on',
    run: list,
  },
  {
    name: 'archive month',
    args: ['month'],
    options: {},
    summary: 'have a month, as 2025-01, leave Postgres for the store of objects; its receipts are answered from there',
    run: async (call) => shown(await call.api.send('POST', path, { month: call.arg(0) })),
  },
  {
    name: 'archive give-up',
    args: ['month'],
    options: {},
    summary: 'leave a month in Postgres that was asked for and is not detached yet',
    run: async (call) => shown(await call.api.send('DELETE', `${path}/${encodeURIComponent(call.arg(0))}`)),
  },
];

async function list({ api }: AdminCall) {
  const { data } = (await api.get(path)) as { data: TableRow[] };
  return { value: data, text: table(data, columns, 'No month is archived.') };
}

const shown = (value: unknown) => ({ value, text: card(value as TableRow) });
