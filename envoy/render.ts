/**
 * Renders `envoy.template.yaml` as JSON, which Envoy reads in half the time that it takes for YAML.
 *
 * Invariant: a value replaces one node of the parsed template, so no setting can change the structure around it.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { heldBodyBytes } from '@gw/contract/access';
import { apiError, errorBody } from '@gw/contract/errors';
import type { InternalTls } from '@gw/contract/internal/environment';
import { finishedHeader } from '@gw/contract/internal/finished-header';
import { callerAttribute, callerField, identityNamespace } from '@gw/contract/internal/identity';
import { leasedLimitsField } from '@gw/contract/internal/lease';
import { parseDocument, visit } from 'yaml';
import {
  type ClientAddressSettings,
  onlyFromProxies,
  originalAddress,
  proxyProtocolFilters,
} from './client-address.ts';
import { connectionGroups } from './connection-groups.ts';
import { corsPolicy } from './cors.ts';
import { leaseLua } from './lease-lua.ts';
import { localReplies } from './local-replies.ts';
import { luaString } from './lua-string.ts';
import { messagesLua } from './messages-lua.ts';
import { probeListener } from './probe-listener.ts';
import { readinessFilter } from './readiness.ts';
import { replyEndFilter } from './reply-end.ts';
import { envoyRoutes, type RouteSettings } from './routes.ts';
import { plainSocket, serviceCluster } from './service-clusters.ts';
import { sinkRoutes } from './sink.ts';
import { typed } from './typed.ts';
import { internalContext, publicCertificate, writeSecretFiles } from './watched-certificates.ts';

export interface EnvoySettings extends RouteSettings, ClientAddressSettings {
  readonly nodeId: string;
  readonly publicAddress: string;
  readonly publicPort: number;
  /** PEM files, reloaded on change; null serves plain HTTP (loopback, or behind a load balancer). */
  readonly tls: { readonly certFile: string; readonly keyFile: string } | null;
  /** Addresses of the instances of each service: `unix:/path` or `host:port`. */
  readonly extAuthz: readonly string[];
  readonly receiptSidecar: readonly string[];
  readonly controlPlane: readonly string[];
  readonly adminSocket: string;
  /** Where the control plane makes test calls: `unix:/path`, or `host:port` with `internalTls`. */
  readonly probeListen: string;
  /** Certificates for services that are not on Unix sockets; null: plain. */
  readonly internalTls: InternalTls | null;
  /** A file path, or /dev/stdout. */
  readonly accessLog: string;
  /** Public keys of signed evidence, the current one first; each 32 bytes in base64url. */
  readonly evidenceKeys: readonly string[];
  /** Further connections are refused. */
  readonly maxConnections: number;
  /** 0: no limit, for use behind a load balancer. */
  readonly maxConnectionsPerAddress: number;
  /** How long a connection may be without a request, seconds, including before the first one. */
  readonly connectionIdleTimeoutS: number;
  /** Close to it Envoy first releases memory and then refuses requests. */
  readonly maxHeapMb: number;
  /** How long the sidecar may take for a message, ms; after that the reply passes without it. */
  readonly sidecarTimeoutMs: number;
  /** File of the compiled reply-end/filter.c, where Envoy runs; null: there is none. */
  readonly replyEndModule: string | null;
  /** Folder of envoy.template.yaml and the Lua filters. */
  readonly templateDir: string;
}

function downstreamTls({ tls }: EnvoySettings, base: string): object {
  if (!tls) return plainSocket;
  return {
    name: 'envoy.transport_sockets.tls',
    typed_config: typed('envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext', {
      common_tls_context: {
        alpn_protocols: ['h2', 'http/1.1'],
        tls_params: { tls_minimum_protocol_version: 'TLSv1_2' },
        ...publicCertificate(base),
      },
    }),
  };
}

const tlsInspector = {
  name: 'envoy.filters.listener.tls_inspector',
  typed_config: typed('envoy.extensions.filters.listener.tls_inspector.v3.TlsInspector'),
};

/** Writes the configuration to `path` (.json), readable only by its owner, and the files of SDS beside it. They contain no secret. */
export function writeEnvoyConfig(settings: EnvoySettings, path: string): void {
  const base = resolve(path).replace(/\.json$/, '');
  writeSecretFiles(settings, base);
  writeFileSync(path, renderEnvoy(settings, base), { mode: 0o600 });
}

