import { isDeepStrictEqual } from 'node:util';
import { cases } from '@gw/testing/cases';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { defaultMethodology, type MethodologyId } from '../documents/methodologies.ts';
import { annualReading } from '../facts/grid-annual.ts';
import { evaluate } from '../language/evaluate.ts';
import { formulaOf } from '../language/parse.ts';
import { assess } from '../receipt/assess.ts';
import { leaves, other, type Path, whileChanged } from '../testdata/changes.ts';
import { call, hourly } from '../testdata/facts.ts';
import { type Sample, sampleOf, samples } from '../testdata/lineages.ts';
import { shapes } from '../testdata/telemetry.ts';
import { type Lineage, lineageDigest, lineageOf } from './lineage.ts';
import { recompute, verify } from './recompute.ts';

function sample(facts = call, methodology: MethodologyId = defaultMethodology): Sample {
  const made = sampleOf(facts, methodology);
  if (made === null) throw new Error('This call has no receipt.');
  return made;
}
const range = { ...call.model, activeParametersB: { min: 44, max: 132 }, totalParametersB: { min: 440, max: 440 } };
const proxy = { ...call, requestedTier: 'proxy', upstreamLatencyS: 9 } as const;
const kinds: readonly [string, Sample][] = [
  ['parametric', sample({ ...call, upstreamLatencyS: 9 })],
  ['parametric range, narrow', sample({ ...call, model: range, boundary: 'narrow' })],
  ['proxy', sample(proxy)],
  ['ecologits-0.11.3', sample(call, 'ecologits-0.11.3')],
  ...Object.entries(shapes).map(([name, read]): [string, Sample] => [name, sample({ ...call, telemetry: read(0.25) })]),
];

/** With many cases every leaf of the first kind, and of each other one every fifth, which share most of their steps with it. */
const stride = cases(1, 16);
const looked = (lineage: Lineage, name: string): Path[] =>
  leaves(lineage).filter((_, index) => index % (name === 'parametric' ? stride : 5 * stride) === name.length % stride);

const reseal = (lineage: Lineage): Lineage => ({
  ...lineage,
  digest: lineageDigest(lineage.call ?? null, lineage.facts, lineage.methodology_hash),
});

