/**
 * Recomputes a receipt's numbers from its lineage alone, and compares a lineage with a receipt.
 *
 * Invariant: nothing in a lineage is believed but the facts of the call. Every formula and constant must be the one of
 * the methodology that it names, every output must follow, no step may be missing or added, and the seal must fit. A
 * lineage of any shape gives an answer, never an exception.
 */
import type { Impact } from './assess.ts';
import { isCalculation } from './calculation.ts';
import { brief, type Check, type CheckId, checkOf, Mismatches, type Verification } from './checks.ts';
import { digestOf, sameJson } from './digest.ts';
import { impactFrom } from './impact-from-lineage.ts';
import type { Lineage, LineageStep } from './lineage-form.ts';
import { findMethodology, type Methodology } from './methodologies.ts';
import { planOf } from './plan.ts';
import { wattHours } from './telemetry/reading.ts';
import { type FactOf, traced } from './trace.ts';
import { isOtherHardware } from './uncertainty.ts';

export type { Check, CheckId, Verification } from './checks.ts';

/** Whether the lineage holds by itself: all checks but that of the receipt. */
export const recompute = (lineage: Lineage): Verification => verification(lineage, ofLineage);

/** Whether the lineage holds and gives every number of the receipt. `receipt`: its fields; others are not looked at. */
export function verify(lineage: Lineage, receipt: Readonly<Record<string, unknown>>): Verification {
  const all: Readonly<Record<Exclude<CheckId, 'form'>, Compare>> = {
    ...ofLineage,
    receipt: (found, { impact, lineage }) => {
      compareReceipt(found, receipt, impact);
      if (lineage.modelled_energy_wh === undefined) {
        found.compare('receipt.modelled_energy_wh', receipt?.modelled_energy_wh ?? null, null);
      }
      found.compare('receipt.simulated', receipt?.simulated ?? false, lineage.simulated ?? false);
    },
  };
  return verification(lineage, all);
}

/** What follows from the facts that a lineage states. */
interface Recomputed {
  readonly lineage: Lineage;
  readonly method: Methodology;
  readonly factOf: FactOf;
  readonly steps: readonly LineageStep[];
  readonly impact: Impact;
}
type Compare = (found: Mismatches, recomputed: Recomputed) => void;

const ofLineage: Readonly<Record<Exclude<CheckId, 'form' | 'receipt'>, Compare>> = {
  methodology: (found, { lineage, method }) => {
    found.compare('methodology_version', lineage.methodology_version, method.version);
    found.compare('methodology_hash', lineage.methodology_hash, method.hash);
  },
  digest: (found, { lineage: { digest, ...content } }) => found.compare('digest', digest, digestOf(content)),
  steps: (found, { lineage, steps }) => compareSteps(found, lineage.steps, steps),
  statements: (found, { factOf, impact, lineage, method }) => {
    compareStatements(found, lineage, impact, factOf);
    const mayState = lineage.calculation.measured !== null && method.statesModelled;
    found.compare('modelled_energy_wh', 'modelled_energy_wh' in lineage && !mayState, false);
    const modelled = lineage.modelled_energy_wh ?? 1;
    found.compare('modelled_energy_wh', Number.isFinite(modelled) && modelled > 0, true);
  },
};

function verification(lineage: Lineage, compares: Readonly<Partial<Record<CheckId, Compare>>>): Verification {
  const failed = (...checks: Check[]): Verification => ({
    ok: false,
    checks,
    mismatches: checks.flatMap(({ mismatches }) => mismatches),
  });
  try {
    const recomputed = recomputedFrom(lineage);
    if (typeof recomputed === 'string') return failed(checkOf('form', [recomputed]));
    const made = Object.entries(compares).map(([id, compare]) => {
      const found = new Mismatches();
      compare(found, recomputed);
      return checkOf(id as CheckId, found.list);
    });
    const checks = [checkOf('form', []), ...made];
    return checks.every(({ ok }) => ok) ? { ok: true, checks, impact: recomputed.impact } : failed(...checks);
  } catch {
    return failed(checkOf('form', ['lineage: it does not have the form of one']));
  }
}

/** Or why nothing can be recomputed. */
function recomputedFrom(lineage: Lineage): Recomputed | string {
  if (lineage.object !== 'gw.lineage') return 'object: it is not gw.lineage';
  const method = findMethodology(lineage.methodology);
  if (method === null) return `methodology: there is no ${brief(String(lineage.methodology))}`;
  if (!isCalculation(lineage.calculation, method)) return 'calculation: there is no such kind';
  const { calculation, grid, uncertainty_basis: basis } = lineage;
  const factOf = statedValues(lineage.steps);
  if (factOf === null) return 'steps: an input is not a finite number or null';
  const steps = traced(planOf(calculation, method), { calculation, method, factOf, grid, basis });
  const outputs = new Map(steps.map(({ id, output }) => [id, output.value]));
  const impact = impactFrom(lineage, method, (id) => outputs.get(id) ?? null, factOf);
  return { lineage, method, factOf, steps, impact };
}

