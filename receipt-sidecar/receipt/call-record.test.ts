import { EntrySealer, standIn } from '@gw/contract/internal/sealed-entry';
import type { Snapshot, SnapshotDeployment, SnapshotModel } from '@gw/contract/internal/snapshot';
import { type DegradedReason, type Receipt, receiptSchema } from '@gw/contract/receipt';
import { assess, type CallFacts } from '@gw/methodology/assess';
import { callOf, lineageOf } from '@gw/methodology/lineage';
import { verify } from '@gw/methodology/recompute';
import type { TelemetryResult } from '@gw/methodology/telemetry/reading';
import { emptySnapshot, plainDeployment, plainModel } from '@gw/testing/catalogue';
import { entryIn, entryKeys } from '@gw/testing/ledger-entry';
import { caller, parsedForTests, steeringForTests } from '@gw/testing/receipt-sidecar/asked';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ReplyCounts } from '../api/openai/reply-counts.ts';
import { createFailedAttempts } from '../attempts/failed-attempts.ts';
import { type Catalogue, makeCatalogue } from '../catalogue/snapshot.ts';
import type { LedgerWriter } from '../ledger/writer.ts';
import { chooseRoute } from '../routing/route.ts';
import { newReceiptId } from '../wire/receipt-id.ts';
import { CallRecord } from './call-record.ts';
import { usageImpacts } from './usage-impacts.ts';
import type { CountedReceipt } from './usage-metrics.ts';

const at = '2026-11-21T09:10:00.000Z';
const reading: Snapshot['grid'][number] = {
  zone: 'USA',
  gPerKwh: 369,
  source: 'ember-2023',
  signal: 'annual',
  periodStart: '2023-01-01T00:00:00.000Z',
  periodEnd: '2024-01-01T00:00:00.000Z',
  observedAt: '2024-01-01T00:00:00.000Z',
  temporalMatch: 'annual_fallback',
  waterLPerKwh: 3,
};

interface Poison {
  readonly model?: Partial<SnapshotModel>;
  readonly grid?: Partial<Snapshot['grid'][number]>;
  readonly site?: Partial<SnapshotDeployment>;
  readonly pue?: number;
  readonly simulated?: true;
}

function catalogueOf({ model, grid, pue, simulated, site }: Poison = {}): Catalogue {
  return makeCatalogue({
    ...emptySnapshot,
    publishedAt: at,
    models: [{ ...plainModel, ...model }],
    regions: [{ code: 'us', name: 'us', country: 'us', gridZone: 'USA', status: 'active', preference: 0 }],
    deployments: [{ ...plainDeployment, ...(pue !== undefined && { pue }), ...(simulated && { simulated }), ...site }],
    grid: [{ ...reading, ...grid }],
  });
}

const request = parsedForTests();
const usage = { promptTokens: 12, cachedPromptTokens: 0, completionTokens: 34 };

function saying(chunk: object): ReplyCounts {
  const said = new ReplyCounts();
  said.take(chunk);
  return said;
}

const finishes = (record: CallRecord, completionTokens: number) =>
  record.finish({ status: 'complete', usage: { ...usage, completionTokens } }, 'answered');

interface Told {
  readonly takes?: boolean;
  readonly completionTokens?: number;
  readonly ends?: typeof finishes;
  /** The model that the call names, and the deployment that answers; null if unknown. */
  readonly asked?: string;
  readonly by?: string | null;
  /** Gets the entry of the call while it runs. */
  readonly began?: Buffer[];
  /** The project that is charged. */
  readonly project?: string;
  /** Whether its account has asked for `usage.impacts`. */
  readonly usageImpacts?: boolean;
}

