/**
 * The deployments that serve a call to an alias, target by target.
 *
 * Invariant: a deployment belongs to one target, the first that names it, since a call tries it once and gets one model there.
 */
import type { AliasTarget } from './catalogue/alias-fields.ts';

interface Offering {
  readonly id: string;
  readonly provider: string;
  /** The keys are public model ids. */
  readonly models: object;
}

/** Whether a deployment serves a target, ignoring earlier targets. */
export const servesTarget =
  ({ model, provider }: AliasTarget) =>
  (deployment: Offering): boolean =>
    Object.hasOwn(deployment.models, model) && (provider === undefined || provider === deployment.provider);

/**
 * Returns the deployments that offer a model, in the given order. The list must not be changed afterwards: it is indexed once, since
 * a catalogue can have thousands of models, aliases and deployments.
 */
export function offering<Deployment extends Offering>(deployments: readonly Deployment[], model: string): Deployment[] {
  let places = placesByModel.get(deployments);
  if (!places) {
    places = new Map();
    for (const [at, { models }] of deployments.entries())
      for (const id of Object.keys(models)) {
        const own = places.get(id);
        if (own) own.push(at);
        else places.set(id, [at]);
      }
    placesByModel.set(deployments, places);
  }
  return (places.get(model) ?? []).flatMap((at) => deployments[at] ?? []);
}
const placesByModel = new WeakMap<readonly Offering[], Map<string, number[]>>();

/** Returns the deployments of each target, in the given order. The list must not change, as for `offering`. */
export function offeredTargets<Deployment extends Offering>(
  deployments: readonly Deployment[],
  targets: readonly AliasTarget[],
): Deployment[][] {
  const taken = new Set<string>();
  return targets.map(({ model, provider }) => {
    const isOwn = (each: Offering) => !taken.has(each.id) && (provider === undefined || provider === each.provider);
    const own = offering(deployments, model).filter(isOwn);
    for (const { id } of own) taken.add(id);
    return own;
  });
}

export const targetText = ({ model, provider }: AliasTarget): string =>
  provider === undefined ? model : `${model} at ${provider}`;