function compareReceipt(found: Mismatches, receipt: Readonly<Record<string, unknown>>, impact: Impact): void {
  const fields = new Map(Object.entries(receipt ?? {}));
  for (const [field, value] of Object.entries(impact)) {
    // The energy of failed attempts is outside the sum and has no step.
    if (field !== 'energy_failed_attempts_wh') found.compare(`receipt.${field}`, fields.get(field) ?? null, value);
  }
}

const perRun = new Set(['P_active', 'P_total']);
const gridFactors = new Set(['grid_intensity', 'WUE_grid']);

/** The facts of the call, as the steps state them; where two steps differ, the comparison of the steps tells. */
function statedValues(steps: readonly LineageStep[]): FactOf | null {
  const values = new Map<string, number | null>();
  for (const { factors, id, inputs } of steps) {
    const run = id.split('@')[1] ?? null;
    const facts = inputs.filter(({ source }) => !source.startsWith('step '));
    for (const { name, value } of [...facts, ...factors.filter(({ name }) => gridFactors.has(name))]) {
      if (value !== null && !Number.isFinite(value)) return null;
      const key = keyOf(name, run);
      if (!values.has(key)) values.set(key, value);
    }
  }
  return (name, run) => values.get(keyOf(name, run)) ?? null;
}

/** A step of no run takes the upper end of a range. */
const keyOf = (name: string, run: string | null): string =>
  perRun.has(name) ? `${name}@${run === 'min' ? 'min' : 'max'}` : name;

function compareSteps(found: Mismatches, stated: readonly LineageStep[], steps: readonly LineageStep[]): void {
  found.compare('steps.length', stated.length, steps.length);
  for (const [index, step] of steps.entries()) {
    const other: Partial<LineageStep> = stated[index] ?? {};
    if (sameJson(other, step)) continue;
    for (const field of Object.keys({ ...step, ...other }) as (keyof LineageStep)[]) {
      found.compare(`steps.${step.id}.${field}`, other[field] ?? null, step[field] ?? null);
    }
  }
}

/** A marginal intensity is in no receipt. */
const signals = new Set(['average', 'annual', 'forecast']);

const bases = new Set<unknown>(['lifecycle', 'combustion', 'unknown']);

/** What a lineage says beside its steps must agree with them. */
function compareStatements(found: Mismatches, lineage: Lineage, impact: Impact, factOf: FactOf): void {
  const { calculation, grid, telemetry } = lineage;
  found.compare('simulated', lineage.simulated ?? true, true);
  found.compare(
    'telemetry.energy_source',
    telemetry?.energy_source === 'simulated',
    telemetry !== null && 'simulated' in lineage,
  );
  found.compare('boundary_excludes', lineage.boundary_excludes, impact.boundary_excludes);
  found.compare('energy_split', lineage.energy_split, impact.energy_split);
  const same = (where: string, stated: unknown, name: string): void => {
    const value = factOf(name, null);
    if (value !== null) found.compare(where, stated, value);
  };
  same('prompt_tokens', lineage.prompt_tokens, 'T_in');
  if (calculation.model_kind === 'chat') same('completion_tokens', lineage.completion_tokens, 'T_out');
  const [start = '', end = ''] = grid.period.split('/');
  same('grid.period', Date.parse(start), 'period_start');
  same('grid.period', Date.parse(end), 'period_end');
  found.compare('grid.signal is average, annual or forecast', signals.has(grid.signal), true);
  if (impact.grid_vintage !== undefined) {
    found.compare('grid.vintage', grid.vintage, impact.grid_vintage);
    found.compare('grid.basis is a basis', bases.has(grid.basis), true);
  } else found.compare('grid.basis', grid.basis ?? grid.vintage ?? grid.is_estimated ?? null, null);
  const isForecast = grid.signal === 'forecast' || grid.stated_match === 'forecast';
  same('grid.signal', isForecast ? 1 : 0, 'is_forecast');
  same('grid.signal', grid.signal === 'annual' ? 1 : 0, 'is_annual');
  same('accelerators', isOtherHardware(lineage.accelerators) ? 1 : 0, 'is_other_hardware');
  const basis = impact.uncertainty_basis;
  found.compare('uncertainty_basis', lineage.uncertainty_basis, basis);
  found.compare('telemetry.used', telemetry?.used ?? false, calculation.measured !== null);
  if (calculation.measured === null || telemetry === null) return;
  const { stated } = telemetry;
  same('telemetry.stated.value', stated?.value ?? null, 'stated_energy');
  same('telemetry.stated.range.min', stated?.range?.min ?? null, 'stated_min');
  same('telemetry.stated.range.max', stated?.range?.max ?? null, 'stated_max');
  same('telemetry.stated.tokens.call', stated?.tokens?.call ?? null, 'call_tokens');
  same('telemetry.stated.tokens.all', stated?.tokens?.all ?? null, 'all_tokens');
  found.compare('telemetry.stated.unit', stated?.unit ?? null, calculation.measured.unit);
  found.compare('telemetry.scope', telemetry.scope, calculation.measured.scope);
  found.compare('telemetry.includes_pue', telemetry.includes_pue, calculation.measured.includes_pue);
  if (stated !== null) found.compare('telemetry.stated', Number.isFinite(wattHours(stated, stated.value)), true);
}
