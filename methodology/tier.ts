/**
 * Which tier a call gets, and why, in words for the receipt.
 *
 * Invariant: an explicit tier is served as asked or refused, never replaced by another.
 */
import { countsText } from './counts.ts';
import { comparison, serving, uncountedCalls } from './factors.ts';
import type { Boundary, CallFacts, ModelClass, ModelFacts, RequestedTier, SiteFacts, TokenUsage } from './facts.ts';
import type { Methodology } from './methodologies.ts';
import { hasParameters } from './parametric.ts';
import type { TelemetryReading, TelemetrySource } from './telemetry/reading.ts';
import { type Expected, isDoubtful, isGuessed, isOtherHardware, wasOtherHardware } from './uncertainty.ts';

export type ModelledTier = 'proxy' | 'parametric';

const fittedUpToB = 200;

/** The tiers that a model can get without measured energy, worst first. For measured energy: servesTelemetry. */
export function availableTiers(model: ModelFacts): readonly ModelledTier[] {
  const tiers: ModelledTier[] = [];
  if (model.modelClass !== null) tiers.push('proxy');
  if (hasParameters(model)) tiers.push('parametric');
  return tiers;
}

export type TierChoice =
  | { readonly tier: 'parametric' }
  | { readonly tier: 'proxy'; readonly modelClass: ModelClass }
  | { readonly tier: null; readonly reason: 'tier_unavailable' | 'model_parameters_unknown' | 'no_embedding_factor' };

export function chooseTier(requested: RequestedTier, model: ModelFacts): TierChoice {
  if (requested === 'telemetry') return { tier: null, reason: 'tier_unavailable' };
  if (requested !== 'proxy' && hasParameters(model)) return { tier: 'parametric' };
  if (requested !== 'parametric' && model.modelClass !== null) return { tier: 'proxy', modelClass: model.modelClass };
  if (availableTiers(model).length > 0) return { tier: null, reason: 'tier_unavailable' };
  return { tier: null, reason: model.kind === 'embedding' ? 'no_embedding_factor' : 'model_parameters_unknown' };
}

/** What each source measures. An estimate measures nothing. */
const telemetryScopes: Readonly<Record<Exclude<TelemetrySource, 'ecologits_impacts'>, TelemetryReading['scope']>> = {
  neuralwatt: 'total',
  greenpt: 'total',
  melious: 'total',
  energy_header: 'total',
  gpu_counters: 'accelerator',
};

/** Whether a deployment whose replies carry this shape can serve the telemetry tier in the boundary. */
export function servesTelemetry(source: string | null, boundary: Boundary): boolean {
  if (source === null || !Object.hasOwn(telemetryScopes, source)) return false;
  return boundary === 'comprehensive' || telemetryScopes[source as keyof typeof telemetryScopes] === 'accelerator';
}

export interface ReasonFacts {
  readonly requested: RequestedTier;
  readonly model: ModelFacts;
  readonly site: SiteFacts;
  /** Whether the upstream time is known, which caps the generation time. */
  readonly capped: boolean;
  /** Why measured energy was not taken; null if there was none. */
  readonly unmeasured: string | null;
  /** Whether counters that cover the call are still to be read. */
  readonly follows: boolean;
  /** What there is to say of the token counts (counts.ts). */
  readonly counts: string;
  readonly methodology: NamingRules;
}

/** The reason, and the assumptions that a reader has to know to judge the figures. */
export function tierReason(tier: ModelledTier, facts: ReasonFacts): string {
  const { capped, counts, follows, methodology, model, requested, site, unmeasured } = facts;
  const none = follows ? 'no measured energy yet (a later version may have it)' : 'no measured energy';
  const measured = unmeasured === null ? none : `measured energy not used: ${unmeasured}`;
  const other = otherHardware(site, methodology);
  const unlike = other === null ? '' : `, while the deployment states ${other}`;
  if (tier === 'proxy') {
    const why = requested === 'auto' ? `auto: ${measured} and no parameter counts for this model` : 'as requested';
    return `${why}; factors of the size class ${model.modelClass}; assumes H100 accelerators and 16-bit weights${unlike}${counts}`;
  }
  const why =
    requested === 'auto' ? `auto: ${measured}, parameter counts ${countsKnown(model, methodology)}` : 'as requested';
  if (model.kind === 'embedding') return `${why}; assumes H100 accelerators${unlike}${counts}`;
  const time = model.tokensPerS === null ? 'fitted to the model size' : 'from measured tokens per second';
  const cap = capped ? ', at most the upstream time' : '';
  const bits = model.quantizationBits ?? serving.weightBits;
  const beyond = (model.totalParametersB?.max ?? 0) > fittedUpToB ? '; extrapolated beyond 200 billion parameters' : '';
  return `${why}; generation time ${time}${cap}; assumes H100 accelerators and ${bits}-bit weights${unlike}${beyond}${counts}`;
}

const countsKnown = (model: ModelFacts, { combinesBounds }: NamingRules): string =>
  combinesBounds && isGuessed(model) ? 'guessed from its name' : 'known';

