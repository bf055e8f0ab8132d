/**
 * Resolves the name in a call, of a model or an alias, to the deployments that serve it.
 *
 * Invariant: the id of a model takes precedence over an alias. A model has a single target, so calls that name one do not pay for aliases.
 */
import { offeredTargets, targetText } from '@gw/contract/internal/alias-targets';
import type { AliasTarget } from '@gw/contract/internal/catalogue/alias-fields';
import { apisOf } from '@gw/contract/internal/catalogue/apis';
import type { TokenPrice } from '@gw/contract/internal/catalogue/prices';
import { inPreference } from '@gw/contract/internal/preference';
import type {
  Snapshot,
  SnapshotDeployment,
  SnapshotGridReading,
  SnapshotModel,
  SnapshotRegion,
} from '@gw/contract/internal/snapshot';
import type { LiveSignal } from './grid-signals.ts';
import type { ModelFacts } from './reading-context.ts';

/** A deployment with its region. */
export interface Candidate {
  readonly deployment: SnapshotDeployment;
  readonly region: SnapshotRegion;
  /** Returns the grid reading for a moment, since a live one ages while the catalogue stays; null if there is none. */
  readonly gridAt: (at: Date) => SnapshotGridReading | null;
  /** Returns the price of a model's tokens at a moment; null if it is not stated. */
  readonly priceAt: (model: string, at: Date) => TokenPrice | null;
  /** The grid signals that can be compared with other regions. */
  readonly signals: readonly LiveSignal[];
}

/** A model with all or some of the deployments that serve it. */
export interface Target {
  readonly model: SnapshotModel;
  /** For example `gpt-4o`, or `gpt-4o at azure`. */
  readonly name: string;
  /** In the order of provider preference. */
  readonly candidates: readonly Candidate[];
}

export interface Named {
  readonly id: string;
  readonly isAlias: boolean;
  /** The targets of an alias in the order of preference, or the model itself. */
  readonly targets: readonly [Target, ...Target[]];
  /** The candidates of all targets, in their order. */
  readonly candidates: readonly Candidate[];
  /** Returns the model that a deployment serves the call with. */
  readonly modelOf: (candidate: Candidate) => SnapshotModel;
  /** The facts that reading a request depends on. */
  readonly facts: ModelFacts;
}

/** Returns all names by their ids. `byId` has the deployments that can be asked. */
export function namedIn(snapshot: Snapshot, byId: ReadonlyMap<string, Candidate>): ReadonlyMap<string, Named> {
  const models = new Map(snapshot.models.map((model) => [model.id, model]));
  const inOrder = inPreference(snapshot);
  const targetsOf = (targets: readonly AliasTarget[]): Target[] => {
    const offered = offeredTargets(inOrder, targets);
    return targets.flatMap((target, at) => {
      const model = models.get(target.model);
      const candidates = (offered[at] ?? []).flatMap(({ id }) => byId.get(id) ?? []);
      return model ? { model, name: targetText(target), candidates } : [];
    });
  };
  const named = new Map<string, Named>();
  for (const { id, targets } of snapshot.aliases) {
    const [first, ...others] = targetsOf(targets);
    if (first) named.set(id, aliasOf(id, [first, ...others]));
  }
  for (const model of snapshot.models) {
    const [only] = targetsOf([{ model: model.id }]);
    if (only) named.set(model.id, modelItself(only));
  }
  return named;
}

function modelItself(target: Target): Named {
  const { candidates, model } = target;
  const { contextWindow, id, tokenizer } = model;
  const facts = { id, contextWindow, tokenizer, ...spokenBy(candidates) };
  return { id, isAlias: false, targets: [target], candidates, modelOf: () => model, facts };
}

function spokenBy(candidates: readonly Candidate[]): Pick<ModelFacts, 'spoken'> {
  const spoken = new Map(candidates.map(({ deployment }) => [apisOf(deployment).join(), apisOf(deployment)]));
  return candidates.some(({ deployment }) => deployment.calls?.apis) ? { spoken: [...spoken.values()] } : {};
}

function aliasOf(id: string, targets: Named['targets']): Named {
  const models = new Map(
    targets.flatMap(({ candidates, model }) => candidates.map(({ deployment }) => [deployment.id, model] as const)),
  );
  const [{ model: first }, ...others] = targets;
  return {
    id,
    isAlias: true,
    targets,
    candidates: targets.flatMap(({ candidates }) => candidates),
    modelOf: ({ deployment }) => models.get(deployment.id) ?? first,
    facts: {
      id,
      // A prompt is not refused if one of the models can read it.
      contextWindow: targets.reduce<number | null>(
        (most, { model }) =>
          most === null || model.contextWindow === null ? null : Math.max(most, model.contextWindow),
        0,
      ),
      // With two vocabularies a list of tokens would mean two texts, only one of which was screened.
      tokenizer: others.every(({ model }) => model.tokenizer === first.tokenizer) ? first.tokenizer : null,
      ...spokenBy(targets.flatMap(({ candidates }) => candidates)),
    },
  };
}
