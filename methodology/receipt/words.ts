/** Why a receipt has its tier, what is assumed in it and what it leaves out, in words. */
import type { Calculation } from '../choice/calculation.ts';
import type { ModelledTier } from '../choice/tier.ts';
import type { Words } from '../choice/words.ts';
import { comparison, estimatedCounts, serving, uncountedCalls, writing } from '../documents/factors.ts';
import type { Methodology } from '../documents/methodologies.ts';
import { isGuessed, isOtherHardware } from '../facts/assumptions.ts';
import type {
  Boundary,
  CallFacts,
  CountDoubt,
  EstimatedCounts,
  ModelFacts,
  SiteFacts,
  TokenUsage,
} from '../facts/facts.ts';
import type { TelemetryReading } from '../facts/telemetry/reading.ts';
import type { Results } from '../generated/receipt.ts';

/**
 * The reason, and the assumptions that a reader has to know to judge the figures. `unmeasured`: why measured energy was not taken;
 * null if there was none.
 */
export function tierReason(
  tier: ModelledTier,
  { model, requestedTier, site, telemetryFollows: follows, upstreamLatencyS, usage }: CallFacts,
  unmeasured: string | null,
  { isOwn }: Methodology,
): string {
  const none = follows ? 'no measured energy yet (a later version may have it)' : 'no measured energy';
  const measured = unmeasured === null ? none : `measured energy not used: ${unmeasured}`;
  const why = requestedTier === 'auto' ? `auto: ${measured}` : 'as requested';
  const counts = isOwn ? countsText(usage) : '';
  const assumed = isOwn ? assumedText(model, site) : theirAssumptions(model, site);
  if (tier === 'proxy') {
    const unknown = requestedTier === 'auto' ? ' and no parameter counts for this model' : '';
    const size =
      model.modelClass === 'unknown'
        ? 'size unknown, so the bounds are those of models of any size'
        : `a model of the size class ${model.modelClass}`;
    return `${why}${unknown}; ${size}${assumed}${counts}`;
  }
  const known = isOwn && isGuessed(model) ? 'guessed from its name' : 'known';
  const sized = requestedTier === 'auto' ? `, parameter counts ${known}` : '';
  if (isOwn || model.kind === 'embedding') return `${why}${sized}${assumed}${counts}`;
  const time = model.tokensPerS === null ? 'fitted to the model size' : 'from measured tokens per second';
  const cap = upstreamLatencyS !== null ? ', at most the upstream time' : '';
  const { totalParametersB: total } = model;
  const beyond =
    total !== null && total.max > serving.fittedUpToB ? '; extrapolated beyond 200 billion parameters' : '';
  return `${why}${sized}; generation time ${time}${cap}${assumed}${beyond}`;
}

const bitsText = ({ quantizationBits }: ModelFacts, otherwise: number): string =>
  `${quantizationBits ?? otherwise}-bit weights`;

/** EcoLogits assumes the same of every deployment. */
function theirAssumptions(model: ModelFacts, site: SiteFacts): string {
  const other = otherHardware(site);
  const unlike = other === null ? '' : `, while the deployment states ${other}`;
  return `; assumes H100 accelerators and ${bitsText(model, serving.weightBits)}${unlike}`;
}

/** Names the assumptions that stand in for facts that nobody stated. */
function assumedText(model: ModelFacts, site: SiteFacts, what = 'assumes'): string {
  const other = otherHardware(site);
  const hardware = isOtherHardware(site.accelerators)
    ? [`accelerators like H100 or B200${other === null ? '' : `, while the deployment states ${other}`}`]
    : [];
  const served =
    model.kind === 'embedding'
      ? []
      : [
          ...(model.quantizationBits == null ? [bitsText(model, writing.assumedBits)] : []),
          ...(site.typicalConcurrency == null ? [`${writing.assumedConcurrency} requests at once`] : []),
        ];
  const all = [...served, ...hardware];
  return all.length === 0 ? '' : `; ${what} ${all.join(', ')}`;
}

/** For the end of a `tier_reason`; empty where the reply came to its end. */
export function cutShortText({ isCutShort, usage }: Pick<CallFacts, 'isCutShort' | 'usage'>): string {
  if (!isCutShort) return '';
  const most = usage?.completionMost;
  const end = most === undefined ? 'what was delivered' : `the ${most} tokens that the provider can have gone on to`;
  return `; the reply broke off: what was generated without being delivered is not counted, so all amounts are lower bounds, and the upper bounds are those of ${end}`;
}

