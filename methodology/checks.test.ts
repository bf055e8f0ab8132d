import { describe, expect, it } from 'vitest';
import { assess } from './assess.ts';
import { checkTexts, type Verification } from './checks.ts';
import { callOf, lineageOf } from './lineage.ts';
import { recompute, verify } from './recompute.ts';
import { whileChanged } from './testdata/changes.ts';
import { call } from './testdata/facts.ts';
import { sampleOf } from './testdata/lineages.ts';

const sample = sampleOf({ ...call, upstreamLatencyS: 9 }, 'gw-1.3');
if (sample === null) throw new Error('This call has no receipt.');
const { impact, lineage } = sample;
const identity = {
  id: 'rcpt_1',
  version: 1,
  created_at: call.requestedAt,
  model: 'sim-large',
  provider: 'simulator',
  region: 'us-east',
};
const failed = ({ checks }: Verification) => checks.filter(({ ok }) => !ok).map(({ id }) => id);

describe('a verification', () => {
  it('makes every check there is, and says of each that it holds', () => {
    const checks = Object.keys(checkTexts).map((id) => ({ id, ok: true, mismatches: [] }));
    expect(verify(lineage, { ...impact })).toEqual({ ok: true, checks, impact });
  });

  it('of a lineage alone makes all but those of the receipt', () => {
    expect(recompute(lineage).checks.map(({ id }) => id)).toEqual(
      Object.keys(checkTexts).filter((id) => id !== 'receipt' && id !== 'call'),
    );
  });

  it.each([
    ['object', ['form']],
    ['methodology', ['form']],
    ['methodology_version', ['methodology']],
    ['methodology_hash', ['methodology']],
    ['digest', ['digest']],
    ['steps.0.output.value', ['steps']],
    ['steps.0.formula', ['steps']],
    ['calculation.tier', ['statements']],
    ['boundary_excludes.0', ['statements']],
    ['prompt_tokens', ['statements']],
    ['grid.water_source', ['statements']],
    ['tier_reason', ['statements']],
    ['facts.upstreamLatencyS', ['digest', 'steps']],
  ])('of a lineage whose %s was altered fails in %j alone', (path, checks) => {
    expect(failed(whileChanged(lineage, path.split('.'), recompute))).toEqual(checks);
  });

  it('of a receipt that was altered fails in the receipt alone, and names the field', () => {
    const verification = verify(lineage, { ...impact, water_ml: 1 });
    expect(failed(verification)).toEqual(['receipt']);
    const told = verification.checks.flatMap(({ mismatches }) => mismatches);
    expect(told).toEqual([expect.stringMatching(/^receipt\.water_ml: 1 is stated, .* follows$/)]);
    expect(verification).toMatchObject({ ok: false, mismatches: told });
  });

  it.each([
    { id: 'rcpt_2' },
    { version: 2 },
    { created_at: '2020-01-01T00:00:00.000Z' },
    { model: 'gpt-5' },
    { provider: 'openai' },
    { region: 'eu-west' },
    { project: 'another' },
    { lineage_digest: `sha256:${'0'.repeat(64)}` },
    { requested_tier: 'proxy' },
  ])('of a receipt that is of another call fails in the call alone: %j', (other) => {
    const stated = callOf({ ...identity }, { site: { ...call.site, id: 'd1' } });
    const traced = lineageOf(call, 'gw-1.4', stated);
    const own = assess(call);
    if (!traced.ok || !own.ok) throw new Error('This call has no receipt.');
    const receipt = { ...identity, requested_tier: 'auto', ...own.impact, lineage_digest: traced.lineage.digest };
    expect(verify(traced.lineage, receipt).ok).toBe(true);
    expect(failed(verify(traced.lineage, { ...receipt, ...other }))).toEqual(['call']);
    // A lineage that was altered to be of that call has another digest, which the receipt does not state.
    const moved = lineageOf(call, 'gw-1.4', { ...stated, ...other });
    if (moved.ok && !('requested_tier' in other)) {
      const { lineage_digest: _, ...rest } = other as { lineage_digest?: string };
      expect(failed(verify(moved.lineage, { ...receipt, ...rest }))).toEqual('lineage_digest' in other ? [] : ['call']);
    }
  });

  it('of a lineage that is of no call fails in the call, if the receipt is of one', () => {
    expect(failed(verify(lineage, { ...impact, ...identity }))).toEqual(['call']);
  });

  it('tells of every check that fails, not of the first alone', () => {
    const altered = { ...lineage, methodology_hash: 'sha256:0', digest: 'sha256:0', boundary_excludes: [] };
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
