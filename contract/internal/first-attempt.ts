/**
 * How a first attempt goes to its provider without the deployment's listener, and what Envoy then tells of it. The sidecar names the
 * clusters of all attempts of such a call in metadata, since Envoy keeps every change of a header for the attempts after it.
 */

/** Namespaces of Envoy's dynamic metadata. */
export const attemptOrderNamespace = 'gw.order';
export const firstAttemptNamespace = 'gw.first_attempt';

/** What the route of such a call is chosen by. */
export const attemptOrderHeader = 'x-gw-order';

/** On the reply of a later attempt, by Envoy alone: what became of the first one. */
export const firstAttemptHeader = 'x-gw-first-attempt';

/** In the namespace `gw`: the id of the call. */
export const requestIdField = 'request_id';

/** In the namespace `gw`: headers as the sidecar made them, for the attempts after the first. */
export const laterHeaders = 'later_headers';

const prefix = 'first:';

/**
 * The cluster of first attempts at a deployment. The origin is in the name, so that a provider that moves has one for each place until no
 * call names the former.
 */
export const firstAttemptCluster = (deploymentId: string, origin: string): string =>
  `${prefix}${deploymentId}@${origin}`;

/** Returns the deployment of such a cluster; null for any other. */
export const deploymentOf = (cluster: string): string | null =>
  cluster.startsWith(prefix) ? cluster.slice(prefix.length, cluster.lastIndexOf('@')) : null;

/** The cluster through which a later attempt reaches the listener of a deployment. */
export const listenerCluster = (deploymentId: string): string => `listener:${deploymentId}`;