/** The accelerators that the deployment states, if they are not those that the models assume. */
const otherHardware = ({ accelerators }: SiteFacts): string | null =>
  accelerators && isOtherHardware(accelerators) ? `${accelerators.count} × ${accelerators.model}` : null;

/** `results`: those of the calculation that used the figure. */
export function measuredReason(
  { boundary, model, requestedTier, simulated, site, upstreamLatencyS, usage }: CallFacts,
  reading: TelemetryReading,
  { modelled_by: tier }: Calculation,
  results: Results,
): string {
  const unlike = boundary === 'narrow' || tier === null ? '' : assumedText(model, site, 'what is modelled assumes');
  const why = requestedTier === 'auto' ? 'auto' : 'as requested';
  const compared =
    usage === null ? uncountedText(upstreamLatencyS !== null) : comparedText(reading.energyWh, tier, results);
  const counts = countsText(usage);
  if (reading.scope === 'accelerator') {
    const interval = reading.intervalS === null ? '' : ` over ${Number(reading.intervalS.toFixed(3))} s`;
    const rest = boundary === 'narrow' ? '' : '; host and idle are modelled';
    const by = simulated ? 'as a simulator made them up, not measured,' : `measured by ${reading.source}`;
    return `${why}: accelerators ${by}${interval}, by share of the tokens; ${compared}${rest}${unlike}${counts}`;
  }
  const nature = natureOf(reading, simulated === true);
  return `${why}: ${nature}; ${compared}; a total that cannot be split, ${overheadText(reading.includesPue)}${unlike}${counts}`;
}

const uncountedText = (isTimed: boolean): string =>
  `no token counts, so it is only compared with the ${uncountedCalls.ceilingPowerW} W of a whole rack in ${isTimed ? 'the upstream time' : 'an hour'} and with a token of the smallest model, to which the bounds reach`;

function comparedText(measuredWh: number, tier: ModelledTier | null, results: Results): string {
  const { modelled_energy: wh, modelled_largest: largestWh, modelled_smallest: smallestWh } = results;
  if (wh == null || smallestWh == null || largestWh == null)
    throw new TypeError('A compared figure has a modelled energy.');
  // A call without tokens: both are nothing.
  if (wh === 0) return `plausible against the ${tier} tier`;
  const beside = `${brief(measuredWh / wh)} times the ${brief(wh)} Wh of the ${tier} tier`;
  const most = comparison.plausibleWithin;
  const isKnown = smallestWh === largestWh;
  const ends = isKnown ? 'it' : `the ${brief(smallestWh)} or ${brief(largestWh)} Wh of its ends`;
  if (isDoubtful(measuredWh, results))
    return `${beside}, further from ${ends} than ${most} times, so one of them is doubtful`;
  const isPlausible = measuredWh <= smallestWh * most && measuredWh * most >= largestWh;
  // The models of a range or of a class can be far from each other.
  return isPlausible ? `plausible, ${beside}` : `${beside}, as a model between ${ends} can take`;
}

/** Whether a figure is further from all that the model can be than what is plausible. What was not compared is not. */
const isDoubtful = (measuredWh: number, { modelled_largest: largest, modelled_smallest: smallest }: Results): boolean =>
  largest != null &&
  smallest != null &&
  largest > 0 &&
  (measuredWh > largest * comparison.plausibleWithin || measuredWh * comparison.plausibleWithin < smallest);

/** Who measured the energy, for `measured_by`. */
export function meterOf({ energyWh, scope }: TelemetryReading, results: Results): Words['measured_by'] {
  if (scope === 'accelerator') return 'counters';
  return isDoubtful(energyWh, results) ? 'provider_doubtful' : 'provider';
}

const brief = (value: number): string => String(Number(value.toPrecision(3)));

/** A simulator borrows the shapes of companies that have measured nothing here, so no source is named. */
function natureOf({ source }: TelemetryReading, simulated: boolean): string {
  if (simulated) return 'energy that a simulator made up, not measured';
  return `measured energy as reported by the provider (${source}), not verified`;
}

function overheadText(includesPue: boolean | null): string {
  if (includesPue === null) return "not known whether with the data centre's overhead";
  return includesPue ? "with the data centre's overhead" : "without the data centre's overhead";
}

const estimateTexts: Readonly<Record<EstimatedCounts, string>> = {
  prompt: "prompt tokens are estimated from the request's text",
  completion: 'completion tokens are estimated from the text that was delivered (hidden reasoning is not in them)',
  both: 'prompt and completion tokens are estimated from the text that was sent and delivered (hidden reasoning is not in them)',
};

