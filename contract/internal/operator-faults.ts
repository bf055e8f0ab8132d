/**
 * Failures of a deployment that only its operator can mend. Envoy recognises them in a provider's reply, goes on to the next deployment,
 * and marks the reply for the sidecar.
 */

/**
 * `auth_failed`: the provider refuses the credential. `quota_exhausted`: the account with the provider has no credit left.
 * `model_missing`: the provider knows no such model, deployment or path.
 */
export const operatorFaults = ['auth_failed', 'quota_exhausted', 'model_missing'] as const;
export type OperatorFault = (typeof operatorFaults)[number];

/** Set only by Envoy on the reply of such an attempt. */
export const operatorFaultHeader = 'x-gw-operator-fault';

/** Field in the namespace `gw` of the attempt's metadata, for the access log. */
export const operatorFaultField = 'operator_fault';
