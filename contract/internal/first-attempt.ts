/**
 * Names shared by the sidecar and Envoy for the attempts of a call. The sidecar names the clusters of all attempts in metadata, in the
 * order of the call. A first attempt may go to its provider without the deployment's listener.
 */

/** Namespaces of Envoy's dynamic metadata. */
export const attemptOrderNamespace = 'gw.order';
export const firstAttemptNamespace = 'gw.first_attempt';

/** Selects the route to providers. */
export const attemptOrderHeader = 'x-gw-order';

/** Its value for a call that may only be sent once more to its one deployment. */
export const onceMore = 'once-more';

/**
 * A connection that breaks so soon after a request was sent, ms, is taken for one that the provider was just closing. The provider cannot
 * have worked on the request for long.
 */
export const soonMs = 300;

/** Set by a deployment's listener on a reply in place of a provider that closed the connection soon. */
export const lostSoonHeader = 'x-gw-lost-soon';

/** Set by Envoy on the request to such a listener, if the first attempt was not lost soon, and on the reply: the provider was not asked again. */
export const notRepeatedHeader = 'x-gw-not-repeated';

/** Set only by Envoy on the reply of a later attempt: the outcome of the first one. */
export const firstAttemptHeader = 'x-gw-first-attempt';

/** Field in the namespace `gw`: the id of the call. */
export const requestIdField = 'request_id';

/** Field in the namespace `gw`: headers as the sidecar made them, for later attempts. */
export const laterHeaders = 'later_headers';

const prefix = 'first:';

/**
 * The cluster of first attempts at a deployment. Its name contains the origin, so that a provider that moves has both clusters until
 * no call names the old one.
 */
export const firstAttemptCluster = (deploymentId: string, origin: string): string =>
  `${prefix}${deploymentId}@${origin}`;

/** Returns the deployment of such a cluster; null for any other. */
export const deploymentOf = (cluster: string): string | null =>
  cluster.startsWith(prefix) ? cluster.slice(prefix.length, cluster.lastIndexOf('@')) : null;

/** The cluster through which a first attempt reaches the listener of a deployment, with its headers as the sidecar made them. */
export const firstListenerCluster = (deploymentId: string): string => `first-listener:${deploymentId}`;

/**
 * The cluster through which a later attempt reaches the listener of a deployment. Envoy keeps the header changes of a direct first
 * attempt, so it restores the headers.
 */
export const listenerCluster = (deploymentId: string): string => `listener:${deploymentId}`;

/** The cluster through which a call reaches the listener of its deployment a second time. */
export const onceMoreCluster = (deploymentId: string): string => `once-more:${deploymentId}`;