/** One call to its end; `takes`: whether a store takes the receipt in time. */
async function callOn(catalogue: Catalogue, told: Told = {}) {
  const { asked = 'm', by = 'd', completionTokens = 34, ends = finishes, project = null, takes = true } = told;
  const { usageImpacts = false } = told;
  const routed = chooseRoute({ ...request, model: asked }, catalogue, null, steeringForTests(at));
  if (!routed.ok) throw new Error(routed.error.code);
  const finished: Buffer[] = [];
  const kept: Buffer[] = [];
  const ledger: LedgerWriter = {
    begin: (_, entry) => void told.began?.push(entry),
    discard: () => undefined,
    finish: async (_, entry) => finished.push(entry) > 0 && takes,
    keep: (_, entry) => void kept.push(entry),
    counts: () => ({
      kept: 0,
      lost: 0,
      full: false,
      unguarded: 0,
      length: 0,
      oldestAt: null,
      committedMs: 0,
      putAgain: 0,
    }),
    stop: async () => undefined,
  };
  const receiptId = newReceiptId(Date.parse(at));
  const identity = { receiptId, createdAt: at, requestId: null, request, route: routed.value, project, usageImpacts };
  const reasons: (DegradedReason | null)[] = [];
  const count = (reason: DegradedReason | null) => void reasons.push(reason);
  const metrics = { made: count, wentOn: () => undefined, register: () => undefined };
  const counts: CountedReceipt[] = [];
  const usageMetrics = { count: (_: string, receipt: CountedReceipt) => void counts.push(receipt) };
  const live = { ended: () => undefined, refused: () => undefined };
  const faults: string[] = [];
  const books = {
    ledger,
    sealer: new EntrySealer(entryKeys.current),
    live,
    metrics,
    usageMetrics,
    failedAttempts: createFailedAttempts(null),
    faults: { fault: (kind: string, error: unknown) => void faults.push(`${kind}: ${String(error)}`) },
  };
  const record = new CallRecord(identity, caller(), catalogue, books);
  const begin = record.begin();
  record.answeredBy(by, 1, { status: 200, fault: null }, null);
  const made = ends(record, completionTokens);
  const shown = receiptSchema.parse(JSON.parse((await made.saved).gw));
  expect(reasons).toEqual([shown.degraded_reason ?? null]);
  const entries = [...finished, ...kept].map((entry) => entryIn(entry));
  const { carbon_g, completion_tokens, energy_wh, prompt_tokens, region, water_ml } = shown;
  // The receipt counts once, as the client was shown it.
  expect(counts).toEqual([
    {
      model: shown.model,
      region,
      energy_wh,
      carbon_g,
      water_ml,
      promptTokens: prompt_tokens,
      completionTokens: completion_tokens,
      ...(shown.simulated && { simulated: true }),
    },
  ]);
  return { made, shown, entries, begin, faults };
}

describe('what a call is charged to', () => {
  it('is in its receipt, and in the lineage that the receipt states the digest of', async () => {
    const { entries, shown } = await callOn(catalogueOf(), { project: 'Ü 1' });
    const { facts, receipt } = entries[0] ?? {};
    expect([shown.project, receipt?.project]).toEqual(['Ü 1', 'Ü 1']);
    const stated = callOf(shown, { site: { id: 'd' } });
    const traced = lineageOf(facts as CallFacts, undefined, stated);
    if (!traced.ok) throw new Error(traced.explanation);
    expect(traced.lineage.digest).toBe(shown.lineage_digest);
    expect(verify(traced.lineage, shown)).toMatchObject({ ok: true });
    for (const project of [null, undefined, 'Ü 2'])
      expect(verify(traced.lineage, { ...shown, project })).toMatchObject({ ok: false });
  });

  it('is null where it is charged to nothing, and in no lineage', async () => {
    const { shown } = await callOn(catalogueOf());
    expect(shown.project).toBeNull();
    expect(callOf(shown, { site: { id: 'd' } })).not.toHaveProperty('project');
  });

  it('is in a degraded receipt too, and in those that stand in for one while nobody knows more', async () => {
    const { shown } = await callOn(catalogueOf(), { project: 'a', by: null });
    expect(shown).toMatchObject({ tier: 'degraded', project: 'a' });
    const lost = await callOn(catalogueOf(), { project: 'a', takes: false });
    expect(lost.shown).toMatchObject({ degraded_reason: 'receipt_not_stored', project: 'a' });
    const began: Buffer[] = [];
    const { begin } = await callOn(catalogueOf(), { project: 'a', began });
    const { assumed, degraded, sealed } = begin;
    const { receipt } = entryIn(began[0] ?? Buffer.alloc(0));
    expect(receipt).toMatchObject({ tier: 'degraded', status: 'complete', project: 'a' });
    // The client and the ledger get the same, whoever finishes the call.
    expect(degraded).toBe(JSON.stringify(receipt));
    for (const state of ['left', 'shown'] as const) {
      const entry = standIn(sealed, { receipt: degraded, assumed }, state);
      expect(entryIn(entry)).toMatchObject({ state, receipt, accountId: caller().accountId });
    }
  });
});

