/** `./gw admin usage`: what accounts used, as a table. */
import { type AdminCall, type AdminCommand, given } from './command.ts';
import { type TableRow, table } from './table.ts';

interface Usage {
  readonly data: readonly TableRow[];
  readonly total: TableRow;
  readonly from: string;
  readonly to: string;
  readonly interval: string;
  readonly simulated: string;
  readonly group_by: readonly string[];
}

const sums = [
  'requests',
  'requests_degraded',
  'prompt_tokens',
  'completion_tokens',
  'energy_wh',
  'carbon_g',
  'carbon_market_g',
  'water_ml',
  'cost',
  'currency',
];

const units = 'Energy is in Wh, carbon in gCO2e, water in mL; docs/reporting.md says what they are.\n';

export const usageCommands: readonly AdminCommand[] = [
  {
    name: 'usage',
    args: [],
    options: {
      from: 'the first UTC day or time, such as 2026-11-01; 30 days before --to if it is missing',
      to: 'the first day or time that is not counted any more; now if it is missing',
      interval: 'day, month or total; month if it is missing',
      'group-by':
        'a list with commas of account_id, key_id, project, api, model, provider, region, tier, status, grid_basis',
      account: 'of this account alone',
      simulated: 'include: the total counts simulated calls as well',
    },
    fields: { account_id: 'account' },
    summary: 'sum requests, tokens, energy, carbon, water and money by time, account and model; --json has the bounds',
    run: showUsage,
  },
];

async function showUsage(call: AdminCall) {
  const usage = (await call.api.get('/operator/v1/usage', {
    interval: 'month',
    group_by: call.option('group-by') ?? 'account_id,model',
    account_id: call.option('account'),
    ...given(call, 'from', 'to', 'interval', 'simulated'),
  })) as Usage;
  const groups = [...(usage.interval === 'total' ? [] : ['date']), ...usage.group_by, 'simulated'];
  const [first = ''] = groups;
  const rows = [...usage.data, { ...usage.total, [first]: 'total' }];
  const columns = [...groups, ...sums, ...(groups.includes('grid_basis') ? [] : ['grid_basis'])];
  const text = table(usage.data.length === 0 ? [] : rows, columns, `No calls from ${usage.from} to ${usage.to}.`);
  const left = usage.data.some(({ simulated }) => simulated === true) && usage.simulated !== 'include';
  const note = left ? `${units}The total leaves simulated calls out; --simulated include counts them.\n` : units;
  return { value: usage, text, note };
}
