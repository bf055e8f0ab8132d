import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { ModelClass } from '../facts/facts.ts';
import { formulaOf } from '../language/parse.ts';
import { lineageOf } from '../lineage/lineage.ts';
import { recompute } from '../lineage/recompute.ts';
import { assess, type CallFacts } from '../receipt/assess.ts';
import frozen from '../testdata/frozen-receipts.json' with { type: 'json' };
import { digestOf } from './digest.ts';
import { factorOf, noKeys } from './factor-table.ts';
import { standIns } from './factors.ts';
import { findMethodology, type MethodologyId, methodologyIds, methodologyOf } from './methodologies.ts';

describe('a methodology', () => {
  // If this fails, a constant or formula has changed: give the methodology a new version before the new hash.
  it.each([
    ['gw-2.0', '2.0.0', '52e796a4c1a260211bd32a7f71d7403d3c007b0937c2064ecef485306253b503'],
    ['ecologits-0.11.3', '0.11.3', '52b9f655a302e82812e65235b85c6b198bf61de92c086795585d3628ec66e415'],
  ] as const)('%s %s keeps its constants and formulas', (id, version, hash) => {
    expect(methodologyOf(id)).toMatchObject({ id, version, hash: `sha256:${hash}` });
  });

  it('publishes the text that its hash is over, with every constant and formula', () => {
    const { document, hash } = methodologyOf('gw-2.0');
    expect(hash).toBe(`sha256:${createHash('sha256').update(document).digest('hex')}`);
    expect(JSON.parse(document)).toMatchObject({
      rules: { idleShare: 0.1, chargesInput: true },
      constants: { writing: { assumedConcurrency: 64 }, prefill: { utilisation: 0.4 }, classSpans: { small: {} } },
      steps: { writing_energy: { unit: 'Wh' }, prefill_time: { unit: 'GPU·s' }, request_energy: { unit: 'Wh' } },
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
    const factors = [...names]
      .sort()
      .map((name) => classes.map((each) => factorOf(name, method, { ...noKeys, model_class: each })));
    expect(digestOf(method.formulas)).toBe('sha256:8774ac4472ee1d58483f3414dde1fcd065285fb641063522739633f226e14f7e');
    expect(digestOf(factors)).toBe('sha256:5dfb73a04145edf24758d031317cd5dff74ccd78d8e59050b8a638bc7a5e22a1');
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
