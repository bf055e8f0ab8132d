/**
 * Whether the accelerators behind a call can have done in its time what is claimed of it.
 *
 * Invariant: what is called impossible is so by the least energy that the bounds allow for the claim, the most accelerators that
 * can have served it, and a second more than it took. It decides whether counts are taken, and no number of a receipt.
 */
import { calculationOf } from '../choice/calculation.ts';
import { chooseTier } from '../choice/tier.ts';
import { classSpans, powerLimits, prefill, serving } from '../documents/factors.ts';
import { defaultMethodology, methodologyOf } from '../documents/methodologies.ts';
import { fittedAccelerator } from '../facts/assumptions.ts';
import type { CallFacts, GridReading, ModelFacts, SiteFacts, TokenUsage } from '../facts/facts.ts';
import { gridTimes } from '../facts/grid.ts';
import { inputsOf, totalOf } from '../facts/inputs.ts';
import { run } from './programs.ts';

/** How the energy of the accelerators for the claimed tokens compares with what they draw in the time. */
export interface PowerUse {
  /** The modelled energy as a share of what they draw in the time, and a tenth of a second for the way of the call. */
  readonly share: number;
  /** The least that the energy can be, as a share of what they draw in the time, and a second. */
  readonly leastShare: number;
  readonly accelerators: number;
}

const at = '2000-01-01T00:00:00.000Z';
/** Energy does not depend on the grid, which a calculation has to have. */
const anyGrid: GridReading = {
  zone: 'none',
  gPerKwh: 1,
  source: 'none',
  signal: 'average',
  periodStart: at,
  periodEnd: '2000-01-01T01:00:00.000Z',
  observedAt: at,
  temporalMatch: null,
  waterLPerKwh: null,
};

/** Null where nothing is known of the model. `seconds`: from asking the provider to the end of its reply. */
export function powerUse(model: ModelFacts, site: SiteFacts, usage: TokenUsage, seconds: number): PowerUse | null {
  const choice = chooseTier('auto', model);
  const times = gridTimes(anyGrid, at);
  if (choice.tier === null || times === null) return null;
  const facts: CallFacts & { readonly grid: GridReading } = {
    requestedTier: 'auto',
    boundary: 'narrow',
    requestedAt: at,
    usage,
    upstreamLatencyS: null,
    model,
    site,
    grid: anyGrid,
  };
  const method = methodologyOf(defaultMethodology);
  const { energy_low_wh: least, energy_wh: energy } = run(
    method.id,
    calculationOf(facts, choice, null, method),
    inputsOf(facts, times),
  );
  if (energy == null || least == null) return null;
  const accelerators = acceleratorsFor(model, site);
  const drawn = (s: number) => (accelerators * acceleratorPowerW(site) * s) / 3600;
  return {
    share: energy / drawn(seconds + powerLimits.travelS),
    leastShare: least / drawn(seconds + powerLimits.graceS),
    accelerators,
  };
}

/** Counts those that hold the largest model that it can be, or that the deployment states, whichever are more. */
function acceleratorsFor(model: ModelFacts, { accelerators }: SiteFacts): number {
  const { gpuMemoryGb, memoryOverhead, weightBits } = serving;
  const total = totalOf(model) ?? (model.modelClass === null ? null : classSpans[model.modelClass].total);
  const memoryGb = ((total === null ? 0 : total.max) * memoryOverhead * (model.quantizationBits ?? weightBits)) / 8;
  const holding = 2 ** Math.ceil(Math.log2(Math.max(1, Math.ceil(memoryGb / gpuMemoryGb))));
  return accelerators ? Math.max(holding, accelerators.count) : holding;
}

const acceleratorPowerW = ({ accelerators }: SiteFacts): number =>
  fittedAccelerator(accelerators) === 'h100' ? prefill.gpuPowerW : powerLimits.otherAcceleratorW;
