/** `./gw admin prices list|add|set|remove`: what providers charge for tokens. */
import type { Page } from './accounts.ts';
import { type AdminCall, type AdminCommand, type AdminResult, given } from './command.ts';
import { card, type TableRow, table } from './table.ts';

const path = '/operator/v1/prices';
const at = ({ arg }: AdminCall): string => `${path}/${encodeURIComponent(arg(0))}`;
const columns = [
  'provider',
  'model',
  'region',
  'valid_from',
  'input_per_mtok',
  'output_per_mtok',
  'source',
  'changed_at',
  'changed_by',
  'id',
];

/** With who entered it last, and when. */
function shownPrice(value: unknown): TableRow {
  const { last_change: change, object: _, warnings: __, ...price } = value as TableRow;
  const { changed_at, changed_by } = (change ?? {}) as TableRow;
  return { ...price, changed_at, changed_by };
}

const warningsOf = (value: unknown): string =>
  ((value as TableRow).warnings as readonly string[]).map((warning) => `Warning: ${warning}\n`).join('');
const shown = (value: unknown): AdminResult => ({ value, text: card(shownPrice(value)), note: warningsOf(value) });

async function list({ api, option }: AdminCall): Promise<AdminResult> {
  const { data } = (await api.get(path)) as Page;
  const asked = (['provider', 'model'] as const).filter((name) => option(name) !== undefined);
  const prices = data.filter((price) => asked.every((name) => price[name] === option(name)));
  return { value: prices, text: table(prices.map(shownPrice), columns, 'No price.') };
}

const figures = (call: AdminCall): TableRow => {
  const { input, output, ...others } = given(call, 'input', 'output', 'source');
  return {
    ...(input !== undefined && { input_per_mtok: input }),
    ...(output !== undefined && { output_per_mtok: output }),
    ...others,
  };
};
const input = 'for 1,000,000 tokens read, in the currency of the gateway: 2.5';
const output = 'for 1,000,000 tokens written';
const source = 'what it rests on: a text or an address';

export const priceCommands: readonly AdminCommand[] = [
  {
    name: 'prices list',
    args: [],
    options: { provider: 'of this provider alone', model: 'of this model alone' },
    summary: 'what providers charge for tokens, and from when on',
    run: list,
  },
  {
    name: 'prices add',
    args: ['provider', 'model'],
    options: {
      'from!': 'from when on: a whole UTC hour such as 2026-11-01T00:00:00Z, or a day; it may be past',
      'input!': input,
      'output!': output,
      'source!': source,
      region: 'for this region alone',
    },
    fields: { valid_from: 'from', input_per_mtok: 'input', output_per_mtok: 'output' },
    summary: 'enter a price; it holds until the next one begins, and reports of its time change with it',
    run: async (call) => {
      const { api, arg, option } = call;
      const named = { provider: arg(0), model: arg(1), valid_from: option('from'), ...given(call, 'region') };
      return shown(await api.send('POST', path, { ...named, ...figures(call) }));
    },
  },
  {
    name: 'prices set',
    args: ['price'],
    options: { input, output, source },
    fields: { input_per_mtok: 'input', output_per_mtok: 'output' },
    summary: 'correct a price, by its id; reports of its time change with it',
    run: async (call) => shown(await call.api.send('PATCH', at(call), figures(call))),
  },
  {
    name: 'prices remove',
    args: ['price'],
    options: {},
    summary: 'remove a price that was never right, by its id: calls of its time have the one before it',
    run: async (call) => {
      const value = await call.api.send('DELETE', at(call));
      return { value, text: card(value as TableRow) };
    },
  },
];
