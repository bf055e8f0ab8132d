/**
 * Checks what a pack says of the routing of its calls: that each call stayed in the region that it asked for, that carbon chose the lowest
 * estimate, and that savings follow.
 *
 * Invariant: with the facts of a receipt, estimates and savings are computed again from them and from what the trace says of each region. Without
 * facts, the trace is held to itself. A call that was tried more than once may have gone to another model, whose facts are not in the
 * pack, so its estimates are not computed again.
 */
import { type RoutingTrace, routingTraceSchema } from '@gw/contract/routing-trace';
import { assess, type CallFacts, type TokenUsage } from '@gw/methodology/assess';
import { footprintOf, gramsOf } from '@gw/methodology/footprint';
import { findMethodology, type MethodologyId } from '@gw/methodology/methodologies';
import { ExactSum, plainDecimal } from './decimal.ts';
import { isNode, type Node, type PackMismatch, shown } from './receipt-node.ts';

export interface RoutingVerification {
  readonly pins: {
    readonly asked: number;
    readonly held: number;
    /** Calls that no region is known to have answered. */
    readonly unanswered: number;
  };
  readonly traces: number;
  /** Calls whose region carbon chose. */
  readonly choices: number;
  readonly savings: {
    readonly stated: number;
    /** How many were computed again from the facts of the receipt. */
    readonly recomputed: number;
    /** The sum of what is stated, gCO2e. */
    readonly grams: string;
  };
}

export const noRouting: RoutingVerification = {
  pins: { asked: 0, held: 0, unanswered: 0 },
  traces: 0,
  choices: 0,
  savings: { stated: 0, recomputed: 0, grams: '0' },
};

type Fault = Omit<PackMismatch, 'receipt'>;
type Compared = RoutingTrace['candidates'][number];

/** A call has one routing, so later versions of its receipt are not counted. */
export class RoutingCheck {
  readonly #pins = { asked: 0, held: 0, unanswered: 0 };
  readonly #sum = new ExactSum();
  #traces = 0;
  #choices = 0;
  #stated = 0;
  #recomputed = 0;

