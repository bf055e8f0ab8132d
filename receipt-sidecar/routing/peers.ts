/**
 * Finds the deployments of the region of a call at which it may begin, which then share such calls (share-calls.ts).
 *
 * Invariant: none of them makes the choice of the region wrong. One that is only for fail-over is among them only if it comes first.
 */
import type { Tolerance } from '@gw/contract/access';
import type { Result } from '@gw/contract/internal/result';
import type { LiveSignal } from '../catalogue/grid-signals.ts';
import type { Candidate, Named } from '../catalogue/named.ts';
import type { Comparison, FallbackReason } from './compare-regions.ts';
import { isTolerable } from './tolerance.ts';

/** How the deployment was chosen at which a call begins (share-calls.ts). */
export interface SharedCall {
  /** `load`: by weight and calls under way, also where the deployment of the affinity has too much to do. */
  readonly by: 'affinity' | 'load';
  /** The field that names the affinity; null: the call names none. */
  readonly affinity: string | null;
  /** The deployments that share the calls, with what was under way there. */
  readonly among: readonly {
    readonly deployment: string;
    readonly weight: number;
    readonly underWay: number;
  }[];
}

interface FreeChoice {
  /** The deployment that was chosen for its region. */
  readonly first: Candidate;
  readonly preferred: Candidate;
  readonly tolerance: Tolerance;
  readonly gramsAt: (candidate: Candidate, signal: LiveSignal) => number | null;
  readonly compared: Result<Comparison, FallbackReason>;
}

/** `able`: the deployments of the target that do not rest. Where regions were compared, none that is estimated above the next one is a peer. */
export function freePeers(
  able: readonly Candidate[],
  { compared, first, gramsAt, preferred, tolerance }: FreeChoice,
): readonly Candidate[] {
  const [chosen, next] = compared.ok ? compared.value.ranked : [];
  const keepsChoice = (each: Candidate): boolean => {
    if (!chosen || !next) return true;
    const grams = gramsAt(each, chosen.signal);
    return grams !== null && grams <= next.grams;
  };
  const isPeer = (each: Candidate): boolean =>
    each.region.code === first.region.code &&
    each.deployment.weight > 0 &&
    isTolerable(each, preferred, tolerance) &&
    keepsChoice(each);
  return able.filter((each) => each === first || isPeer(each));
}

interface PinnedChoice {
  readonly isResting: (deployment: string) => boolean;
  readonly troubleOf: (deployment: string, model: string) => unknown;
}

/** `chain`: of the pinned region. Those that fail are peers only if all do. */
export function pinnedPeers(
  chain: readonly [Candidate, ...Candidate[]],
  { modelOf, targets }: Pick<Named, 'modelOf' | 'targets'>,
  { isResting, troubleOf }: PinnedChoice,
): readonly Candidate[] {
  const [first] = chain;
  const target = targets.find(({ candidates }) => candidates.includes(first));
  const shares = (each: Candidate) => each.deployment.weight > 0 && target?.candidates.includes(each);
  const peers = chain.filter((each) => each === first || shares(each));
  const isWell = (each: Candidate) =>
    !isResting(each.deployment.id) && troubleOf(each.deployment.id, modelOf(each).id) === null;
  return peers.some(isWell) ? peers.filter(isWell) : peers;
}
