/** `./gw admin archive …`: months of receipts that leave Postgres for the object store. */
import type { AdminCall, AdminCommand } from './command.ts';
import { card, type TableRow, table } from './table.ts';

const path = '/operator/v1/archives';
const columns = ['month', 'state', 'receipts', 'asked_by', 'asked_at', 'detached_at', 'problem'];

export const archiveCommands: readonly AdminCommand[] = [
  {
    name: 'archive list',
    args: [],
    options: {},
    summary: 'list the months of receipts that are archived or in progress, and why one is stuck',
    run: list,
  },
  {
    name: 'archive month',
    args: ['month'],
    options: {},
    summary:
      'move a month, such as 2025-01, from Postgres to the object store; its receipts are then served from there',
    run: async (call) => shown(await call.api.send('POST', path, { month: call.arg(0) })),
  },
  {
    name: 'archive give-up',
    args: ['month'],
    options: {},
    summary: 'cancel the archiving of a month whose note is not written yet; it stays in Postgres',
    run: async (call) => shown(await call.api.send('DELETE', `${path}/${encodeURIComponent(call.arg(0))}`)),
  },
];

async function list({ api }: AdminCall) {
  const { data } = (await api.get(path)) as { data: TableRow[] };
  return { value: data, text: table(data, columns, 'No month is archived.') };
}

const shown = (value: unknown) => ({ value, text: card(value as TableRow) });