describe('the impacts beside the receipt', () => {
  it('are those of the receipt, for accounts that have asked for them', async () => {
    const { made, shown } = await callOn(catalogueOf(), { usageImpacts: true });
    expect(made.usageImpacts).toBe(JSON.stringify(usageImpacts(shown)));
    expect(JSON.parse(made.usageImpacts ?? '')).toMatchObject({ kWh: expect.any(Number), energy: { unit: 'kWh' } });
    expect((await callOn(catalogueOf())).made).not.toHaveProperty('usageImpacts');
  });

  it('go with the numbers of a receipt', async () => {
    const degraded = await callOn(catalogueOf(), { usageImpacts: true, by: null });
    expect(degraded.made.usageImpacts).toBeNull();
    const lost = await callOn(catalogueOf(), { usageImpacts: true, takes: false });
    expect([lost.made.usageImpacts, (await lost.made.saved).usageImpacts]).toEqual([expect.any(String), null]);
  });
});

it('a degraded receipt states what is known of the grid', async () => {
  const unknown = { activeParametersB: null, totalParametersB: null };
  const { shown } = await callOn(catalogueOf({ model: unknown }));
  expect(shown).toMatchObject({
    degraded_reason: 'model_parameters_unknown',
    carbon_g: null,
    grid_intensity_g_per_kwh: 369,
    grid_intensity_source: 'ember-2023',
    grid_intensity_observed_at: '2024-01-01T00:00:00.000Z',
    grid_intensity_requested_at: at,
    grid_intensity_age_minutes: expect.any(Number),
    grid_temporal_match: 'annual_fallback',
    // No attempt failed before.
    energy_failed_attempts_wh: 0,
    energy_failed_attempts_high_wh: 0,
  });
  const lost = await callOn(catalogueOf(), { takes: false });
  expect(lost.shown).toMatchObject({ degraded_reason: 'receipt_not_stored', grid_intensity_source: 'ember-2023' });
  const marginal = await callOn(catalogueOf({ grid: { signal: 'marginal' } }));
  expect(marginal.shown).toMatchObject({ grid_intensity_source: null, grid_temporal_match: 'none' });
});

const withoutNumbers = { tier: 'degraded', degraded_reason: 'calculator_fault', energy_wh: null, prompt_tokens: 12 };

