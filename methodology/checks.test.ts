import { describe, expect, it } from 'vitest';
import { checkTexts, type Verification } from './checks.ts';
import { digestOf } from './digest.ts';
import type { Lineage } from './lineage.ts';
import { recompute, verify } from './recompute.ts';
import { whileChanged } from './testdata/changes.ts';
import { call } from './testdata/facts.ts';
import { sampleOf } from './testdata/lineages.ts';

const sample = sampleOf(call, 'gw-1.3');
if (sample === null) throw new Error('This call has no receipt.');
const { impact, lineage } = sample;
const failed = ({ checks }: Verification) => checks.filter(({ ok }) => !ok).map(({ id }) => id);
const reseal = ({ digest: _, ...content }: Lineage): Lineage => ({ ...content, digest: digestOf(content) });

describe('a verification', () => {
  it('makes every check there is, and says of each that it holds', () => {
    const checks = Object.keys(checkTexts).map((id) => ({ id, ok: true, mismatches: [] }));
    expect(verify(lineage, { ...impact })).toEqual({ ok: true, checks, impact });
  });

  it('of a lineage alone makes all but that of the receipt', () => {
    expect(recompute(lineage).checks.map(({ id }) => id)).toEqual(
      Object.keys(checkTexts).filter((id) => id !== 'receipt'),
    );
  });

  it.each([
    ['object', 'form'],
    ['calculation.tier', 'form'],
    ['methodology', 'form'],
    ['methodology_version', 'methodology'],
    ['methodology_hash', 'methodology'],
    ['steps.0.output.value', 'steps'],
    ['steps.0.formula', 'steps'],
    ['boundary_excludes.0', 'statements'],
    ['prompt_tokens', 'statements'],
  ])(
    'of a lineage whose %s was altered fails in %s alone, and in the digest unless that is made anew',
    (path, check) => {
      const [sealed, resealed] = whileChanged(lineage, path.split('.'), (altered) => [
        recompute(altered),
        recompute(reseal(altered)),
      ]);
      expect(failed(sealed ?? expect.fail())).toEqual(
        check === 'form' ? ['form'] : [check, 'digest'].toSorted(inOrder),
      );
      expect(failed(resealed ?? expect.fail())).toEqual([check]);
    },
  );

  it('of a receipt that was altered fails in the receipt alone, and names the field', () => {
    const verification = verify(lineage, { ...impact, water_ml: 1 });
    expect(failed(verification)).toEqual(['receipt']);
    const told = verification.checks.flatMap(({ mismatches }) => mismatches);
    expect(told).toEqual([expect.stringMatching(/^receipt\.water_ml: 1 is stated, .* follows$/)]);
    expect(verification).toMatchObject({ ok: false, mismatches: told });
  });

  it('tells of every check that fails, not of the first alone', () => {
    const altered = { ...lineage, methodology_hash: 'sha256:0', boundary_excludes: [] };
    expect(failed(verify(altered, { ...impact, carbon_g: 0 }))).toEqual([
      'methodology',
      'digest',
      'statements',
      'receipt',
    ]);
  });

  it('of what is no receipt at all says so, and throws nothing', () => {
    expect(failed(verify(lineage, JSON.parse('null')))).toEqual(['receipt']);
    expect(failed(verify(JSON.parse('null'), { ...impact }))).toEqual(['form']);
  });
});

const order = Object.keys(checkTexts);
const inOrder = (a: string, b: string) => order.indexOf(a) - order.indexOf(b);