describe('a lineage', () => {
  it('states the hardware of the deployment where it is stated, and else says nothing of it', () => {
    const accelerators = { model: 'MI300X', count: 8 };
    const { impact, lineage } = sample({ ...call, site: { ...call.site, accelerators } });
    expect(lineage.accelerators).toEqual(accelerators);
    expect(verify(lineage, { ...impact })).toEqual(expect.objectContaining({ ok: true, impact }));
    expect(sample().lineage).not.toHaveProperty('accelerators');
  });

  it('states what the grid value counts, its year, and whether it is an estimate; by EcoLogits it does not', () => {
    const estimate = { ...hourly, temporalMatch: 'fresh', basis: 'direct', isEstimated: true } as const;
    const live = sample({ ...call, grid: estimate });
    expect(live.lineage.grid).toMatchObject({ basis: 'combustion', vintage: null, is_estimated: true });
    expect(live.impact).toMatchObject({ grid_basis: 'combustion', grid_vintage: null });
    const yearly = sample({ ...call, grid: annualReading('FRA') });
    expect(yearly.lineage.grid).toMatchObject({ basis: 'lifecycle', vintage: 2025, is_estimated: false });
    expect(yearly.impact).toMatchObject({ grid_basis: 'lifecycle', grid_vintage: 2025 });
    const estimated = { ...yearly.lineage, grid: { ...yearly.lineage.grid, is_estimated: true } };
    expect(verify(reseal(estimated), { ...yearly.impact }).ok).toBe(false);
    expect(sample().impact).toMatchObject({ grid_basis: 'unknown', grid_vintage: null });
    const before = sample({ ...call, grid: estimate }, 'ecologits-0.11.3');
    for (const field of ['basis', 'vintage', 'is_estimated']) expect(before.lineage.grid).not.toHaveProperty(field);
    expect([before.impact.grid_basis, before.impact.grid_vintage]).toEqual([undefined, undefined]);
    // Nor does a receipt by EcoLogits follow from a lineage that states them.
    for (const [field, value] of Object.entries({ basis: 'lifecycle', vintage: 2025, is_estimated: true })) {
      const forged = reseal({ ...before.lineage, grid: { ...before.lineage.grid, [field]: value } });
      expect(verify(forged, { ...before.impact }).ok, field).toBe(false);
    }
  });

  it('states what EcoLogits gives beside what is modelled by known parameters, and beside nothing else', () => {
    const { impact, lineage } = sample({ ...call, model: range, upstreamLatencyS: 9 });
    const theirs = assess({ ...call, model: range, upstreamLatencyS: 9 }, 'ecologits-0.11.3');
    if (!theirs.ok) throw new Error(theirs.explanation);
    const { carbon_g, energy_wh, methodology_hash, methodology_version, water_ml } = theirs.impact;
    expect(lineage.ecologits).toEqual({ methodology_version, methodology_hash, energy_wh, carbon_g, water_ml });
    expect(energy_wh).not.toBe(impact.energy_wh);
    const forged = { ...lineage, ecologits: { ...theirs.impact, energy_wh: energy_wh / 2 } };
    expect(verify(reseal(forged), { ...impact }).ok).toBe(false);
    const others = ['proxy', 'ecologits-0.11.3', 'neuralwatt', 'gpu_counters'];
    for (const [name, other] of kinds) if (others.includes(name)) expect(other.lineage).not.toHaveProperty('ecologits');
  });

  it('states a modelled energy beside a measured one alone', () => {
    const [, measured] = kinds.find(([name]) => name === 'neuralwatt') ?? [];
    const [, earlier] = kinds.find(([name]) => name === 'ecologits_impacts') ?? [];
    if (!measured || !earlier) throw new Error('no such kind');
    expect(measured.lineage.modelled_energy_wh).toBeGreaterThan(0);
    for (const modelled_energy_wh of [-5, 0, 'x' as unknown as number]) {
      const forged = { ...measured.lineage, modelled_energy_wh };
      expect(verify(reseal(forged), { ...measured.impact, modelled_energy_wh }).ok).toBe(false);
      expect(verify(reseal(forged), { ...measured.impact }).ok).toBe(false);
    }
    const { modelled_energy_wh: _, ...silent } = measured.lineage;
    expect(verify(reseal(silent), { ...measured.impact }).ok).toBe(false);
    for (const { impact, lineage } of [sample(), earlier]) {
      const added = { modelled_energy_wh: 1 };
      expect(verify(reseal({ ...lineage, ...added }), { ...impact, ...added }).ok).toBe(false);
      expect(verify(lineage, { ...impact, ...added }).ok).toBe(false);
    }
  });

  it('is the same after any JSON store, also one that reorders keys', () => {
    fc.assert(
      fc.property(samples, ({ impact, lineage }) => {
        const reordered = JSON.parse(JSON.stringify(lineage), (_key, value) =>
          typeof value === 'object' && value !== null && !Array.isArray(value)
            ? Object.fromEntries(Object.entries(value).reverse())
            : value,
        );
        expect(recompute(reordered)).toEqual(expect.objectContaining({ ok: true, impact }));
        expect(verify(reordered, { ...impact })).toEqual(expect.objectContaining({ ok: true, impact }));
      }),
      { numRuns: cases(100) },
    );
  });

  it('has the outputs that its printed formulas give with the printed operands', () => {
    fc.assert(
      fc.property(samples, ({ lineage }) => {
        const values = new Map([...lineage.inputs, ...lineage.factors].map(({ name, value }) => [name, value]));
        const read = new Set<string>();
        for (const { evaluated_as, formula, id, inputs, output } of lineage.steps) {
          const { names } = formulaOf(evaluated_as ?? formula);
          expect(inputs.length, id).toBe(names.length);
          for (const each of inputs) read.add(each);
          const operands = new Map(names.map((name, at) => [name, values.get(inputs[at] ?? '')]));
          const value = evaluate(evaluated_as ?? formula, (name) => operands.get(name) ?? null);
          expect(output.value, id).toBe(value);
          values.set(id, output.value);
        }
        const listed = [...lineage.inputs, ...lineage.factors].map(({ name }) => name);
        expect(listed.filter((name) => !read.has(name))).toEqual([]);
        expect(new Set(listed).size).toBe(listed.length);
      }),
      { numRuns: cases(200) },
    );
  });

  it('is refused with the reason of the receipt', () => {
    expect(lineageOf({ ...call, grid: null })).toEqual(assess({ ...call, grid: null }));
  });

  it('keeps a figure that was not used, with the reason', () => {
    const { lineage } = sample({ ...call, telemetry: { source: 'greenpt', refused: 'unknown_unit', raw: { a: 1 } } });
    expect(lineage.telemetry).toMatchObject({ used: false, refused: 'unknown_unit', raw: { a: 1 } });
    expect(recompute(lineage).ok).toBe(true);
  });

  it('of a figure that came in Wh begins with it', () => {
    const reading = shapes.neuralwatt?.(0.25);
    if (!reading || 'refused' in reading) throw new Error('The shape was not read.');
    const { impact, lineage } = sample({ ...call, telemetry: { ...reading, stated: null } });
    expect(verify(lineage, { ...impact })).toEqual(expect.objectContaining({ ok: true, impact }));
    expect(impact.energy_wh).toBe(0.25);
  });

  it('states unit, source, version and licence of what went in', () => {
    for (const [, { lineage }] of kinds) {
      for (const { formula, output } of lineage.steps) {
        expect(formula).not.toBe('');
        expect(output.unit).not.toBe('');
      }
      const { factors, inputs } = lineage;
      for (const factor of factors) expect(factor).toMatchObject({ unit: /./, source: /./ });
      for (const factor of factors) expect([factor.version, factor.licence]).not.toContain(undefined);
      for (const input of inputs) expect(input.source).not.toBe('unknown');
    }
    const bounded = sample().lineage.steps.find(({ id }) => id === 'request_energy');
    expect(bounded?.uncertainty).toMatchObject({ low: expect.any(Number), high: expect.any(Number) });
  });
});