/** For the end of a `tier_reason`; empty where the reply came to its end. */
export const cutShortText = ({ isCutShort }: Pick<CallFacts, 'isCutShort'>): string =>
  isCutShort
    ? '; the reply broke off: what was generated without being delivered is not counted, so all amounts are lower bounds, and the upper bounds are those of what was delivered'
    : '';

/** What the deployment states, if it is not what the models assume. */
function otherHardware({ accelerators }: SiteFacts, { combinesBounds }: NamingRules): string | null {
  const isOther = combinesBounds ? isOtherHardware : wasOtherHardware;
  return accelerators && isOther(accelerators) ? `${accelerators.count} × ${accelerators.model}` : null;
}

type NamingRules = Pick<Methodology, 'combinesBounds'>;

interface MeasuredFacts {
  readonly boundary: Boundary;
  readonly site: SiteFacts;
  readonly methodology: Pick<
    Methodology,
    'boundsUncounted' | 'ceilingClass' | 'combinesBounds' | 'floorClasses' | 'statesModelled' | 'widensEstimates'
  >;
  readonly simulated: boolean;
  /** Null where nobody counted the tokens. */
  readonly usage: TokenUsage | null;
  /** Whether the upstream time is known. */
  readonly isTimed: boolean;
}

/** What a figure was compared with, and what gives the parts that were not measured. */
interface Compared {
  readonly tier: ModelledTier;
  /** Of what the figure is about. */
  readonly expected: Expected;
}

/** `modelled`: null where the model is not known at all. */
export function measuredReason(
  requested: RequestedTier,
  { boundary, isTimed, methodology, simulated, site, usage }: MeasuredFacts,
  reading: TelemetryReading,
  modelled: Compared | null,
): string {
  const other = boundary === 'narrow' || modelled === null ? null : otherHardware(site, methodology);
  const unlike = other === null ? '' : `; what is modelled assumes H100 servers, while the deployment states ${other}`;
  const why = requested === 'auto' ? 'auto' : 'as requested';
  const compared =
    usage === null
      ? uncountedText(isTimed, methodology)
      : modelled === null
        ? `no model to compare it with${classesText(methodology)}`
        : comparedText(reading.energyWh, modelled, methodology);
  const counts = countsText(usage, methodology);
  if (reading.scope === 'accelerator') {
    const interval = reading.intervalS === null ? '' : ` over ${Number(reading.intervalS.toFixed(3))} s`;
    const rest = boundary === 'narrow' ? '' : '; host and idle are modelled';
    const by = simulated ? 'as a simulator made them up, not measured,' : `measured by ${reading.source}`;
    return `${why}: accelerators ${by}${interval}, by share of the tokens; ${compared}${rest}${unlike}${counts}`;
  }
  return `${why}: ${natureOf(reading, simulated)}; ${compared}; a total that cannot be split, ${overheadText(reading.includesPue)}${unlike}${counts}`;
}

function uncountedText(isTimed: boolean, { boundsUncounted }: MeasuredFacts['methodology']): string {
  const rack = `no token counts, so it is only compared with the ${uncountedCalls.ceilingPowerW} W of a whole rack`;
  if (!boundsUncounted) return `${rack} in the upstream time`;
  return `${rack} in ${isTimed ? 'the upstream time' : 'an hour'} and with a token of the smallest class, to which the bounds reach`;
}

function classesText({ ceilingClass, floorClasses }: MeasuredFacts['methodology']): string {
  if (ceilingClass === null) return '';
  return floorClasses === null
    ? ' but the largest class'
    : ' but the largest and the smallest class, to which the bounds reach';
}

/** Wh both. */
function comparedText(
  measured: number,
  { expected, tier }: Compared,
  { statesModelled }: MeasuredFacts['methodology'],
): string {
  // A call without tokens: both are nothing.
  if (!statesModelled || expected.wh === 0) return `plausible against the ${tier} tier`;
  const { largestWh, smallestWh, wh } = expected;
  const beside = `${brief(measured / wh)} times the ${brief(wh)} Wh of the ${tier} tier`;
  const most = comparison.plausibleWithin;
  if (!isDoubtful(measured, expected)) return `plausible, ${beside}`;
  const from = smallestWh === largestWh ? 'it' : `the ${brief(smallestWh)} or ${brief(largestWh)} Wh of its ends`;
  return `${beside}, further from ${from} than ${most} times, so one of them is doubtful`;
}

const brief = (value: number): string => String(Number(value.toPrecision(3)));

/** Of a simulator no source is named: it borrows the shapes of companies that have measured nothing here. */
function natureOf({ source }: TelemetryReading, simulated: boolean): string {
  if (simulated) return 'energy that a simulator made up, not measured';
  if (source === 'ecologits_impacts') return "the provider's own EcoLogits estimate, not a measurement";
  return `measured energy as reported by the provider (${source}), not verified`;
}

function overheadText(includesPue: boolean | null): string {
  if (includesPue === null) return "not known whether with the data centre's overhead";
  return includesPue ? "with the data centre's overhead" : "without the data centre's overhead";
}