/** Returns the configuration as JSON. `base`: of the files of SDS (watched-certificates.ts). */
export function renderEnvoy(settings: EnvoySettings, base: string): string {
  const { addresses } = settings;
  const lua = degradedLua(
    {
      upstreamError: errorBody(apiError(luaErrors[0]), addresses),
      receiptError: errorBody(apiError(luaErrors[1]), addresses),
    },
    settings.templateDir,
  );
  const internal = settings.internalTls && internalContext(base);
  const values = new Map<string, unknown>([
    ['NODE_ID', settings.nodeId],
    ['ADMIN_SOCKET', settings.adminSocket],
    ['MAX_CONNECTIONS', settings.maxConnections],
    ['MAX_HEAP_BYTES', settings.maxHeapMb * 1024 * 1024],
    ['CONNECTION_GROUPS', onlyFromProxies(settings, connectionGroups(settings.maxConnectionsPerAddress > 0))],
    ['USE_REMOTE_ADDRESS', settings.trustedProxies.length === 0],
    ['ORIGINAL_ADDRESS', originalAddress(settings)],
    ['CONNECTIONS_OF_A_GROUP', settings.maxConnectionsPerAddress || settings.maxConnections],
    ['CONNECTION_IDLE_TIMEOUT', `${settings.connectionIdleTimeoutS}s`],
    ['PUBLIC_ADDRESS', settings.publicAddress],
    ['PUBLIC_PORT', settings.publicPort],
    ['LISTENER_FILTERS', [...proxyProtocolFilters(settings), ...(settings.tls ? [tlsInspector] : [])]],
    ['DOWNSTREAM_TLS', downstreamTls(settings, base)],
    ['HELD_BODY_BYTES', heldBodyBytes],
    ['STREAM_IDLE_TIMEOUT', `${settings.streamIdleTimeoutS}s`],
    ['SIDECAR_TIMEOUT', `${settings.sidecarTimeoutMs / 1000}s`],
    ['SIDECAR_KEEPALIVE_TIMEOUT', `${settings.sidecarTimeoutMs / 1000 + 3}s`],
    ['ACCESS_LOG', settings.accessLog],
    ['LOCAL_REPLIES', localReplies(addresses)],
    ['ROUTES', envoyRoutes(settings)],
    ['READINESS', readinessFilter],
    ['CORS', corsPolicy(settings.corsOrigins)],
    ['CALLER_ATTRIBUTE', callerAttribute],
    ['IDENTITY', identityNamespace],
    ['CALLER_FIELD', callerField],
    ['REPLY_END', replyEndFilter(settings.replyEndModule)],
    ['LEASE_LUA', leaseLua(settings.templateDir)],
    ['MESSAGES_LUA', messagesLua(settings.templateDir)],
    ['DEGRADED_LUA', lua],
    ['PROBE_LISTENER', probeListener(settings.probeListen, internal)],
    ['SINK_ROUTES', sinkRoutes(addresses, settings.evidenceKeys)],
    ...serviceCluster('ext_authz', settings.extAuthz, internal),
    ...serviceCluster('receipt_sidecar', settings.receiptSidecar, internal),
    ...serviceCluster('control_plane', settings.controlPlane, internal),
  ]);
  return filledTemplate(readFileSync(`${settings.templateDir}/envoy.template.yaml`, 'utf8'), values);
}

function filledTemplate(text: string, values: ReadonlyMap<string, unknown>): string {
  const template = parseDocument(text.replace(/\$\{[A-Z_]+\}/g, '"$&"'), { merge: true });
  for (const error of template.errors) throw error;
  visit(template, {
    Scalar: (_, node) => {
      const text = String(node.value);
      if (!text.includes('${')) return;
      const name = text.slice(2, -1);
      if (!values.has(name)) throw new Error(`envoy.template.yaml names ${text}, which render.ts does not know.`);
      node.value = values.get(name);
    },
  });
  return JSON.stringify(template.toJS());
}

/** The errors of degraded.lua, with 502 and 500. */
export const luaErrors = ['upstream_error', 'receipt_generation_failed'] as const;

/**
 * Fills in degraded.lua. The errors are JSON bodies: `upstreamError` for failures of a provider that no mapper matches, `receiptError` for
 * a 200 that cannot contain a receipt.
 */
export function degradedLua(
  { upstreamError, receiptError }: { readonly upstreamError: string; readonly receiptError: string },
  templateDir: string,
): string {
  return readFileSync(`${templateDir}/degraded.lua`, 'utf8')
    .replace('@UPSTREAM_ERROR@', () => luaString(upstreamError))
    .replace('@RECEIPT_ERROR@', () => luaString(receiptError))
    .replace('@FINISHED@', () => luaString(finishedHeader))
    .replace('@IDENTITY@', () => luaString(identityNamespace))
    .replace('@LEASED_LIMITS@', () => luaString(leasedLimitsField));
}