  add(node: Node): PackMismatch[] {
    if (node.version !== 1) return [];
    return [...this.#pin(node), ...this.#trace(node)].map((fault) => ({ receipt: String(node.id), ...fault }));
  }

  result(): RoutingVerification {
    const savings = { stated: this.#stated, recomputed: this.#recomputed, grams: String(this.#sum) };
    return { pins: this.#pins, traces: this.#traces, choices: this.#choices, savings };
  }

  #pin({ pinned_region: pinned, region }: Node): Fault[] {
    if (typeof pinned !== 'string') return [];
    this.#pins.asked += 1;
    if (region === null) this.#pins.unanswered += 1;
    else if (region === pinned) this.#pins.held += 1;
    else return [{ field: 'region', expected: `${pinned}, which was asked for`, found: shown(region) }];
    return [];
  }

  #trace(node: Node): Fault[] {
    if (node.routing === undefined || node.routing === null) return [];
    const parsed = routingTraceSchema.safeParse(node.routing);
    if (!parsed.success) return [{ field: 'routing', expected: 'a routing trace', found: shown(node.routing) }];
    const trace = parsed.data;
    this.#traces += 1;
    if (trace.policy === 'carbon_aware') this.#choices += 1;
    const saving = trace.estimated_saving_g;
    if (saving !== null) {
      this.#stated += 1;
      this.#sum.add(plainDecimal(saving));
    }
    const again = recomputed(node, trace);
    if (again.hasSaving) this.#recomputed += 1;
    return [...checkPolicy(node, trace), ...checkChoice(trace), ...checkSaving(trace), ...again.faults];
  }
}

function checkPolicy({ pinned_region = null, region }: Node, { policy, region: served }: RoutingTrace): Fault[] {
  const isPinned = pinned_region !== null;
  return [
    ...(served === region ? [] : [{ field: 'routing.region', expected: shown(region), found: shown(served) }]),
    ...(isPinned === (policy === 'pinned')
      ? []
      : [{ field: 'routing.policy', expected: isPinned ? 'pinned' : 'not pinned', found: policy }]),
  ];
}

const isCompared = ({ estimate }: Compared): boolean => estimate !== null;

function checkChoice(trace: RoutingTrace): Fault[] {
  const { candidates, fallback_reason: reason, policy, region } = trace;
  if (policy !== 'carbon_aware') return [];
  const grams = candidates.flatMap(({ estimate }) => estimate?.carbon_g ?? []);
  const lowest = Math.min(...grams);
  const chosen = candidates.filter(({ estimate }) => estimate?.carbon_g === lowest).map((each) => each.region);
  const expected = `${chosen.join(' or ')}, with the lowest estimate`;
  if (reason === 'failed_over') return checkFailover(trace);
  const isChosen = grams.length > 1 && (region === null || chosen.includes(region));
  return isChosen ? [] : [{ field: 'routing.region', expected, found: shown(region) }];
}

/** A call goes on in the order of the estimates, then to regions without one, so each region with a lower estimate than the answering one has failed. */
function checkFailover({ attempts: { count, failed }, candidates, region }: RoutingTrace): Fault[] {
  if (count < 2) return [{ field: 'routing.attempts', expected: 'two or more', found: shown(count) }];
  const gramsOf = ({ estimate }: Compared) => estimate?.carbon_g ?? Number.POSITIVE_INFINITY;
  const answered = candidates.find((each) => each.region === region);
  const most = answered === undefined ? Number.POSITIVE_INFINITY : gramsOf(answered);
  const hasFailed = new Set(failed.map((each) => each.region));
  const [passed] = candidates
    .filter((each) => gramsOf(each) < most && !hasFailed.has(each.region))
    .sort((a, b) => gramsOf(a) - gramsOf(b));
  if (passed === undefined) return [];
  const expected = `${passed.region}, with the lowest estimate of those that are not known to have failed`;
  return [{ field: 'routing.region', expected, found: shown(region) }];
}

function checkSaving({ counterfactual, estimated_saving_g: saving, region }: RoutingTrace): Fault[] {
  const { carbon_g: there = null, region: preferred, served_carbon_g: here = null } = counterfactual ?? {};
  const follows =
    there !== null && here !== null
      ? Number((there - here).toPrecision(12))
      : counterfactual !== null && region === preferred
        ? 0
        : null;
  if (saving === follows) return [];
  return [{ field: 'routing.estimated_saving_g', expected: shown(follows), found: shown(saving) }];
}

interface Recomputed {
  readonly faults: readonly Fault[];
  /** Whether the saving was among what was computed again. */
  readonly hasSaving: boolean;
}
const nothing: Recomputed = { faults: [], hasSaving: false };

/** The calculation looks at the rest: facts of another form give no grams. */
const areFacts = (value: unknown): value is CallFacts => isNode(value) && isNode(value.site) && isNode(value.model);

function recomputed(node: Node, trace: RoutingTrace): Recomputed {
  const lineage = isNode(node.lineage) ? node.lineage.lineage : null;
  const { attempts, candidates, counterfactual, estimated_tokens: tokens } = trace;
  if (!isNode(lineage) || !areFacts(lineage.facts) || attempts.count !== 1 || tokens === null) return nothing;
  const method = findMethodology(String(lineage.methodology))?.id;
  if (method === undefined) return nothing;
  const { facts } = lineage;
  const before = { promptTokens: tokens.prompt, completionTokens: tokens.completion, cachedPromptTokens: 0 };
  const estimated = { ...facts, requestedTier: 'auto' as const, upstreamLatencyS: null };
  const compared = candidates.filter(isCompared);
  const estimates = compared.flatMap((each) =>
    differing(`candidates.${each.region}`, each.estimate?.carbon_g, gramsAt(estimated, before, each, method)),
  );
  const at = (region: string | null | undefined) => compared.find((each) => each.region === region);
  const [preferred, served] = [at(counterfactual?.region), at(trace.region)];
  const { carbon_g: there = null, served_carbon_g: here = null } = counterfactual ?? {};
  if (!preferred || !served || there === null || here === null) return { faults: estimates, hasSaving: false };
  const savings = [
    ...differing('counterfactual.carbon_g', there, gramsAt(facts, facts.usage, preferred, method)),
    ...differing('counterfactual.served_carbon_g', here, gramsAt(facts, facts.usage, served, method)),
  ];
  return { faults: [...estimates, ...savings], hasSaving: true };
}

/** Sums of rounded parts can differ in their last digits. */
const tolerance = 1e-9;

function differing(field: string, stated: number | undefined, follows: number | null): Fault[] {
  if (stated !== undefined && follows !== null && Math.abs(stated - follows) <= tolerance * Math.abs(follows))
    return [];
  return [{ field: `routing.${field}`, expected: shown(follows), found: shown(stated) }];
}

/** Returns the modelled carbon of the call at a region; null if the facts give none. */
function gramsAt(
  { telemetry: _measured, ...facts }: CallFacts,
  usage: TokenUsage | null,
  { estimate, g_per_kwh }: Compared,
  method: MethodologyId,
): number | null {
  if (estimate === null || g_per_kwh === null) return null;
  const { accelerators = null, pue, typical_concurrency: typicalConcurrency = null } = estimate;
  const site = { ...facts.site, pue, accelerators, typicalConcurrency };
  const requestedTier = facts.requestedTier === 'telemetry' ? 'auto' : facts.requestedTier;
  try {
    const assessment = assess({ ...facts, requestedTier, usage, site }, method);
    const footprint = assessment.ok ? footprintOf(assessment.impact) : null;
    return footprint && gramsOf(footprint, g_per_kwh);
  } catch {
    // The facts do not have their form, which is a mismatch of the lineage too.
    return null;
  }
}
