/** The usage of a day with two of the calls of this documentation, as issued and as restated. */
import { dayMs } from '@gw/contract/internal/durations';
import type { CountedVersion } from '@gw/contract/management';
import type { Receipt } from '@gw/contract/receipt';
import { type UsageAmount, type UsageRow, type UsageTotal, usageAmountNames } from '@gw/contract/usage';
import { quotient, rounded } from '@gw/control-plane/internals/ledger/usage/rounded';
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

/** Sums the printed decimals exactly. */
function exactSum(values: readonly (number | null)[]): string {
  const units = values
    .filter((value) => value !== null)
    .map((value) => BigInt(value.toFixed(places).replace('.', '')))
    .reduce((total, each) => total + each, 0n);
  const text = units.toString().padStart(places + 1, '0');
  return `${text.slice(0, -places)}.${text.slice(-places)}`;
}

/** Keeps 12 digits, as the database does. */
const sum = (values: readonly (number | null)[]): number => rounded(exactSum(values));

const tiers = {
  requests_measured: 'telemetry',
  requests_modelled: 'parametric',
  requests_estimated: 'proxy',
  requests_degraded: 'degraded',
};

/** At the price of the demo for sim-large. */
const costOf = ({ completion_tokens, prompt_tokens }: Receipt): number | null =>
  prompt_tokens === null || completion_tokens === null
    ? null
    : Number(((prompt_tokens * 2.5 + completion_tokens * 10) / 1_000_000).toFixed(places));

const amountOf = ({ receipt, trace }: MadeCall, name: UsageAmount | 'prompt_tokens' | 'completion_tokens') =>
  name === 'carbon_saved_g' ? trace.estimated_saving_g : (receipt[name] ?? null);

function ratiosOf(receipts: readonly Receipt[]) {
  const assessed = receipts.filter(({ tier }) => tier !== 'degraded');
  const of = (name: 'energy_wh' | 'carbon_g' | 'completion_tokens') =>
    exactSum(assessed.map((receipt) => receipt[name]));
  const tokens = assessed.flatMap(({ completion_tokens, prompt_tokens }) => [completion_tokens, prompt_tokens]);
  return {
    energy_wh_per_output_token: quotient(of('energy_wh'), of('completion_tokens')),
    sci_g_per_token: quotient(of('carbon_g'), exactSum(tokens)),
  };
}

function totalOf(calls: readonly MadeCall[]): UsageTotal {
  const receipts = calls.map(({ receipt }) => receipt);
  const amounts = usageAmountNames.map((name) => [name, sum(calls.map((call) => amountOf(call, name)))]);
  const missing = (['prompt_tokens', 'completion_tokens', ...usageAmountNames] as const).flatMap((name) => {
    const unknown = calls.filter((call) => amountOf(call, name) === null).length;
    return unknown > 0 ? [[name, unknown]] : [];
  });
  const derived = {
    carbon_market_g: (of: Receipt) => of.carbon_g,
    energy_contracted_wh: (of: Receipt) => of.energy_wh,
    cost: costOf,
  };
  const ofDerived = Object.fromEntries(
    Object.entries(derived).flatMap(([name, value]) => {
      const unknown = receipts.filter((receipt) => value(receipt) === null).length;
      return unknown > 0 ? [[name, unknown]] : [];
    }),
  );
  const bases = new Set(receipts.flatMap(({ grid_basis }) => grid_basis ?? []));
  const counts = Object.entries(tiers).map(([name, of]) => [name, receipts.filter(({ tier }) => tier === of).length]);
  return {
    requests: receipts.length,
    ...(Object.fromEntries(counts) as Record<keyof typeof tiers, number>),
    requests_metered: 0,
    requests_reported: 0,
    requests_doubtful: 0,
    requests_aborted: 0,
    prompt_tokens: sum(receipts.map((receipt) => receipt.prompt_tokens)),
    completion_tokens: sum(receipts.map((receipt) => receipt.completion_tokens)),
    ...(Object.fromEntries(amounts) as Record<UsageAmount, number>),
    carbon_market_g: sum(receipts.map(({ carbon_g }) => carbon_g)),
    energy_contracted_wh: 0,
    cost: sum(receipts.map(costOf)),
    currency: 'USD',
    ...ratiosOf(receipts),
    energy_aborted_wh: null,
    grid_basis: bases.size > 1 ? 'mixed' : ([...bases][0] ?? null),
    missing: { ...Object.fromEntries(missing), ...ofDerived },
  };
}

/** The question with its answer. */
export function usageReply(version: CountedVersion) {
  const date = callTime.slice(0, 10);
  const total = totalOf(counted[version]);
  const row: UsageRow = { object: 'gw.usage', date, model: 'sim-large', simulated: true, ...total };
  const to = new Date(Date.parse(date) + dayMs).toISOString();
  const asked = {
    from: new Date(date).toISOString(),
    to,
    version,
    simulated: 'include',
    interval: 'day',
    group_by: ['model'],
  } as const;
  return { object: 'list', data: [row], ...asked, complete_until: to, total };
}
