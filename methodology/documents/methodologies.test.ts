import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { ModelClass } from '../facts/facts.ts';
import { formulaOf } from '../language/parse.ts';
import { lineageOf } from '../lineage/lineage.ts';
import { recompute } from '../lineage/recompute.ts';
import { assess, type CallFacts } from '../receipt/assess.ts';
import frozen from '../testdata/frozen-receipts.json' with { type: 'json' };
import { digestOf } from './digest.ts';
import { factorOf } from './factor-table.ts';
import { standIns } from './factors.ts';
import { findMethodology, type MethodologyId, methodologyIds, methodologyOf } from './methodologies.ts';

describe('a methodology', () => {
  // If this fails, a constant or formula has changed: give the methodology a new version before the new hash.
  it.each([
    ['gw-1.5', '1.5.0', '34433be6478676f2bbbbcf010d7dca6c84781ae2958a8f6e6f9e6a69ec2aa0e3'],
    ['gw-1.4', '1.4.0', 'a2aa44f80a4affbe58c9ef4289173ff512d34059b30a97807773a8537a94b305'],
    ['ecologits-0.11.3', '0.11.3', 'cb619215bc53532911f9083bcf37239f2767608479b5b80a1bfb746d834fa7e2'],
  ] as const)('%s %s keeps its constants and formulas', (id, version, hash) => {
    expect(methodologyOf(id)).toMatchObject({ id, version, hash: `sha256:${hash}` });
  });

  it('publishes the text that its hash is over, with every constant and formula', () => {
    const { document, hash } = methodologyOf('gw-1.4');
    expect(hash).toBe(`sha256:${createHash('sha256').update(document).digest('hex')}`);
    expect(JSON.parse(document)).toMatchObject({
      rules: { idleShare: 0.1, chargesInput: true },
      constants: { serving: { batchSize: 64 }, prefill: { utilisation: 0.4 }, classFactors: { small: {} } },
      steps: { gpu_energy: { unit: 'Wh' }, prefill_time: { unit: 'GPU·s' }, request_energy: { unit: 'Wh' } },
    });
  });

  it('that leaves input out has no constants and steps for it', () => {
    expect(methodologyOf('ecologits-0.11.3').document).not.toContain('prefill_time":');
    expect(JSON.parse(methodologyOf('ecologits-0.11.3').document)).not.toHaveProperty('constants.prefill');
  });
});

describe('frozen', () => {
  // Its document does not hold them, but a lineage is checked against them. If this fails, old lineages no longer recompute.
  it("are the executed formulas of EcoLogits' methodology and every factor with its provenance", () => {
    const method = methodologyOf('ecologits-0.11.3');
    const names = new Set(Object.values(method.formulas).flatMap(({ formula }) => formulaOf(formula).names));
    const classes: (ModelClass | null)[] = [null, ...(Object.keys(standIns) as ModelClass[])];
    const factors = [...names].sort().map((name) => classes.map((each) => factorOf(name, method, each)));
    expect(digestOf(method.formulas)).toBe('sha256:38c0081ac70a39890a67f4a13f7eb316c20da7e6ec7eaea2b81c3eeee3b1d510');
    expect(digestOf(factors)).toBe('sha256:60c23dd719d38265969168af041569307785a0838f0edfa44a1785bd07be9e5a');
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
