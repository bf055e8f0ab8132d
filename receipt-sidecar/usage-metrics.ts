/**
 * What calls used, as counters for Prometheus: for dashboards and alerts; what is reported comes from the ledger.
 *
 * Invariants: each receipt counts once, when it is made here, as its client was shown it. There are at most `most` sets of account, model
 * and region in a process, however many there are in the world; what comes later is counted under `other`, so no call is missing in a sum.
 */
import type { Receipt } from '@gw/contract/receipt';
import { Counter, type Registry } from 'prom-client';

/** What is counted of a receipt. Null is unknown, and adds nothing. */
export type CountedReceipt = Pick<
  Receipt,
  'model' | 'region' | 'energy_wh' | 'carbon_g' | 'water_ml' | 'prompt_tokens' | 'completion_tokens' | 'simulated'
>;

export interface UsageMetrics {
  count(accountId: string, receipt: CountedReceipt): void;
  register(registry: Registry): void;
}

const labelNames = ['account', 'model', 'region', 'simulated'] as const;
type Labels = Record<(typeof labelNames)[number], string>;

/** Stands for every set of labels that found no room; no account, model or region has this name alone in all three. */
const other = 'other';
/** Where the region is not known. */
const unknown = 'unknown';

export function createUsageMetrics(most: number): UsageMetrics {
  const counter = <Name extends string = never>(name: string, help: string, ...more: Name[]) =>
    new Counter({ name, help, labelNames: [...labelNames, ...more], registers: [] });
  const calls = counter('gw_usage_calls_total', 'Calls with a receipt, degraded ones too');
  const tokens = counter('gw_usage_tokens_total', 'Tokens of receipts: prompt and completion', 'type');
  const energy = counter('gw_usage_energy_wh_total', 'Energy of receipts, Wh');
  const carbon = counter('gw_usage_carbon_grams_total', 'Carbon of receipts, gCO2e, location-based');
  const water = counter('gw_usage_water_ml_total', 'Water of receipts, mL');
  const known = new Map<string, Labels>();

  const labelsOf = (accountId: string, { model, region, simulated }: CountedReceipt): Labels => {
    const named = { account: accountId, model, region: region ?? unknown };
    const isSimulated = String(simulated === true);
    const key = JSON.stringify([...Object.values(named), isSimulated]);
    const labels = known.get(key);
    if (labels !== undefined) return labels;
    if (known.size >= most) return { account: other, model: other, region: other, simulated: isSimulated };
    const made = { ...named, simulated: isSimulated };
    known.set(key, made);
    return made;
  };

  return {
    count(accountId, receipt) {
      const labels = labelsOf(accountId, receipt);
      calls.inc(labels);
      energy.inc(labels, receipt.energy_wh ?? 0);
      carbon.inc(labels, receipt.carbon_g ?? 0);
      water.inc(labels, receipt.water_ml ?? 0);
      tokens.inc({ ...labels, type: 'prompt' }, receipt.prompt_tokens ?? 0);
      tokens.inc({ ...labels, type: 'completion' }, receipt.completion_tokens ?? 0);
    },
    register: (registry) => {
      for (const metric of [calls, tokens, energy, carbon, water]) registry.registerMetric(metric);
    },
  };
}
