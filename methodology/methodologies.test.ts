import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { assess, type CallFacts } from './assess.ts';
import { digestOf } from './digest.ts';
import { type Factor, factorOf } from './factor-table.ts';
import { standIns } from './factors.ts';
import type { ModelClass } from './facts.ts';
import { formulaOf } from './formula.ts';
import { lineageOf } from './lineage.ts';
import { findMethodology, type MethodologyId, methodologyIds, methodologyOf } from './methodologies.ts';
import { programs } from './programs.ts';
import { recompute } from './recompute.ts';
import frozen from './testdata/frozen-receipts.json' with { type: 'json' };

describe('a methodology', () => {
  // If this fails, a constant or formula has changed: give the methodology a new version before the new hash.
  it.each([
    ['gw-1.4', '1.4.0', 'a2aa44f80a4affbe58c9ef4289173ff512d34059b30a97807773a8537a94b305'],
    ['gw-1.3', '1.3.0', 'b52aa8047983d2f4b32b8ba012170de1dfa7ad1a518749e4305b501cf038e490'],
    ['gw-1.2', '1.2.0', '52d8b3d2d8a781e55d0b0540211a9a6dce4b72e9940a92fbc69c329e065c0592'],
    ['gw-1.1', '1.1.0', 'd00c3231ecdb8347c9e8a1afe542d3eb0b6062698397269f302053a59fdcb5da'],
    ['gw-1.0', '1.0.0', '5b54341e85b4ccdcab47866167df53913c0f93c60ec92455bbf8062ca9689004'],
    ['ecologits-0.11.3', '0.11.3', 'cb619215bc53532911f9083bcf37239f2767608479b5b80a1bfb746d834fa7e2'],
  ] as const)('%s %s keeps its constants and formulas', (id, version, hash) => {
    expect(methodologyOf(id)).toMatchObject({ id, version, hash: `sha256:${hash}` });
  });

  it('publishes the text that its hash is over, with every constant and formula', () => {
    const { document, hash } = methodologyOf('gw-1.0');
    expect(hash).toBe(`sha256:${createHash('sha256').update(document).digest('hex')}`);
    expect(JSON.parse(document)).toMatchObject({
      rules: { idleShare: 0.1, chargesInput: true },
      constants: { serving: { batchSize: 64 }, prefill: { utilisation: 0.4 }, uncertainty: { proxy: 0.6 } },
      steps: { gpu_energy: { unit: 'Wh' }, prefill_time: { unit: 'GPU·s' }, request_energy: { unit: 'Wh' } },
    });
  });

  it('that leaves input out has no constants and steps for it', () => {
    expect(methodologyOf('ecologits-0.11.3').document).not.toContain('prefill_time":');
    expect(JSON.parse(methodologyOf('ecologits-0.11.3').document)).not.toHaveProperty('constants.prefill');
  });
});

/** A factor without what a later release added to its form. */
function asBefore(factor: Factor | null) {
  if (factor === null) return null;
  const { date: _d, locator: _l, uncertainty: _u, ...before } = factor;
  return before;
}

describe('frozen', () => {
  // What documents do not hold, but a lineage is checked against. If this fails, old lineages no longer recompute.
  it('are the executed formulas and every factor with its provenance', () => {
    const names = new Set(Object.values(programs).flatMap(({ formula }) => formulaOf(formula).names));
    const classes: (ModelClass | null)[] = [null, ...(Object.keys(standIns) as ModelClass[])];
    const factorsOf = (id: MethodologyId) =>
      [...names].sort().map((name) => classes.map((each) => asBefore(factorOf(name, methodologyOf(id), each))));
    const factors = (['gw-1.1', 'gw-1.0', 'ecologits-0.11.3'] as const).map(factorsOf);
    for (const id of ['gw-1.2', 'gw-1.3', 'gw-1.4'] as const) expect(factorsOf(id)).toEqual(factorsOf('gw-1.1'));
    expect(digestOf(programs)).toBe('sha256:253ee153f238d4c67acc8630886647915317182681a538f7eab66773677e1768');
    expect(digestOf(factors)).toBe('sha256:06cb4d599470d656f834d07c87d09a202b067e3af0a7f11a0affbb3dcf951f7b');
  });

  const receipts = frozen.receipts.map((row, index) => ({ index, ...row }));

  it('are receipts of every methodology', () => {
    expect(new Set(receipts.map(({ methodology }) => methodology))).toEqual(new Set(methodologyIds));
  });

  it.each(receipts)('receipt $index recomputes with $methodology, which made it', ({ facts, impact, methodology }) => {
    const id = methodology as MethodologyId;
    const stored = facts as CallFacts;
    expect(assess(stored, id)).toEqual({ ok: true, impact });
    const traced = lineageOf(stored, id);
    expect(traced.ok && recompute(traced.lineage)).toEqual(expect.objectContaining({ ok: true, impact }));
  });

  it('is not what nobody published', () => {
    expect(findMethodology('gw-0.9')).toBeNull();
    expect(findMethodology('constructor')).toBeNull();
  });
});