/** For the end of a `tier_reason`; empty where the provider's counts were taken as they are. */
export function countsText(usage: TokenUsage | null): string {
  if (usage === null) return '';
  const { estimated, outsideCounts: over = 0 } = usage;
  const estimate =
    estimated === undefined
      ? ''
      : `; ${estimateTexts[estimated]}, within a ratio of ${estimatedCounts.ratio} either way`;
  const wide = estimate + doubtsText(usage);
  if (over > 0)
    return `${wide}; ${over} tokens that the provider states outside of its two counts are charged as completion`;
  if (over < 0) return `${wide}; the provider's total is ${-over} less than its two counts, which are charged`;
  return wide;
}

const doubtTexts: Readonly<Record<CountDoubt, string>> = {
  hidden: 'more completion tokens are counted than the delivered text shows, as the model thinks unseen',
  hidden_unstated:
    'doubtful: more completion tokens are counted than the delivered text shows, as if the model thought unseen',
  filtered: 'more completion tokens are counted than the delivered text shows, since the provider withheld some of it',
  above_limit: 'more completion tokens are counted than the request allows',
  read_elsewhere: 'more prompt tokens are counted than the request holds, for what the provider read by itself',
  read_unstated:
    'doubtful: more prompt tokens are counted than the request holds, as if the provider had read by itself, unasked',
  parts_uncounted:
    'the tokens of pictures, sound and files in the prompt are not counted: they are in the upper bounds alone, by their size',
  too_fast: 'doubtful: the accelerators draw less in the upstream time than the counted tokens take',
  encodes_media:
    'pictures, sound and files count as the text tokens that they become: the networks that encode and decode them have no published factor and are in no number here',
  ran_tools: 'the provider could run tools by itself, and what these take is measured by nobody and in no number here',
};

/** Why the counts are believed only within bounds, and which those are. */
function doubtsText(usage: TokenUsage): string {
  const doubts = usage.doubts ?? [];
  const { completionLeast, completionMost, completionTokens, promptLeast, promptMost, promptTokens } = usage;
  const bounds = [
    boundsText('prompt', promptTokens, promptLeast, promptMost),
    boundsText('completion', completionTokens, completionLeast, completionMost),
  ].filter((text) => text !== '');
  const reach = bounds.length === 0 ? [] : [`the bounds are those of ${bounds.join(' and ')}`];
  return [...doubts.map((doubt) => doubtTexts[doubt]), ...reach].map((text) => `; ${text}`).join('');
}

const boundsText = (kind: string, count: number, least = count, most = count): string =>
  least === most ? '' : `${least} to ${most} ${kind} tokens`;

/** Whether the prompt has parts that nobody counted. */
export const hasUncountedParts = (usage: TokenUsage | null): boolean =>
  usage?.doubts?.includes('parts_uncounted') === true;

/** Outside every boundary of every methodology here. */
const neverCounted = ['network', 'storage', 'redundancy', 'training', 'end_user_devices', 'embodied_water'];
const outsideNarrow = ['host_energy', 'idle_energy', 'overhead_energy', 'embodied_carbon', 'water'];

/** The parts of a call that are known. In the narrow boundary only the output matters. */
export interface KnownParts {
  readonly water: boolean;
  readonly embodied: boolean;
  /** False for a measured total that leaves the overhead out, or does not say. */
  readonly overhead: boolean;
  /** False if the reply broke off, so that something may have been generated that was not delivered. */
  readonly output: boolean;
  /** False if the prompt has parts that nobody counted. */
  readonly input: boolean;
  /** False if the provider may have run tools of its own. */
  readonly tools: boolean;
  /** False if pictures, sound or files were encoded or decoded. */
  readonly media: boolean;
}

/**
 * The parts that the receipt leaves out, for `boundary_excludes`. Our narrow boundary is the accelerator's part of the comprehensive one. It is
 * not the narrow figure of any other publication, and is not to be compared with one.
 */
export function exclusions(boundary: Boundary, { idleShare, isOwn }: Methodology, parts: KnownParts): string[] {
  const left = boundary === 'narrow' ? [...outsideNarrow] : [];
  if (boundary === 'comprehensive') {
    if (idleShare === null) left.push('idle_energy');
    if (!parts.overhead) left.push('overhead_energy');
    if (!parts.embodied) left.push('embodied_carbon');
    if (!parts.water) left.push('water');
  }
  if (!isOwn) left.push('input_tokens');
  if (!parts.output) left.push('undelivered_output');
  if (isOwn && !parts.input) left.push('uncounted_input');
  if (isOwn && !parts.tools) left.push('hosted_tools');
  if (isOwn && !parts.media) left.push('media_encoding');
  return left.concat(neverCounted);
}
