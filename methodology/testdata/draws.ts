/**
 * Draws a receipt's amounts from the distributions that the methodology states, by arithmetic of its own: it takes the
 * facts and the constants, and shares nothing with the formulas of the document.
 */
import { cases } from '@gw/testing/cases';
import {
  classSpans,
  comparison,
  embodied,
  estimatedCounts,
  idleShare,
  prefill,
  serving,
  spreads,
} from '../documents/factors.ts';
import { measuredRatios } from '../documents/measured-ratios.ts';
import type { ParameterRange, TokenUsage } from '../facts/facts.ts';
import { totalOf } from '../facts/inputs.ts';
import type { CallFacts, Impact } from '../receipt/assess.ts';
import { attentionOf, hostWhOf, readingWork, writingWork } from './work.ts';

/** Uniform in [0, 1), the same in each run. */
function randoms(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** In a normal distribution, nine in ten values lie within this many standard deviations. */
const ninety = 1.6449;

class Draw {
  readonly random: () => number;
  constructor(random: () => number) {
    this.random = random;
  }
  normal(): number {
    return (Math.sqrt(-2 * Math.log(1 - this.random())) * Math.cos(2 * Math.PI * this.random())) / ninety;
  }
  /** Log-normal around 1, with its own width to each side. */
  ratio(least: number, most = least): number {
    const z = this.normal();
    return (z < 0 ? least : most) ** z;
  }
  atMost(least: number): number {
    return Math.min(1, this.ratio(least));
  }
  between(least: number, most: number): number {
    return least + (most - least) * this.random();
  }
}

/** The work of one call; the seconds carry the embodied part and the host, and have a spread of their own. */
interface DrawnWork {
  readonly acceleratorWh: number;
  readonly hostWh: number;
  readonly seconds: number;
}

/** Draws a model: uniformly from a range; log-uniformly by size from the models that a class stands for. */
function modelOf({ model, requestedTier }: CallFacts, draw: Draw) {
  const end = draw.random();
  if (model.activeParametersB === null || requestedTier === 'proxy') {
    const { active, total } = classSpans[model.modelClass ?? 'unknown'];
    const at = ({ max, min }: ParameterRange) => min * (max / min) ** end;
    return { activeB: at(active), totalB: at(total), architecture: 'any' } as const;
  }
  const [active, total] = [model.activeParametersB, totalOf(model) ?? model.activeParametersB];
  const at = ({ max, min }: typeof active) => min + (max - min) * end;
  const isDense = active.min === total.min && active.max === total.max;
  return { activeB: at(active), totalB: at(total), architecture: isDense ? 'dense' : 'sparse' } as const;
}

function drawnWork(facts: CallFacts, usage: TokenUsage, draw: Draw): DrawnWork {
  const { model } = facts;
  const { activeB, architecture, totalB } = modelOf(facts, draw);
  const completion = model.kind === 'embedding' ? 0 : usage.completionTokens;
  // A cached prompt may still have been read in part.
  const read = usage.promptTokens - usage.cachedPromptTokens * draw.random();
  const writing = writingWork({ prompt: usage.promptTokens, completion }, activeB, totalB, {
    bits: model.quantizationBits,
    concurrency: null,
    contextTimes: spreads.context ** draw.between(-1, 1),
  });
  const reading = readingWork(read, activeB, totalB, 0);
  const counted = (count: 'completion' | 'prompt') =>
    usage.estimated === count || usage.estimated === 'both' ? draw.ratio(estimatedCounts.ratio) : 1;
  const hardware = draw.ratio(spreads.otherHardware);
  const [least, most, timeLeast, timeMost] = measuredRatios[`other_${architecture}_neither`];
  const write = counted('completion') * hardware;
  const attended = 1 + draw.random() * (attentionOf(spreads.attention * usage.promptTokens, activeB, totalB) - 1);
  const reads =
    (prefill.utilisation / draw.between(prefill.utilisationMin, prefill.utilisationMax)) *
    attended *
    counted('prompt') *
    hardware;
  const seconds = writing.acceleratorS * draw.ratio(timeLeast, timeMost) * write + reading.acceleratorS * reads;
  return {
    acceleratorWh: writing.acceleratorWh * draw.ratio(least, most) * write + reading.acceleratorWh * reads,
    hostWh: hostWhOf(seconds),
    seconds,
  };
}

/** Wh of all and of the machines alone; null where nobody knows whether the overhead is in it. */
interface DrawnEnergy {
  readonly energy: number;
  readonly it: number | null;
}

function ofWork({ site }: CallFacts, work: DrawnWork, draw: Draw): DrawnEnergy {
  const idle = idleShare + draw.normal() * (spreads.idleShareMax - idleShare);
  const it = (work.acceleratorWh + work.hostWh) * (1 + idle);
  return { energy: it * (1 + Math.max(0, (site.pue - 1) * (1 + draw.normal() * spreads.overheadAssumed))), it };
}

/** If a figure is far from the modelled energy, or has none beside it, either of the two is right. */
function isBelieved(measuredWh: number, expectedWh: number | null, draw: Draw): boolean {
  const ratio = expectedWh === null ? Number.POSITIVE_INFINITY : measuredWh / expectedWh;
  const isDoubtful = ratio > comparison.plausibleWithin || ratio * comparison.plausibleWithin < 1;
  return !isDoubtful || draw.random() < 0.5;
}

function drawnEnergy(facts: CallFacts, work: DrawnWork, expectedWh: number | null, draw: Draw): DrawnEnergy {
  const { site, telemetry } = facts;
  if (!telemetry || 'refused' in telemetry) return ofWork(facts, work, draw);
  const { energyWh, includesPue, scope, stated } = telemetry;
  const modelled = ofWork(facts, work, draw);
  if (!isBelieved(energyWh, expectedWh, draw))
    return scope === 'accelerator' || includesPue === true
      ? modelled
      : includesPue === false
        ? { energy: Number(modelled.it), it: modelled.it }
        : { ...modelled, it: null };
  if (scope === 'accelerator') {
    const isAlone = stated?.tokens?.call === stated?.tokens?.all;
    const off = draw.ratio(spreads.counter) * (isAlone ? 1 : draw.ratio(spreads.tokenShare));
    return ofWork(facts, { ...work, acceleratorWh: energyWh * off }, draw);
  }
  const total = energyWh * draw.ratio(spreads.reported);
  if (includesPue === true) return { energy: total, it: total / site.pue };
  if (includesPue === false) return { energy: total, it: total };
  return { energy: total * (draw.random() < 0.5 ? 1 : site.pue), it: null };
}

/** One draw from the distributions: Wh, g and mL; null where the receipt has none. */
function drawn(facts: CallFacts, impact: Impact, draw: Draw) {
  const { grid, site, usage } = facts;
  if (!grid || !usage) throw new Error('These facts cannot be drawn from.');
  const work = drawnWork(facts, usage, draw);
  const { energy, it } = drawnEnergy(facts, work, impact.modelled_energy_wh ?? null, draw);
  const perGpu = (embodied.serverGwpKg / serving.serverGpus + embodied.gpuGwpKg) * 1000;
  const making = (work.seconds / embodied.lifespanS) * perGpu * draw.ratio(spreads.embodiedLeast, spreads.embodiedMost);
  const made = impact.carbon_embodied_g === null ? 0 : making;
  const onSite = Number(site.wueOnsiteLPerKwh) * draw.ratio(spreads.waterOnSite);
  const perKwh = onSite + site.pue * Number(grid.waterLPerKwh) * draw.ratio(spreads.waterGrid);
  return {
    energy,
    carbon: (energy / 1000) * draw.between(grid.gPerKwh, grid.gPerKwh * 1.19 + 48) * gridOff(facts, draw) + made,
    water: it === null ? null : it * perKwh,
  };
}

function gridOff({ grid, requestedAt }: CallFacts, draw: Draw): number {
  if (grid?.signal !== 'annual') return draw.ratio(spreads.gridLive);
  const years = (Date.parse(requestedAt) - Date.parse(grid.periodEnd)) / (365 * 24 * 3.6e6);
  return (
    draw.ratio(spreads.gridLive) *
    draw.ratio(spreads.gridHourLeast, spreads.gridHourMost) *
    draw.ratio(spreads.gridDriftPerYear ** years)
  );
}

/** The share of draws that lie inside the bounds of energy, carbon and, where the receipt has it, water. */
export function coverageOf(facts: CallFacts, impact: Impact): number[] {
  const draw = new Draw(randoms(42));
  const draws = cases(100_000, 20_000);
  const inside = { energy: 0, carbon: 0, water: 0 };
  const isIn = (value: number, low: number, high: number) => (low <= value && value <= high ? 1 : 0);
  for (let at = 0; at < draws; at += 1) {
    const { carbon, energy, water } = drawn(facts, impact, draw);
    inside.energy += isIn(energy, impact.energy_low_wh, impact.energy_high_wh);
    inside.carbon += isIn(carbon, impact.carbon_low_g, impact.carbon_high_g);
    inside.water += isIn(Number(water), Number(impact.water_low_ml), Number(impact.water_high_ml));
  }
  const counts = impact.water_ml === null ? [inside.energy, inside.carbon] : Object.values(inside);
  return counts.map((count) => count / draws);
}
