/** `./gw admin grid` and `deployments health`: what holds at this moment, and no entry says. */
import type { Page } from './accounts.ts';
import type { AdminCommand } from './command.ts';
import { type TableRow, table } from './table.ts';

const gridColumns = ['zone', 'g_per_kwh', 'basis', 'source', 'vintage', 'temporal_match', 'age_minutes', 'too_old'];
const sourceColumns = ['zone', 'source', 'place', 'newest_g_per_kwh', 'observed_at', 'paused'];
const troubleColumns = ['deployment', 'model', 'status', 'failures', 'failed_at', 'until'];

const zoneRow = ({ id: zone, reading, regions, too_old }: TableRow): TableRow => ({
  ...(reading as TableRow | null),
  zone,
  too_old,
  regions: (regions as readonly string[]).join(' '),
});

const sourceRows = ({ id: zone, sources }: TableRow): TableRow[] =>
  (sources as readonly TableRow[]).map(({ newest, paused, place, source }) => {
    const { g_per_kwh, observed_at } = (newest ?? {}) as TableRow;
    return { zone, source, place: place || null, newest_g_per_kwh: g_per_kwh, observed_at, paused };
  });

export const momentCommands: readonly AdminCommand[] = [
  {
    name: 'grid',
    args: [],
    options: {},
    summary: 'the carbon intensity that calls get in each grid zone, how old it is, and what its sources last said',
    run: async ({ api }) => {
      const { data } = (await api.get('/operator/v1/grid')) as Page;
      const zones = table(data.map(zoneRow), [...gridColumns, 'regions'], 'No region.');
      const sources = table(data.flatMap(sourceRows), sourceColumns, 'No live source: GW_GRID_SOURCES names them.');
      return { value: data, text: `${zones}\n${sources}` };
    },
  },
  {
    name: 'deployments health',
    args: [],
    options: {},
    summary: 'deployments that calls have found to take none at this moment',
    run: async ({ api }) => {
      const value = (await api.get('/operator/v1/deployment-health')) as { data: readonly TableRow[]; known: boolean };
      const none = value.known ? 'No call has found one that fails.' : 'Not known: Valkey is unavailable.';
      return { value, text: table(value.data, troubleColumns, none) };
    },
  },
];
