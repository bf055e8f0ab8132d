/** The usage of a day with two of the calls of this documentation, as issued and as restated. */
import { dayMs } from '@gw/contract/internal/durations';
import type { CountedVersion, UsageRow, UsageTotal } from '@gw/contract/management';
import { callTime, type MadeCall } from './calls.ts';
import { examples } from './examples.ts';

/** As issued and in the newest version; one call is degraded, so its numbers are in no sum. */
const counted: Readonly<Record<CountedVersion, readonly MadeCall[]>> = {
  issued: [examples.asIssued, examples.parametric, examples.degraded],
  restated: [examples.restated, examples.parametric, examples.degraded],
};

/** The calls that are in the ledger for it, as issued. */
export const usageCalls: readonly MadeCall[] = counted.issued;

const places = 15;

/** Sums the printed decimals exactly and keeps 12 digits, as the database does. */
function sum(values: readonly (number | null)[]): number {
  const units = values
    .filter((value) => value !== null)
    .map((value) => BigInt(value.toFixed(places).replace('.', '')))
    .reduce((total, each) => total + each, 0n);
  const text = units.toString().padStart(places + 1, '0');
  return Number(Number(`${text.slice(0, -places)}.${text.slice(-places)}`).toPrecision(12));
}

export function usageReply(version: CountedVersion) {
  const receipts = counted[version].map(({ receipt }) => receipt);
  const date = callTime.slice(0, 10);
  const total: UsageTotal = {
    requests: receipts.length,
    requests_degraded: receipts.filter(({ tier }) => tier === 'degraded').length,
    prompt_tokens: sum(receipts.map((receipt) => receipt.prompt_tokens)),
    completion_tokens: sum(receipts.map((receipt) => receipt.completion_tokens)),
    energy_wh: sum(receipts.map((receipt) => receipt.energy_wh)),
    carbon_g: sum(receipts.map((receipt) => receipt.carbon_g)),
  };
  const row: UsageRow = { object: 'gw.usage', date, model: 'sim-large', simulated: true, ...total };
  const to = new Date(Date.parse(date) + dayMs).toISOString();
  return { object: 'list', data: [row], from: new Date(date).toISOString(), to, version, simulated: 'include', total };
}
