/** Between the control plane and Envoy's listener for test calls to providers. */
import type { InternalTls, SettingReader } from './environment.ts';
import { isUnixSocket } from './listen.ts';

/** Names the cluster to call. */
export const probeClusterHeader = 'x-gw-probe-cluster';
/** Envoy's response flags, on its own replies alone. */
export const probeFailureHeader = 'x-gw-probe-failure';
/** The address that Envoy was connected to. */
export const probeUpstreamHeader = 'x-gw-probe-upstream';

const setting = 'GW_PROBE_LISTEN';
const usual = 'unix:/run/gw/envoy-probe.sock';

/** Returns where Envoy takes test calls. On the network both sides show certificates: whoever gets there can call providers. */
export function readProbeListen(settings: SettingReader, tls: InternalTls | null): string {
  const listen = settings.listen(setting, usual);
  if (listen !== '' && !isUnixSocket(listen) && tls === null)
    settings.problem(
      `${setting} is on the network, so GW_INTERNAL_TLS_CERT_FILE is needed. Example: ${setting}=${usual}`,
    );
  return listen;
}
