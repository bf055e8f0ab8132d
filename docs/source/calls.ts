/**
 * The calls that the documentation speaks of, and the receipts that the product makes of them.
 *
 * Invariant: everything that varies in a running gateway (ids, times, how long a provider took) is fixed here; all else
 * comes from the code that serves clients. The models and data centres are those of the simulated provider.
 */
import { err } from '@gw/contract/internal/result';
import type { SnapshotDeployment, SnapshotGridReading, SnapshotModel } from '@gw/contract/internal/snapshot';
import { type Receipt, receiptSchema } from '@gw/contract/receipt';
import type { RoutingTrace } from '@gw/contract/routing-trace';
import type { ZoneSource } from '@gw/control-plane/internals/ledger/grid/config';
import { receiptLineage } from '@gw/control-plane/internals/ledger/receipts/lineage';
import { restated } from '@gw/control-plane/internals/ledger/receipts/restate';
import type { SettledReading } from '@gw/control-plane/internals/ledger/receipts/settled-grid';
import { nextVersion } from '@gw/control-plane/internals/ledger/receipts/supersede';
import { saltedDigest } from '@gw/evidence/answer-digest';
import type { CallFacts, GridReading } from '@gw/methodology/assess';
import { annualReading } from '@gw/methodology/grid-annual';
import type { Lineage } from '@gw/methodology/lineage';
import { simulatorDeployments, simulatorModels, simulatorRegions } from '@gw/prisma/internals/demo-catalogue';
import type { Candidate } from '@gw/receipt-sidecar/internals/catalogue/snapshot';
import { type CallIdentity, type CallOutcome, makeReceipt } from '@gw/receipt-sidecar/internals/receipt/receipt';
import type { Route } from '@gw/receipt-sidecar/internals/routing/route';
import { routingTrace } from '@gw/receipt-sidecar/internals/routing/routing-trace';
import { openLog } from '@gw/service/log';
import { parsedForTests } from '@gw/testing/receipt-sidecar/asked';

/** A fault of the calculation stops whoever measures or documents it. */
/** All examples have the same. */
export const salt = '0123456789abcdef'.repeat(2);
const onFault = (error: unknown): never => {
  throw error;
};

export const callTime = '2026-11-21T09:30:00.000Z';
const restatementTime = '2026-11-21T12:00:00.000Z';

/** The details of one call; everything else is as in a plain call of `sim-large` in `us-east`. */
export interface Call {
  readonly model?: string;
  readonly region?: string;
  readonly tier?: CallFacts['requestedTier'];
  readonly boundary?: CallFacts['boundary'];
  readonly usage?: CallOutcome['usage'];
  readonly grid?: GridReading;
  /** Changes of the model's entry in the catalogue. */
  readonly entry?: Partial<SnapshotModel>;
  readonly telemetry?: CallFacts['telemetry'];
  /** Seconds that the provider took. */
  readonly latencyS?: number;
  readonly status?: CallOutcome['status'];
  readonly isCutShort?: true;
  /** Whether the provider is a simulator, as it is unless this says otherwise. */
  readonly simulated?: false;
  /** Overrides of the demo catalogue's deployment. */
  readonly site?: Partial<SnapshotDeployment>;
  /** The project that is charged; none by default. */
  readonly project?: string;
}

export interface MadeCall {
  readonly receipt: Receipt;
  /** The facts that are stored with it, as JSON. */
  readonly facts: string;
  readonly lineage: Lineage | null;
  /** The reply of `GET /v1/gw/lineage/{id}`. */
  readonly lineageReply: ReturnType<typeof receiptLineage>;
  readonly trace: RoutingTrace;
}

type Place = Pick<Call, 'grid' | 'simulated' | 'site'>;

const must = <T>(value: T | null | undefined, what: string): T => {
  if (value === null || value === undefined) throw new Error(`The demo catalogue has no ${what}.`);
  return value;
};

function modelOf(id: string): SnapshotModel {
  const row = must(
    simulatorModels.find((each) => each.id === id),
    id,
  );
  const range = (min: number | null | undefined, max: number | null | undefined) => ({
    min: must(min, 'parameter count'),
    max: must(max, 'parameter count'),
  });
  return {
    id,
    created: 1_735_689_600,
    ownedBy: row.ownedBy,
    kind: row.kind,
    contextWindow: row.contextWindow ?? null,
    modalities: ['text'],
    takesTemperature: row.takesTemperature ?? true,
    tokenizer: null,
    activeParametersB: range(row.activeParametersMinB, row.activeParametersMaxB),
    totalParametersB: range(row.totalParametersMinB, row.totalParametersMaxB),
    parametersSource: null,
    modelClass: (row.modelClass ?? null) as SnapshotModel['modelClass'],
    quantizationBits: null,
    tokensPerS: null,
    ttftS: null,
    hiddenReasoning: null,
    readsByItself: null,
  };
}

