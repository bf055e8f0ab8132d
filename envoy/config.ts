import {
  type Environment,
  readInternalTls,
  readList,
  readNetworks,
  readSettings,
  type SettingReader,
} from '@gw/contract/internal/environment';
import { readPublicKeys } from '@gw/contract/internal/evidence-keys';
import { parseHostPort } from '@gw/contract/internal/listen';
import { readProbeListen } from '@gw/contract/internal/probe';
import type { ClientAddressSettings } from './client-address.ts';
import type { EnvoySettings } from './render.ts';
import { addressProblem } from './service-clusters.ts';

const edgeDefaults = {
  maxConnections: 20_000,
  /** An eighth of all, see connection-groups.ts. */
  maxConnectionsPerAddress: 2500,
  connectionIdleTimeoutS: 300,
  maxHeapMb: 1024,
} as const;

/** Reads Envoy's settings. Throws a ConfigurationError that names every problem. `warn` is told which variables have no effect. */
export function loadEnvoySettings(
  environment: Environment,
  templateDir: string,
  warn: (text: string) => void = () => undefined,
): EnvoySettings {
  const settings = readSettings(environment);
  const { host, port } = parseHostPort(settings.hostPort('GW_PUBLIC_LISTEN', '0.0.0.0:8080'));
  const instances = (name: string, example: string): string[] => {
    const text = settings.required(name, example);
    const addresses = readList(settings, name);
    const problem = text ? addressProblem(addresses) : null;
    if (problem) settings.problem(`${name} ${problem}. Example: ${name}=${example}`);
    return addresses;
  };
  const internalTls = readInternalTls(settings);
  const certFile = settings.optional('GW_TLS_CERT_FILE', '');
  const loaded: EnvoySettings = {
    nodeId: settings.optional('GW_NODE_ID', 'gw'),
    publicAddress: host,
    publicPort: port,
    tls: certFile
      ? {
          certFile,
          keyFile: settings.required('GW_TLS_KEY_FILE', '/etc/gw/tls/tls.key'),
        }
      : null,
    extAuthz: instances('GW_AUTHZ_LISTEN', 'unix:/run/gw/ext-authz.sock'),
    receiptSidecar: instances('GW_SIDECAR_LISTEN', 'unix:/run/gw/receipt-sidecar.sock'),
    controlPlane: instances('GW_CONTROL_INTERNAL_LISTEN', 'unix:/run/gw/control-plane.sock'),
    adminSocket: settings.required('GW_ENVOY_ADMIN_SOCKET', '/run/gw/envoy-admin.sock'),
    probeListen: readProbeListen(settings, internalTls),
    internalTls,
    accessLog: settings.optional('GW_ACCESS_LOG', '/dev/stdout'),
    addresses: settings.addresses(),
    evidenceKeys: readPublicKeys(settings),
    corsOrigins: readList(settings, 'GW_CORS_ORIGINS'),
    maxConnections: settings.integer('GW_MAX_CONNECTIONS', edgeDefaults.maxConnections),
    maxConnectionsPerAddress: settings.integer('GW_MAX_CONNECTIONS_PER_ADDRESS', edgeDefaults.maxConnectionsPerAddress),
    connectionIdleTimeoutS: settings.integer('GW_CONNECTION_IDLE_TIMEOUT_S', edgeDefaults.connectionIdleTimeoutS),
    maxHeapMb: settings.integer('GW_ENVOY_MAX_HEAP_MB', edgeDefaults.maxHeapMb),
    streamIdleTimeoutS: settings.integer('GW_STREAM_IDLE_TIMEOUT_S', 300),
    sidecarTimeoutMs: settings.integer('GW_SIDECAR_TIMEOUT_MS', 5000),
    leases: readSwitch(settings, 'GW_LEASES', 'on'),
    ...readClientAddress(settings),
    replyEndModule: settings.optional('GW_REPLY_END_MODULE', '') || null,
    templateDir,
  };
  settings.finish();
  for (const text of settings.ignored('envoy')) warn(text);
  return Object.freeze(loaded);
}

function readClientAddress(settings: SettingReader): ClientAddressSettings {
  const trustedProxies = readNetworks(settings, 'GW_TRUSTED_PROXIES');
  const proxyProtocol = readSwitch(settings, 'GW_PROXY_PROTOCOL', 'off');
  if (proxyProtocol && trustedProxies.length === 0)
    settings.problem(
      'GW_PROXY_PROTOCOL is on, but GW_TRUSTED_PROXIES is not set, so no proxy may state addresses. Example: GW_TRUSTED_PROXIES=10.0.0.0/8',
    );
  return { trustedProxies, proxyProtocol };
}

/** Reads `on` or `off`. */
function readSwitch(settings: SettingReader, name: string, fallback: 'on' | 'off'): boolean {
  const value = settings.optional(name, fallback);
  if (value !== 'on' && value !== 'off') settings.problem(`${name} is neither "on" nor "off". Example: ${name}=off`);
  return value === 'on';
}