describe('the facts of a call say who vouches for what', () => {
  const evidence = { kind: 'reported', source: 'the report of 2025', period: '2025-01-01/2026-01-01' } as const;
  const entryOf = (catalogueVersion: number) => ({ catalogueVersion, changedAt: at, changedBy: 'operator Ada (op_a)' });
  const model = { entry: entryOf(4), parametersSource: 'its card' };
  const site = { entry: entryOf(5), regionEntry: entryOf(3), pueEvidence: evidence, wueEvidence: null };
  const grid = { replySha256: 'a'.repeat(64), fetchedAt: at };
  const callFacts = {
    requestedTier: 'auto',
    boundary: 'comprehensive',
    requestedAt: at,
    usage,
    upstreamLatencyS: 1,
  } as const;
  const factsOf = async (catalogue: Catalogue, told?: Told) => {
    const { entries } = await callOn(catalogue, told);
    const { facts } = JSON.parse(JSON.stringify(entries[0])) as { facts: Record<'model' | 'site' | 'grid', object> };
    return { model: facts.model, site: facts.site, grid: facts.grid };
  };

  it('as the catalogue of the call has it', async () => {
    const facts = await factsOf(catalogueOf({ model, site, grid }));
    expect(facts).toMatchObject({ model, site, grid });
  });

  it('in the same words for each call until the catalogue changes, and no number follows from who entered it', async () => {
    const catalogue = catalogueOf({ model, site, grid });
    const later = await factsOf(catalogue, { completionTokens: 99 });
    expect(later).toEqual(await factsOf(catalogue));
    // Whether sizes are guessed, and the PUE assumed, is another matter: the bounds follow from that.
    const untold = {
      model: { ...plainModel, parametersSource: model.parametersSource },
      grid: reading,
      site: { ...plainDeployment, pueEvidence: evidence },
    };
    const call = { ...callFacts, ...(await factsOf(catalogue)) } as CallFacts;
    expect(assess(call)).toEqual(assess({ ...call, ...untold }));
  });

  it('and nothing where the catalogue does not say it', async () => {
    const facts = await factsOf(catalogueOf());
    for (const word of ['entry', 'Entry', 'Sha256']) expect(JSON.stringify(facts)).not.toContain(word);
    expect(facts).toMatchObject({
      model: { parametersSource: null },
      site: { pueEvidence: null, wueEvidence: null },
      grid: expect.not.objectContaining({ waterSource: expect.anything() }),
    });
  });
});

describe('a receipt that cannot be made is degraded, and the call goes on', () => {
  it.each<[string, Poison]>([
    ['parameters beyond what a number can hold', { model: { totalParametersB: { min: 1e308, max: 1e308 } } }],
    ['a rate so small that the time is infinite', { model: { tokensPerS: Number.MIN_VALUE } }],
    ['a time to the first token beyond what a number can hold', { model: { ttftS: Number.MAX_VALUE } }],
    ['an overhead beyond what a number can hold', { pue: Number.MAX_VALUE }],
    ['a grid reading without a readable time', { grid: { observedAt: 'yesterday' } }],
  ])('%s', async (_, poison) => {
    const { shown, entries } = await callOn(catalogueOf(poison));
    if (shown.tier !== 'degraded') return expectFinite(shown);
    expect(shown).toMatchObject({ ...withoutNumbers, recalculable: true, region: 'us', provider: 'p' });
    expect(entries).toEqual([expect.objectContaining({ receipt: shown, facts: expect.objectContaining({ usage }) })]);
  });

  it('a part that throws: no facts to make it from again, no trace, and its stack goes to the log', async () => {
    const catalogue = catalogueOf();
    const broken: Catalogue = {
      ...catalogue,
      candidate: (id) => {
        const found = catalogue.candidate(id);
        const gridAt = () => {
          throw new Error('The grid is broken.');
        };
        return found && { ...found, gridAt };
      },
    };
    const { made, shown, entries, faults } = await callOn(broken);
    const error = 'Error: The grid is broken.';
    expect(faults).toEqual([`receipt: ${error}`, `routing_trace: ${error}`]);
    expect(shown).toMatchObject({ ...withoutNumbers, recalculable: false, region: 'us', provider: 'p' });
    expect(made.routingTrace).toBe('');
    expect(entries).toMatchObject([
      { facts: null, routingTrace: null, receipt: { degraded_reason: 'calculator_fault' } },
    ]);
  });

  it('whatever the catalogue may hold: a receipt of finite numbers, or a degraded one', async () => {
    const positive = fc.double({ min: Number.MIN_VALUE, noNaN: true, noDefaultInfinity: true });
    const range = fc.tuple(positive, positive).map(([a, b]) => ({ min: Math.min(a, b), max: Math.max(a, b) }));
    const model = fc.record({
      activeParametersB: fc.option(range),
      totalParametersB: fc.option(range),
      quantizationBits: fc.option(positive),
      tokensPerS: fc.option(positive),
      ttftS: fc.option(positive),
    });
    const poison = fc.record({ model, grid: fc.record({ gPerKwh: positive }), pue: positive.map((x) => 1 + x) });
    await fc.assert(
      fc.asyncProperty(poison, fc.maxSafeNat(), async (given, completionTokens) => {
        const { shown } = await callOn(catalogueOf(given), { completionTokens });
        if (shown.tier !== 'degraded') expectFinite(shown);
        else expect(shown).toMatchObject({ energy_wh: null, carbon_g: null, recalculable: true });
      }),
    );
  });
});