function candidateOf(code: string, { grid, simulated, site: stated }: Place): Candidate {
  const region = must(
    simulatorRegions.find((each) => each.code === code),
    code,
  );
  const site = must(
    simulatorDeployments.find((each) => each.regionCode === code),
    `deployment in ${code}`,
  );
  const { name, country, gridZone, preference } = region;
  const deployment = {
    id: site.id,
    provider: site.providerId,
    region: code,
    models: site.models as Record<string, string>,
    pue: site.pue,
    wueOnsiteLPerKwh: site.wueOnsiteLPerKwh ?? null,
    telemetry: null,
  };
  return {
    // A field that the catalogue has gained, and that the demo leaves empty, is null.
    deployment: { accelerators: null, simulated: simulated ?? true, ...deployment, ...stated } as SnapshotDeployment,
    region: { code, name, country, gridZone, status: 'active', preference: preference ?? 0 },
    gridAt: () => (grid ?? must(annualReading(gridZone), gridZone)) as SnapshotGridReading,
    priceAt: () => null,
    signals: [],
  };
}

/** The region that is asked for, else all that serve the model, in the order of preference. */
function routeOf(model: string, region: string | undefined, place: Place): Route['failoverChain'] {
  const codes = region === undefined ? simulatorRegions.map(({ code }) => code) : [region];
  const all = codes.map((code) => candidateOf(code, place)).filter(({ deployment }) => model in deployment.models);
  const [first, ...others] = all;
  return [must(first, `deployment of ${model}`), ...others];
}

/** UUIDv7 of `callTime`; the rest of the id is the number. */
function receiptId(number: number): string {
  const hex = Date.parse(callTime).toString(16).padStart(12, '0');
  return `rcpt_${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-${String(number).padStart(12, '0')}`;
}

function withLineage(json: string, facts: string, trace: RoutingTrace): MadeCall {
  const lineageReply = receiptLineage({ json, facts: JSON.parse(facts) });
  return { receipt: inOrder(json), facts, lineage: lineageReply.lineage, lineageReply, trace };
}

/** The next version of the call's receipt, once its source has settled the value of the hour. */
export function restatedCall({ receipt, facts, trace }: MadeCall, settled: SettledReading): MadeCall {
  const { place, source, zone } = settled;
  const sources = [{ source: source as ZoneSource['source'], zone, place }];
  const now = () => new Date(restatementTime);
  const version = restated({ receipt, facts: JSON.parse(facts) }, [settled], {
    sources,
    restatesEarlier: false,
    now,
    log: openLog('documentation', 'silent'),
  });
  if (version === null) throw new Error('There is nothing to restate.');
  return withLineage(JSON.stringify(nextVersion(version)), JSON.stringify(version.facts), trace);
}

/** Parsing by the schema would put the fields into another order than the one in which they are served. */
function inOrder(json: string): Receipt {
  const receipt: Receipt = JSON.parse(json);
  receiptSchema.parse(receipt);
  return receipt;
}

function requestOf(number: number, { boundary = 'comprehensive', model, region, tier = 'auto' }: Call) {
  return parsedForTests({
    ...(model !== undefined && { model }),
    options: { tier, boundary, ...(region !== undefined && { region }) },
    promptBytes: 1000,
    binding: { salt, requestDigest: saltedDigest(salt, `request ${number}`) },
  });
}

/** `number` names the call: two calls of the documentation never share it. */
export function madeCall(number: number, call: Call): MadeCall {
  const { model = 'sim-large', region } = call;
  const [candidate, ...others] = routeOf(model, region, call);
  const entry = { ...modelOf(model), ...call.entry };
  const identity: CallIdentity = {
    receiptId: receiptId(number),
    createdAt: callTime,
    project: call.project ?? null,
    requestId: `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`,
    request: requestOf(number, { ...call, model }),
    route: {
      model: entry,
      modelOf: () => entry,
      alias: null,
      passed: [],
      pinned: region !== undefined,
      comparison: region === undefined ? err('no_live_grid_signal') : null,
      estimated: { promptTokens: 0, completionTokens: 0 },
      failoverChain: [candidate, ...others],
      offered: routeOf(model, undefined, call),
      bound: null,
      peers: [candidate],
      shared: null,
      outside: () => null,
      barredBy: ({ region: { code } }) => (region === undefined || code === region ? null : 'other_region_pinned'),
    },
  };
  const usage = call.usage === undefined ? usualUsage : call.usage;
  const outcome = {
    status: call.status ?? 'complete',
    servedBy: candidate,
    ...(call.isCutShort && { isCutShort: call.isCutShort }),
    usage,
    upstreamLatencyS: call.latencyS ?? 14.2,
    telemetry: call.telemetry ?? null,
    answerDigest: call.status === undefined ? saltedDigest(salt, `answer ${number}`) : null,
  } as const satisfies CallOutcome & Pick<CallFacts, 'telemetry'>;
  const made = makeReceipt(identity, outcome, onFault);
  return withLineage(
    made.receipt,
    made.facts ?? 'null',
    routingTrace(identity.route, {
      by: candidate,
      attempts: 1,
      status: 200,
      fault: null,
      failures: [],
      requestedAt: callTime,
      footprintAt: () => null,
      cachedTokens: null,
      uncachedFootprint: () => null,
    }),
  );
}

const usualUsage = { promptTokens: 1200, cachedPromptTokens: 200, completionTokens: 400 };
