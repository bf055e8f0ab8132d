/**
 * Headers from the sidecar to the listener of a deployment with the details of its attempt. Envoy strips every `x-gw-*` header of a
 * client first, and the listener removes them before the request goes to a provider.
 */

/** The name of a header for one deployment. Ids may differ in case only, which header names cannot, so the id is hex-encoded. */
export const attemptHeader = (kind: string, deploymentId: string): string =>
  `${kind}-${Buffer.from(deploymentId).toString('hex')}`;

/** The beginning of the body for this deployment. */
export const attemptOpening = 'x-gw-opening';
/** The number of bytes of the body that it replaces. */
export const attemptOpeningLength = 'x-gw-opening-length';
/** Where the rest of its body begins, and how many bytes that has: `120 4096`. Absent: the rest is all behind the first opening. */
export const attemptRest = 'x-gw-rest';

/** The endpoint of the API that this deployment is called by, like `chat/completions`; absent: that of the path. */
export const attemptEndpoint = 'x-gw-endpoint';

/** The provider's name of the model, encoded for a path. */
export const attemptPathModel = 'x-gw-path-model';

/**
 * The fields of the body that the gateway added, with the place of each: name, index of its first byte and number of bytes, separated by
 * spaces: `temperature 12 16`. Behind a slash stand further words by which a refusal can name the field. If the provider refuses one, the listener
 * asks again without it.
 */
export const attemptAdded = 'x-gw-added';
/** Header of a reply: the fields without which the listener has asked again, each between commas. */
export const refusedFieldsHeader = 'x-gw-refused-fields';

/** The receipt id of a call that may be tried at several deployments, to identify failed attempts. */
export const attemptReceipt = 'x-gw-attempt-receipt';
