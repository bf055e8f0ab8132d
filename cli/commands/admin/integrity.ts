/** `./gw admin integrity …`: what the checks of the records have found. */
import { Problem } from '@gw/stack/problem';
import type { AdminCall, AdminCommand } from './command.ts';
import { everyPage } from './every-page.ts';
import { card, type TableRow, table } from './table.ts';

const path = '/operator/v1/integrity/faults';
const columns = ['id', 'fault', 'found_at', 'mended_at', 'acknowledged'];

export const integrityCommands: readonly AdminCommand[] = [
  {
    name: 'integrity faults',
    args: [],
    options: { state: 'open (not mended yet) or all; open unless given' },
    summary: 'list the records that were found altered, and who acknowledged them',
    run: list,
  },
  {
    name: 'integrity acknowledge',
    args: ['fault'],
    options: { 'reason!': 'why it is no longer an alarm; shown in the audit log' },
    summary: 'acknowledge an open fault, by its id, so that health and gauges stop counting it',
    run: acknowledge,
  },
];

interface Acknowledged {
  readonly at: string;
  readonly by: string;
  readonly name: string | null;
  readonly reason: string;
}

async function list(call: AdminCall) {
  const faults = await everyPage(call.api, path, { state: call.option('state') ?? 'open' });
  const rows = faults.map((row) => {
    const acknowledged = row.acknowledged as Acknowledged | null;
    const told =
      acknowledged === null ? '' : `${acknowledged.at} ${acknowledged.name ?? acknowledged.by}: ${acknowledged.reason}`;
    return { ...row, acknowledged: told };
  });
  return { value: faults, text: table(rows, columns, 'No fault.') };
}

async function acknowledge(call: AdminCall) {
  const id = call.arg(0);
  const found = (await everyPage(call.api, path)).find((fault) => fault.id === id);
  if (found === undefined) throw new Problem(`There is no open fault ${id}. List them: ./gw admin integrity faults`);
  const body = { id, fault: found.fault, reason: call.option('reason') };
  const value = (await call.api.send('POST', `${path}/acknowledge`, body)) as TableRow;
  return { value, text: card(value) };
}