function expectFinite({ energy_wh, carbon_g }: Receipt): void {
  expect(Number.isFinite(energy_wh)).toBe(true);
  expect(Number.isFinite(carbon_g)).toBe(true);
}

describe('a call that a simulator answered', () => {
  it.each<[string, Poison, Told]>([
    ['with numbers', {}, {}],
    ['without', { pue: Number.MAX_VALUE }, {}],
    ['not stored in time', {}, { takes: false }],
  ])('says so in its receipt and its facts: %s', async (_, poison, told) => {
    const { entries, shown } = await callOn(catalogueOf({ ...poison, simulated: true }), told);
    expect(shown.simulated).toBe(true);
    expect(entries.length).toBeGreaterThan(0);
    for (const entry of entries)
      expect(entry).toMatchObject({ receipt: { simulated: true }, facts: { simulated: true } });
  });

  it('is told from any other, which says nothing', async () => {
    const { entries, shown } = await callOn(catalogueOf());
    expect(shown).not.toHaveProperty('simulated');
    expect(entries[0]?.facts).not.toHaveProperty('simulated');
  });
});

describe('a receipt that no store took in time', () => {
  it('is shown without its numbers, and that one is kept for the ledger with the facts to make it from', async () => {
    const { made, shown, entries } = await callOn(catalogueOf(), { takes: false });
    const full = JSON.parse(made.gw);
    expect(full.tier).toBe('parametric');
    expect(shown).toMatchObject({ degraded_reason: 'receipt_not_stored', recalculable: true, energy_wh: null });
    expect(shown).toMatchObject({ id: full.id, created_at: full.created_at, prompt_tokens: 12, completion_tokens: 34 });
    expect(entries[1]).toMatchObject({ receipt: shown, shown: true, facts: { usage } });
    expect(entries).toHaveLength(2);
  });
});

describe('a stream that ends badly before its first word', () => {
  const refusal: TelemetryResult = { source: 'neuralwatt', refused: 'negative', raw: -1 };
  const early = { choices: [], usage: { prompt_tokens: 7, completion_tokens: 0 } };

  it.each<[string, typeof finishes]>([
    [
      'client_aborted',
      (record) => record.breakOff('client', { said: new ReplyCounts(), telemetry: null, isWritten: false }),
    ],
    [
      'upstream_error',
      (record) => record.breakOff('provider', { said: new ReplyCounts(), telemetry: refusal, isWritten: false }),
    ],
    [
      'upstream_error',
      (record) => record.breakOff('provider', { said: saying(early), telemetry: null, isWritten: false }),
    ],
    ['upstream_error', (record) => record.complete(saying(early), null, true)],
  ])('has no counts, which are not 0: %s', async (status, ends) => {
    const { shown } = await callOn(catalogueOf(), { ends });
    expect(shown).toMatchObject({ status, degraded_reason: `${status}_unmeasured`, energy_wh: null });
    expect(shown).toMatchObject({ usage_source: null, prompt_tokens: null, completion_tokens: null });
  });
});

describe('a stream that breaks off', () => {
  const text = saying({ choices: [{ delta: { content: 'some words' } }] });
  const broken =
    (isWritten: boolean): typeof finishes =>
    (record) =>
      record.breakOff('client', { said: text, telemetry: null, isWritten });

  it.each<[string, boolean, typeof finishes]>([
    ['left in its middle', true, broken(false)],
    ['left behind the last word', false, broken(true)],
    ['failed in its middle', true, (record) => record.complete(text, null, true)],
    ['whole', false, (record) => record.complete(text, null)],
  ])('says whether more may have been generated: %s', async (_, mayBeMore, ends) => {
    const { entries, shown } = await callOn(catalogueOf(), { ends });
    expect(shown.tier).toBe('parametric');
    expect(shown.boundary_excludes.includes('undelivered_output')).toBe(mayBeMore);
    expect(entries.at(-1)?.facts).toEqual(
      mayBeMore ? expect.objectContaining({ isCutShort: true }) : expect.not.objectContaining({ isCutShort: true }),
    );
  });
});

