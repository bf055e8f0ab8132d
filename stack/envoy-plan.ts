/** How Envoy is started: on a configuration that holds no secret, with the internal token in its environment. */
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { signingKeyOf } from '@gw/contract/internal/evidence-keys';
import { findCertificateBundle, installCertificateBundle } from '@gw/envoy/certificate-bundle';
import { edgeDefaults, readOrigins } from '@gw/envoy/config';
import { type EnvoySettings, writeEnvoyConfig } from '@gw/envoy/render';
import { replyEndModule } from './machine/binaries.ts';
import { checkout, inCheckout } from './machine/checkout.ts';
import { startChild } from './machine/child.ts';
import {
  type EnvoyName,
  fromUser,
  instanceNames,
  type Layout,
  logFileOf,
  orderly,
  passedOn,
  socketAddress,
} from './stack-plans.ts';
import type { PartPlan } from './supervise.ts';

type Tls = { readonly certFile: string; readonly keyFile: string };

export function planEnvoy(name: EnvoyName, layout: Layout, binary: string, tls: Tls | null): PartPlan {
  const configFile = join(layout.dir, `${name}.yaml`);
  let rendered: string | null = null;
  const render = () => {
    const from = layout.checkoutOf(name);
    // Once, so that whoever has changed the file restarts Envoy on it.
    if (from === rendered) return;
    rendered = from;
    // A file that is already there would keep its mode.
    rmSync(configFile, { force: true });
    const given = settings(name, layout, binary, tls);
    if (from === checkout) writeEnvoyConfig(given, configFile);
    else renderElsewhere(from, given, configFile);
  };
  const logFile = logFileOf(layout.logs, name);
  const concurrency = String(Math.min(availableParallelism(), 8));
  const args = [
    ...['-c', configFile, '--concurrency', concurrency, '--log-level', 'warning'],
    // Hot restart needs shared memory that a killed Envoy leaves behind, and we never use it.
    '--disable-hot-restart',
    // The way to a provider that has changed is left with the next call, not some time in the next ten minutes.
    ...['--drain-strategy', 'immediate'],
  ];
  const env = {
    ...fromUser(passedOn),
    GW_INTERNAL_TOKEN: layout.secrets.internalToken,
    GW_ENVOY_ADMIN_SOCKET: adminSocket(name, layout),
    GW_ENVOY_DRAIN_NOTICE_S: '1',
    GW_ENVOY_DRAIN_S: String(layout.drainS ?? 0),
    ...layout.overrides.envoy,
  };
  return {
    name,
    logFile,
    start: async () => {
      render();
      rmSync(adminSocket(name, layout), { force: true });
      // As in a container. By itself Envoy ends at once.
      const drains = [inCheckout('envoy', 'run-main.ts'), binary, ...args];
      if (layout.drainS === null) installCertificateBundle(findCertificateBundle(env), adminSocket(name, layout));
      const run = layout.drainS === null ? { command: binary, args } : { command: process.execPath, args: drains };
      return orderly(await startChild({ ...run, env, logFile }), layout);
    },
  };
}

const adminSocket = (name: EnvoyName, layout: Layout): string => join(layout.sockets, `${name}-admin.sock`);

export const accessLog = (name: EnvoyName, logs: string): string =>
  join(logs, `${name.replace('envoy', 'access')}.log`);

/** Renders with the program that a container of that release runs. */
function renderElsewhere(from: string, given: EnvoySettings, configFile: string): void {
  const variables = {
    GW_NODE_ID: given.nodeId,
    GW_PUBLIC_LISTEN: `${given.publicAddress}:${given.publicPort}`,
    GW_AUTHZ_LISTEN: given.extAuthz.join(','),
    GW_SIDECAR_LISTEN: given.receiptSidecar.join(','),
    GW_CONTROL_INTERNAL_LISTEN: given.controlPlane.join(','),
    GW_ENVOY_ADMIN_SOCKET: given.adminSocket,
    GW_PROBE_LISTEN: given.probeListen,
    GW_ACCESS_LOG: given.accessLog,
    GW_BASE_URL: given.addresses.baseUrl,
    GW_EVIDENCE_PUBLIC_KEYS: given.evidenceKeys.join(','),
    GW_REPLY_END_MODULE: given.replyEndModule ?? '',
  };
  execFileSync(process.execPath, [join(from, 'dist', 'render-envoy.js'), configFile], {
    env: { ...fromUser(passedOn), ...variables },
  });
}

/** Bounds of the edge, as the containers have them; the variables are for tests. */
function edgeSettings(layout: Layout) {
  const { GW_ENVOY_MAX_HEAP_MB: heap, GW_MAX_CONNECTIONS_PER_ADDRESS: perAddress } = layout.overrides.envoy ?? {};
  return {
    ...edgeDefaults,
    ...(heap !== undefined && { maxHeapMb: Number(heap) }),
    ...(perAddress !== undefined && { maxConnectionsPerAddress: Number(perAddress) }),
  };
}

function settings(name: EnvoyName, layout: Layout, binary: string, tls: Tls | null): EnvoySettings {
  return {
    nodeId: name.replace('envoy', 'gw-local'),
    publicAddress: '127.0.0.1',
    publicPort: layout.furtherPorts[name] ?? layout.ports.public,
    tls: tls ? { ...tls, sdsFile: join(layout.dir, 'tls.sds.json') } : null,
    extAuthz: instanceNames('ext-authz', layout.instances).map((each) => socketAddress(layout, each)),
    receiptSidecar: instanceNames('receipt-sidecar', layout.instances).map((each) => socketAddress(layout, each)),
    controlPlane: instanceNames('control-plane', layout.controlPlanes).map((each) => socketAddress(layout, each)),
    adminSocket: adminSocket(name, layout),
    probeListen: socketAddress(layout, `${name}-probe`),
    accessLog: accessLog(name, layout.logs),
    addresses: {
      baseUrl: process.env.GW_BASE_URL ?? layout.publicUrl,
      ...(process.env.GW_DOCS_URL && { docsUrl: process.env.GW_DOCS_URL }),
      statusUrl: process.env.GW_STATUS_URL ?? 'https://status.example.com',
      auditEmail: process.env.GW_AUDIT_EMAIL ?? 'audit@example.com',
      securityEmail: process.env.GW_SECURITY_EMAIL ?? 'security@example.com',
    },
    evidenceKeys: [signingKeyOf(layout.secrets.evidenceKey).publicJwk.x],
    // All parts of this machine talk over Unix sockets.
    internalTls: null,
    corsOrigins: readOrigins(layout.overrides.envoy?.GW_CORS_ORIGINS ?? process.env.GW_CORS_ORIGINS ?? ''),
    ...edgeSettings(layout),
    streamIdleTimeoutS: 300,
    sidecarTimeoutMs: 5000,
    leases: true,
    replyEndModule: replyEndModule(binary),
    templateDir: inCheckout('envoy'),
  };
}
