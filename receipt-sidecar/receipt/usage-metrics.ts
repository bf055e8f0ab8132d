/**
 * Counts the usage of calls for Prometheus, for dashboards and alerts. Reports are made from the ledger.
 *
 * Invariants: each receipt counts once, when it is made here, as its client was shown it. There are at most `most` sets of account, model
 * and region in a process, however many there are in the world; what comes later is counted under `other`, so no call is missing in a sum.
 */
import { setImmediate } from 'node:timers/promises';
import type { Receipt, ReceiptNumbers } from '@gw/contract/receipt';
import { Counter, type Registry } from 'prom-client';
import { type CallIdentity, type CallOutcome, modelServed, simulatedBy } from './receipt.ts';

/** The counted part of a receipt. Null is unknown, and adds nothing. */
export interface CountedReceipt
  extends Pick<Receipt, 'model' | 'region' | 'energy_wh' | 'carbon_g' | 'water_ml' | 'simulated'> {
  readonly promptTokens: number | null;
  readonly completionTokens: number | null;
}

/** `numbers`: null where the client was shown none. */
export const countedReceipt = (
  { route }: CallIdentity,
  { servedBy, usage }: CallOutcome,
  numbers: ReceiptNumbers | null,
): CountedReceipt => ({
  model: modelServed(route, servedBy).id,
  region: servedBy?.region.code ?? null,
  ...simulatedBy(servedBy),
  energy_wh: numbers?.energy_wh ?? null,
  carbon_g: numbers?.carbon_g ?? null,
  water_ml: numbers?.water_ml ?? null,
  promptTokens: usage?.promptTokens ?? null,
  completionTokens: usage?.completionTokens ?? null,
});

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
/** Between names, of which none has it. */
const separator = '\u0000';

/** Plain numbers: each of six counters of the library would cost a call more than all that is counted here. */
interface Sums {
  readonly labels: Labels;
  calls: number;
  prompt: number;
  completion: number;
  energy: number;
  carbon: number;
  water: number;
}

export function createUsageMetrics(most: number): UsageMetrics {
  const known = new Map<string, Sums>();
  const others = new Map<string, Sums>();

  const sumsIn = (sets: Map<string, Sums>, key: string, labels: Labels): Sums => {
    const sums = { labels, calls: 0, prompt: 0, completion: 0, energy: 0, carbon: 0, water: 0 };
    sets.set(key, sums);
    return sums;
  };
  const sumsOf = (account: string, { model, region, simulated }: CountedReceipt): Sums => {
    const isSimulated = String(simulated === true);
    const named = region ?? unknown;
    const key = account + separator + model + separator + named + separator + isSimulated;
    const found = known.get(key);
    if (found !== undefined) return found;
    if (known.size < most) return sumsIn(known, key, { account, model, region: named, simulated: isSimulated });
    const rest = { account: other, model: other, region: other, simulated: isSimulated };
    return others.get(isSimulated) ?? sumsIn(others, isSimulated, rest);
  };

  return {
    count(accountId, receipt) {
      const sums = sumsOf(accountId, receipt);
      sums.calls += 1;
      sums.energy += receipt.energy_wh ?? 0;
      sums.carbon += receipt.carbon_g ?? 0;
      sums.water += receipt.water_ml ?? 0;
      sums.prompt += receipt.promptTokens ?? 0;
      sums.completion += receipt.completionTokens ?? 0;
    },
    register(registry) {
      const all = () => [...known.values(), ...others.values()];
      registerSums(registry, all);
    },
  };
}

/** Each in a turn of its own: thousands of sets take some milliseconds for each counter. */
function registerSums(registry: Registry, all: () => readonly Sums[]): void {
  const counter = (name: string, help: string, amountOf: (sums: Sums) => number) =>
    new Counter({
      name,
      help,
      labelNames,
      registers: [registry],
      async collect() {
        await setImmediate();
        this.reset();
        for (const sums of all()) this.inc(sums.labels, amountOf(sums));
      },
    });
  counter('gw_usage_calls_total', 'Calls with a receipt, degraded ones too', ({ calls }) => calls);
  counter('gw_usage_energy_wh_total', 'Energy of receipts, Wh', ({ energy }) => energy);
  counter('gw_usage_carbon_grams_total', 'Carbon of receipts, gCO2e, location-based', ({ carbon }) => carbon);
  counter('gw_usage_water_ml_total', 'Water of receipts, mL', ({ water }) => water);
  new Counter({
    name: 'gw_usage_tokens_total',
    help: 'Tokens of receipts: prompt and completion',
    labelNames: [...labelNames, 'type'],
    registers: [registry],
    async collect() {
      await setImmediate();
      this.reset();
      for (const { completion, labels, prompt } of all()) {
        this.inc({ ...labels, type: 'prompt' }, prompt);
        this.inc({ ...labels, type: 'completion' }, completion);
      }
    },
  });
}