describe('the receipt of a call that named an alias', () => {
  const small = { min: 1, max: 1 };
  const models = [
    { ...plainModel, contextWindow: 100 },
    { ...plainModel, id: 'small', contextWindow: 128_000, totalParametersB: small, activeParametersB: small },
  ];
  const catalogue = makeCatalogue({
    ...emptySnapshot,
    publishedAt: at,
    models,
    grid: [reading],
    regions: [{ code: 'us', name: 'us', country: 'us', gridZone: 'USA', status: 'active', preference: 0 }],
    deployments: [plainDeployment, { ...plainDeployment, id: 'e', models: { small: 's' } }],
    aliases: [{ id: 'best', created: 0, targets: [{ model: 'm' }, { model: 'small' }] }],
  });
  // Long enough that the energy is that of the tokens.
  let now = 0;
  beforeEach(() => {
    vi.spyOn(performance, 'now').mockImplementation(() => {
      now += 100_000;
      return now;
    });
  });
  afterEach(() => vi.restoreAllMocks());
  const numbersOf = async (told: Told) => {
    const { entries, made, shown } = await callOn(catalogue, told);
    const { energy_wh, model, status } = shown;
    const [{ facts, routingTrace } = { facts: null, routingTrace: null }] = entries;
    expect(made.routingTrace).toBe(JSON.stringify(routingTrace));
    return { energy_wh, model, status, facts: (facts as { model?: { id: string } } | null)?.model?.id };
  };

  it('is that of the model that answered, with its energy', async () => {
    const [first, second] = [await numbersOf({ asked: 'best' }), await numbersOf({ asked: 'best', by: 'e' })];
    expect(first).toEqual(await numbersOf({ asked: 'm' }));
    expect(second).toEqual(await numbersOf({ asked: 'small', by: 'e' }));
    expect(second).toMatchObject({ model: 'small', facts: 'small' });
    expect(Number(second.energy_wh)).toBeLessThan(Number(first.energy_wh));
  });

  it('has counts within the context window of the model that answered, and its name there', async () => {
    const names: string[] = [];
    const ends = (record: CallRecord) => {
      names.push(record.providerNames.model);
      return record.complete(saying({ choices: [], usage: { prompt_tokens: 200, completion_tokens: 3 } }), null);
    };
    const readings = ['d', 'e'].map((by) => callOn(catalogue, { asked: 'best', by, ends }));
    const [first, second] = await Promise.all(readings);
    expect(first?.shown).toMatchObject({ degraded_reason: 'usage_implausible' });
    expect(second?.shown).toMatchObject({ prompt_tokens: 200, model: 'small' });
    expect(names).toEqual(['m', 's']);
  });

  it('names the model that was asked first where nobody knows who answered', async () => {
    expect(await numbersOf({ asked: 'best', by: null })).toMatchObject({ model: 'm', energy_wh: null });
  });

  it('has bounds that hold for each model where nobody knows who answered', async () => {
    const usage = { prompt_tokens: 200, completion_tokens: 3 };
    const ends = (record: CallRecord) =>
      record.breakOff('provider', { said: saying({ choices: [], usage }), telemetry: null, isWritten: false });
    const { made, shown } = await callOn(catalogue, { asked: 'best', by: null, ends });
    expect(shown.degraded_reason).not.toBe('usage_implausible');
    expect(made.counts).toMatchObject({ promptTokens: 200, completionMost: 128_000 });
    const first = await callOn(catalogue, { asked: 'm', by: null, ends });
    expect(first.shown.degraded_reason).toBe('usage_implausible');
  });

  it('is that of the model that answered also where the call broke off', async () => {
    const ends = (record: CallRecord) => record.breakOff('provider', null);
    expect(await numbersOf({ asked: 'best', by: 'e', ends })).toMatchObject({
      model: 'small',
      status: 'upstream_error',
    });
  });
});
