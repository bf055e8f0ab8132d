import type { Candidate, Named } from '../catalogue/snapshot.ts';

/** The part of a route that its attempts need. */
export interface AttemptedRoute {
  readonly pinned: boolean;
  /** Returns the model that a call gets at a deployment. */
  readonly modelOf: Named['modelOf'];
  /** The deployments in the order in which they are tried; at least one. */
  readonly failoverChain: readonly [Candidate, ...Candidate[]];
  /** Envoy's cluster of the whole chain. What the call names is `Attempts.cluster`, which can be of the first alone. */
  readonly cluster: string;
}
