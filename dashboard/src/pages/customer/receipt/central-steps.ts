import type { LineageStep } from '../../../api/types.ts';

const asked = ['energy_wh', 'carbon_g', 'water_ml'];
const stepMark = 'step ';

/** The ids of the steps that energy, carbon and water are made of; the others are of bounds and comparisons. */
export function centralSteps(steps: readonly LineageStep[]): ReadonlySet<string> {
  const byId = new Map(steps.map((step) => [step.id, step]));
  const found = new Set<string>();
  const left = [...asked];
  for (let id = left.pop(); id !== undefined; id = left.pop()) {
    const step = byId.get(id);
    if (step === undefined || found.has(id)) continue;
    found.add(id);
    for (const { source } of step.inputs) if (source.startsWith(stepMark)) left.push(source.slice(stepMark.length));
  }
  return found;
}
