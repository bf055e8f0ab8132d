/**
 * How the sidecar tells the listener of a deployment what its attempt has of its own. Envoy strips every `x-gw-*` header of a client
 * first, and the listener takes them off before a provider is asked.
 */

/** The name of a header that is for one deployment. Ids may differ in the case of letters alone, and names of headers cannot. */
export const attemptHeader = (kind: string, deploymentId: string): string =>
  `${kind}-${Buffer.from(deploymentId).toString('hex')}`;

/** The beginning of the body for this deployment. */
export const attemptOpening = 'x-gw-opening';
/** How many bytes of the body that replaces. */
export const attemptOpeningLength = 'x-gw-opening-length';
/** The provider's name of the model, as it stands in a path. */
export const attemptPathModel = 'x-gw-path-model';

/** The receipt of a call that may be tried at more than one deployment, so that a failed attempt can be told by it. */
export const attemptReceipt = 'x-gw-attempt-receipt';
