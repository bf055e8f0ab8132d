/**
 * Draws a receipt's amounts from the distributions that the methodology states, by arithmetic of its own: it takes the
 * facts, the constants and the parts of work, and shares nothing with the code that makes the bounds.
 */
import { cases } from '@gw/testing/cases';
import type { CallFacts, Impact } from '../assess.ts';
import { embodied, idleShare, prefill, serving, spreads } from '../factors.ts';
import { decode, decodeWork, prefillWork, readInput, totalOf } from '../parametric.ts';

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

/** Of the normal distribution: nine of ten lie within this many standard deviations. */
const ninety = 1.6449;

/** One draw from the distributions: Wh, g and mL. */
function drawn(facts: CallFacts, random: () => number) {
  const normal = () => (Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())) / ninety;
  /** Log-normal around 1, with its own width to each side. */
  const ratio = (least: number, most = least) => {
    const z = normal();
    return (z < 0 ? least : most) ** z;
  };
  const atMost = (least: number) => Math.min(1, ratio(least));
  const { grid, model, site, upstreamLatencyS, usage } = facts;
  const [active, total] = [model.activeParametersB, totalOf(model)];
  if (!grid || !usage || !active || !total) throw new Error('These facts cannot be drawn from.');
  const end = random();
  const activeB = active.min + (active.max - active.min) * end;
  const totalB = total.min + (total.max - total.min) * end;
  const outputTokens = model.kind === 'embedding' ? 0 : usage.completionTokens;
  const writing = decodeWork(decode(outputTokens, activeB, totalB, { ...model, upstreamLatencyS }));
  const reading = prefillWork(readInput(usage.promptTokens - usage.cachedPromptTokens, activeB));
  const off = ratio(spreads.modelLeast, spreads.modelMost) * (totalB > 200 ? atMost(spreads.extrapolationLeast) : 1);
  const hardware = ratio(spreads.otherHardware);
  const used = prefill.utilisationMin + (prefill.utilisationMax - prefill.utilisationMin) * random();
  const layers = (Math.sqrt(activeB * totalB) * 1e9) / 12 / 10_000;
  const attention =
    1 + random() * (((usage.promptTokens + usage.cachedPromptTokens) * 100 * layers ** (2 / 3)) / (activeB * 1e9));
  const read = (prefill.utilisation / used) * attention;
  const idle = idleShare + normal() * (spreads.idleShareMax - idleShare);
  const computing =
    (writing.acceleratorWh + writing.hostWh) * off * hardware +
    (reading.acceleratorWh + reading.hostWh) * read * hardware;
  const it = computing * (1 + idle);
  const energy = it * (1 + (site.pue - 1) * (1 + normal() * spreads.overhead));
  const seconds = (writing.acceleratorS * off * atMost(spreads.latencyLeast) + reading.acceleratorS * read) * hardware;
  const perGpu = (embodied.serverGwpKg / serving.serverGpus + embodied.gpuGwpKg) * 1000;
  const made = (seconds / embodied.lifespanS) * perGpu * ratio(spreads.embodiedLeast, spreads.embodiedMost);
  const onSite = Number(site.wueOnsiteLPerKwh) * ratio(spreads.waterOnSite);
  return {
    energy,
    carbon: (energy / 1000) * grid.gPerKwh * gridOff(facts, ratio) + made,
    water: it * (onSite + site.pue * Number(grid.waterLPerKwh) * ratio(spreads.waterGrid)),
  };
}

function gridOff({ grid, requestedAt }: CallFacts, ratio: (least: number, most?: number) => number): number {
  if (grid?.signal !== 'annual') return ratio(spreads.gridLive);
  const years = (Date.parse(requestedAt) - Date.parse(grid.periodEnd)) / (365 * 24 * 3.6e6);
  return (
    ratio(spreads.gridLive) *
    ratio(spreads.gridHourLeast, spreads.gridHourMost) *
    ratio(spreads.gridDriftPerYear ** years)
  );
}

/** The share of draws that lie inside the bounds of energy, carbon and water. */
export function coverageOf(facts: CallFacts, impact: Impact) {
  const random = randoms(42);
  const draws = cases(100_000, 20_000);
  const inside = { energy: 0, carbon: 0, water: 0 };
  const isIn = (value: number, low: number, high: number) => (low <= value && value <= high ? 1 : 0);
  for (let draw = 0; draw < draws; draw += 1) {
    const { carbon, energy, water } = drawn(facts, random);
    inside.energy += isIn(energy, impact.energy_low_wh, impact.energy_high_wh);
    inside.carbon += isIn(carbon, impact.carbon_low_g, impact.carbon_high_g);
    inside.water += isIn(water, Number(impact.water_low_ml), Number(impact.water_high_ml));
  }
  return { energy: inside.energy / draws, carbon: inside.carbon / draws, water: inside.water / draws };
}
