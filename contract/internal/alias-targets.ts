/**
 * What serves a call that names an alias: the deployments of its targets, target by target.
 *
 * Invariant: a deployment is that of one target alone, the first that names it, since a call tries it once, and gets one model
 * there.
 */
import type { AliasTarget } from './catalogue/alias-fields.ts';

interface Offering {
  readonly id: string;
  readonly provider: string;
  /** By public model id. */
  readonly models: object;
}

/** Whether a deployment serves a target, whatever stands before it. */
export const servesTarget =
  ({ model, provider }: AliasTarget) =>
  (deployment: Offering): boolean =>
    Object.hasOwn(deployment.models, model) && (provider === undefined || provider === deployment.provider);

/** Returns the deployments of each target, in the order in which they are given. */
export function offeredTargets<Deployment extends Offering>(
  deployments: readonly Deployment[],
  targets: readonly AliasTarget[],
): Deployment[][] {
  const taken = new Set<string>();
  return targets.map((target) => {
    const own = deployments.filter((each) => !taken.has(each.id) && servesTarget(target)(each));
    for (const { id } of own) taken.add(id);
    return own;
  });
}

/**
 * Returns the order in which a call tries them that begins at the target `first`, at those for which `isFirst` is true: the targets
 * behind it follow, and those before it, which could not be chosen, come last.
 */
export function triedFrom<Each>(
  targets: readonly (readonly Each[])[],
  first: number,
  isFirst: (each: Each) => boolean,
): Each[] {
  const own = targets[first] ?? [];
  return [
    ...own.filter(isFirst),
    ...own.filter((each) => !isFirst(each)),
    ...targets.slice(first + 1).flat(),
    ...targets.slice(0, first).flat(),
  ];
}

export const targetText = ({ model, provider }: AliasTarget): string =>
  provider === undefined ? model : `${model} at ${provider}`;
