/** `./gw admin energy-contracts list|add|set|remove`: electricity that was bought, for figures by the market-based method. */
import type { Page } from './accounts.ts';
import { type AdminCall, type AdminCommand, type AdminResult, given } from './command.ts';
import { card, type TableRow, table } from './table.ts';

const path = '/operator/v1/energy-contracts';
const at = ({ arg }: AdminCall): string => `${path}/${encodeURIComponent(arg(0))}`;
const columns = [
  'id',
  'instrument',
  'provider',
  'region',
  'valid_from',
  'valid_to',
  'share',
  'g_per_kwh',
  'evidence',
  'changed_at',
  'changed_by',
];

/** With who entered it last, and when. */
function shownContract(value: unknown): TableRow {
  const { last_change: change, object: _, warnings: __, ...contract } = value as TableRow;
  const { changed_at, changed_by } = (change ?? {}) as TableRow;
  return { ...contract, changed_at, changed_by };
}
const shown = (value: unknown): AdminResult => ({ value, text: card(shownContract(value)) });

function fieldsOf(call: AdminCall): TableRow {
  const {
    from,
    to,
    'g-per-kwh': gPerKwh,
    ...others
  } = given(call, 'provider', 'region', 'from', 'to', 'instrument', 'share', 'g-per-kwh', 'evidence');
  return {
    ...others,
    ...(from !== undefined && { valid_from: from }),
    ...(to !== undefined && { valid_to: to }),
    ...(gPerKwh !== undefined && { g_per_kwh: gPerKwh }),
  };
}

const options = (mark: '!' | '') => ({
  [`instrument${mark}`]: 'ppa, supplier, certificate or residual_mix',
  provider: 'whose calls it covers; all if it is missing',
  region: 'whose calls it covers; all if it is missing',
  [`from${mark}`]: 'from when on: a whole UTC hour, or a day',
  [`to${mark}`]: 'until before when',
  share: 'of the energy that it covers, above 0 and up to 1; none for a residual mix',
  [`g-per-kwh${mark}`]: 'gCO2e/kWh of what was bought',
  [`evidence${mark}`]: 'what it rests on: a text or an address',
});
const fields = { valid_from: 'from', valid_to: 'to', g_per_kwh: 'g-per-kwh' };

export const energyContractCommands: readonly AdminCommand[] = [
  {
    name: 'energy-contracts list',
    args: [],
    options: {},
    summary: 'electricity that was bought, for carbon by the market-based method',
    run: async ({ api }) => {
      const { data } = (await api.get(path)) as Page;
      return { value: data, text: table(data.map(shownContract), columns, 'No contract.') };
    },
  },
  {
    name: 'energy-contracts add',
    args: ['contract'],
    options: options('!'),
    fields,
    summary: 'enter a contract, certificates or a residual mix; reports of its time change with it',
    run: async (call) => shown(await call.api.send('POST', path, { id: call.arg(0), ...fieldsOf(call) })),
  },
  {
    name: 'energy-contracts set',
    args: ['contract'],
    options: options(''),
    fields,
    summary: 'correct one; reports of its time change with it',
    run: async (call) => shown(await call.api.send('PATCH', at(call), fieldsOf(call))),
  },
  {
    name: 'energy-contracts remove',
    args: ['contract'],
    options: {},
    summary: 'remove one that was never right; to end one, set its --to',
    run: async (call) => {
      const value = await call.api.send('DELETE', at(call));
      return { value, text: card(value as TableRow) };
    },
  },
];
