import { describe, expect, it } from 'vitest';
import type { MethodologyId } from '../documents/methodologies.ts';
import { readGpuCounters } from '../facts/telemetry/gpu-counters.ts';
import { type TelemetryReading, wattHours } from '../facts/telemetry/reading.ts';
import { assess, type CallFacts } from '../receipt/assess.ts';
import { whileChanged } from '../testdata/changes.ts';
import { call } from '../testdata/facts.ts';
import { sampleOf } from '../testdata/lineages.ts';
import { shapes } from '../testdata/telemetry.ts';
import { checkTexts, type Verification } from './checks.ts';
import { callOf, lineageOf } from './lineage.ts';
import { recompute, verify } from './recompute.ts';

const sample = sampleOf({ ...call, upstreamLatencyS: 9 }, 'ecologits-0.11.3');
if (sample === null) throw new Error('This call has no receipt.');
const { impact, lineage } = sample;
const identity = {
  id: 'rcpt_1',
  version: 1,
  created_at: call.requestedAt,
  model: 'sim-large',
  provider: 'simulator',
  region: 'us-east',
  pinned_region: null,
};
const head = {
  ...identity,
  object: 'gw.receipt',
  supersedes: null,
  request_id: null,
  status: 'complete',
  requested_tier: 'auto',
  usage_source: 'provider',
};
const placed: CallFacts = { ...call, site: { ...call.site, id: 'd1' } };
/** As the gateway would make and store them. */
function ofCall(facts = placed, methodology: MethodologyId = 'gw-2.0') {
  const traced = lineageOf(facts, methodology, callOf(head, facts));
  const own = assess(facts, methodology);
  if (!traced.ok || !own.ok) throw new Error('This call has no receipt.');
  const receipt = { ...head, ...own.impact, lineage_digest: traced.lineage.digest };
  return { lineage: traced.lineage, receipt };
}
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
    { pinned_region: 'eu-west' },
    { lineage_digest: `sha256:${'0'.repeat(64)}` },
    { requested_tier: 'proxy' },
  ])('of a receipt that is of another call fails in the call alone: %j', (other) => {
    const { lineage: own, receipt } = ofCall();
    expect(verify(own, receipt).ok).toBe(true);
    expect(failed(verify(own, { ...receipt, ...other }))).toEqual(['call']);
    // A lineage that was altered to be of that call has another digest, which the receipt does not state.
    const moved = lineageOf(placed, 'gw-2.0', { ...callOf(head, placed), ...other });
    if (moved.ok && !('requested_tier' in other)) {
      const { lineage_digest: _, ...rest } = other as { lineage_digest?: string };
      const checks = 'lineage_digest' in other ? [] : 'created_at' in other ? ['statements', 'call'] : ['call'];
      expect(failed(verify(moved.lineage, { ...receipt, ...rest }))).toEqual(checks);
    }
  });

  it.each(['gw-2.0', 'ecologits-0.11.3'] as const)(
    'of a receipt of %s without the digest fails, unless none had it',
    (id) => {
      const { lineage: own, receipt } = ofCall(placed, id);
      const { lineage_digest: digest, ...without } = receipt;
      const missing = id === 'gw-2.0' ? ['call'] : [];
      expect(failed(verify(own, receipt))).toEqual([]);
      expect(failed(verify(own, without))).toEqual(missing);
      expect(failed(verify(own, { ...receipt, lineage_digest: null }))).toEqual(['call']);
      // So another deployment, or evidence that was made up, cannot be put under its numbers.
      const pueEvidence = { kind: 'assumed', source: 'made up', period: null } as const;
      const site = { ...placed.site, id: 'd2', pueEvidence };
      const { lineage: forged } = ofCall({ ...placed, site }, id);
      expect(forged.digest).not.toBe(digest);
      expect(failed(verify(forged, without))).toEqual(missing);
    },
  );

  it('of a receipt whose words contradict the facts fails in them', () => {
    const estimated = { ...placed, usage: { ...call.usage, estimated: 'both' } } as CallFacts;
    const words = (facts: CallFacts, changes: object) => {
      const { lineage: own, receipt } = ofCall(facts);
      return failed(verify(own, { ...receipt, ...changes }));
    };
    expect(words(estimated, { usage_source: 'estimated' })).toEqual([]);
    expect(words(estimated, { usage_source: 'provider' })).toEqual(['call']);
    expect(words(placed, { usage_source: null })).toEqual(['call']);
    const cutShort = { ...placed, isCutShort: true } as const;
    expect(words(cutShort, { status: 'complete' })).toEqual(['call']);
    expect(words(cutShort, { status: 'upstream_error' })).toEqual([]);
    expect(words(placed, { status: 'client_aborted' })).toEqual([]);
    expect(words(placed, { status: 'pending' })).toEqual(['call']);
    expect(words(placed, { object: 'receipt' })).toEqual(['call']);
    expect(words(placed, { supersedes: 1 })).toEqual(['call']);
    expect(words(placed, { energy_failed_attempts_wh: 99 })).toEqual(['receipt']);
    expect(words(placed, { degraded_reason: 'usage_missing' })).toEqual(['receipt']);
    const late = lineageOf(placed, 'gw-2.0', callOf({ ...head, created_at: '2020-01-01T00:00:00.000Z' }, placed));
    expect(late.ok && failed(recompute(late.lineage))).toEqual(['statements']);
  });

  it('of a lineage whose figure is not what its source said fails, whichever source it is', () => {
    for (const [source, read] of Object.entries(shapes)) {
      const telemetry = read(0.25);
      if (telemetry === null || 'refused' in telemetry || !telemetry.stated) throw new Error(source);
      const reading = telemetry;
      const of = (changes: Partial<TelemetryReading>) =>
        recompute(ofCall({ ...placed, telemetry: { ...reading, ...changes } }).lineage);
      expect(failed(of({})), source).toEqual([]);
      const { stated } = telemetry;
      const more = { ...stated, value: stated.value * 1.1 };
      expect(failed(of({ stated: more, energyWh: wattHours(more, more.value) })), source).toEqual(['statements']);
      expect(failed(of({ raw: null })), source).toEqual(['statements']);
    }
    const seen = (series: string, unit: string, before: number, after: number) => ({
      series,
      unit,
      before: [1_700_000_000, before] as const,
      after: [1_700_000_015, after] as const,
    });
    const counted = readGpuCounters({
      before: { atS: 1_700_000_000, energyMj: { a: 5e6 } },
      after: { atS: 1_700_000_015, energyMj: { a: 5.9e6 } },
      callTokens: 500,
      allTokens: 2000,
      seen: [seen('a', 'J', 5000, 5900), seen('{pod="x"}', 'token', 100, 2100)],
    });
    const raw = JSON.parse(JSON.stringify(counted));
    expect(failed(recompute(ofCall({ ...placed, telemetry: raw }).lineage))).toEqual([]);
    raw.raw.seen[0].after[1] += 1;
    expect(failed(recompute(ofCall({ ...placed, telemetry: raw }).lineage))).toEqual(['statements']);
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