describe('any single change is detected', () => {
  it.each(kinds)('in a lineage of the kind %s', (name, { impact, lineage }) => {
    expect(verify(lineage, { ...impact }).ok).toBe(true);
    for (const path of looked(lineage, name)) {
      const { ok } = whileChanged(lineage, path, (it) => verify(it, { ...impact }));
      if (ok) expect.fail(`${path.join('.')} was changed unseen`);
    }
  });

  it.each(kinds)('in a formula, factor or output of the kind %s, also if the seal is made anew', (name, kind) => {
    const { impact, lineage } = kind;
    const parts = new Set(['steps', 'factors']);
    for (const path of looked(lineage, name)) {
      if (!parts.has(String(path[0]))) continue;
      const { ok } = whileChanged(lineage, path, (it) => verify(reseal(it), { ...impact }));
      if (ok) expect.fail(`${path.join('.')} was forged unseen`);
    }
  });

  it.each(kinds)('in an input of the kind %s', (_name, { impact, lineage }) => {
    const inputs = leaves(lineage).filter((path) => path[0] === 'inputs');
    for (const path of inputs) {
      if (whileChanged(lineage, path, (it) => verify(it, { ...impact }).ok)) expect.fail(`${path.join('.')} unseen`);
    }
  });

  it.each(kinds)('in the receipt of the kind %s', (_name, { impact, lineage }) => {
    for (const [field, value] of Object.entries(impact)) {
      if (field === 'energy_failed_attempts_wh') continue;
      const result = verify(lineage, { ...impact, [field]: Array.isArray(value) ? [...value, 'x'] : other(value) });
      expect(result.ok ? [] : result.mismatches).toEqual([expect.stringContaining(`receipt.${field}: `)]);
    }
  });

  it('in what a lineage states beside its steps, also if the seal is made anew', () => {
    const paths = ['methodology', 'methodology_version', 'methodology_hash', 'energy_split', 'uncertainty_basis'];
    const inner = [
      'grid.period',
      'grid.source',
      'grid.signal',
      'grid.zone',
      'grid.basis',
      'grid.vintage',
      'grid.is_estimated',
      'telemetry.used',
      'telemetry.stated.value',
    ];
    const kind = ['calculation.tier', 'calculation.boundary', 'calculation.modelled_by', 'calculation.measured.scope'];
    for (const path of [...paths, ...inner, ...kind, 'boundary_excludes.0', 'prompt_tokens', 'completion_tokens']) {
      for (const [name, { impact, lineage }] of kinds.filter(
        ([, { lineage: of }]) => of.calculation.measured !== null,
      )) {
        const { ok } = whileChanged(lineage, path.split('.'), (it) => verify(reseal(it), { ...impact }));
        if (ok) expect.fail(`${path} of ${name} was forged unseen`);
      }
    }
  });

  it('in the steps: one left out, doubled, added or moved, with a new seal', () => {
    for (const [, { lineage }] of kinds) {
      const { steps } = lineage;
      for (const index of [0, 5, steps.length - 1]) {
        expect(recompute(reseal({ ...lineage, steps: steps.toSpliced(index, 1) })).ok).toBe(false);
        const [step] = steps.slice(index);
        if (step) expect(recompute(reseal({ ...lineage, steps: [...steps, step] })).ok).toBe(false);
      }
      expect(recompute(reseal({ ...lineage, steps: steps.toReversed() })).ok).toBe(false);
    }
  });

  it('and is named', () => {
    const { lineage } = sample();
    const index = lineage.steps.findIndex(({ id }) => id === 'writing_energy');
    const result = whileChanged(lineage, ['steps', index, 'output', 'value'], recompute);
    expect(result.ok ? [] : result.mismatches.join('\n')).toMatch(
      /steps\.writing_energy\.output: .* is stated, .* follows/,
    );
  });
});

describe('what is no lineage', () => {
  it('gives an answer, never an exception', () => {
    const { lineage } = sample();
    const parts = fc.constantFrom(...Object.keys(lineage));
    fc.assert(
      fc.property(parts, fc.anything(), (part, value) => {
        // The same value in its own place changes nothing, and so proves nothing.
        fc.pre(!isDeepStrictEqual(Object.entries(lineage).find(([name]) => name === part)?.[1], value));
        const broken: Lineage = { ...lineage, [part]: value };
        expect(recompute(broken).ok).toBe(false);
      }),
    );
    fc.assert(fc.property(fc.anything(), (value) => !recompute(value as Lineage).ok));
  });

  it('and a methodology that does not exist is named', () => {
    const result = recompute(reseal({ ...sample().lineage, methodology: 'gw-9' }));
    expect(result).toMatchObject({ ok: false, mismatches: ['methodology: there is no gw-9'] });
  });
});
