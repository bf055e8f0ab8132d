/** Which API a provider is called by: that of the client, if it speaks it. */
import { usualApis } from '@gw/contract/internal/catalogue/apis';
import type { SnapshotDeployment } from '@gw/contract/internal/snapshot';

type Spoken = Pick<SnapshotDeployment, 'calls'>;

const apisOf = ({ calls }: Spoken): readonly string[] => calls?.apis ?? usualApis;

/** Returns the API by which a call of the API `endpoint` is sent to a deployment; null if it cannot be sent there. */
export const apiBehind = (endpoint: string, deployment: Spoken): string | null =>
  apisOf(deployment).includes(endpoint) ? endpoint : null;
