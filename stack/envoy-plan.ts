/** How Envoy is started: on a configuration that holds no secret, with the internal token in its environment. */
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { signingKeyOf } from '@gw/contract/internal/evidence-keys';
import { envoyFolder, followCertificateBundle } from '@gw/envoy/certificate-bundle';
import { loadEnvoySettings } from '@gw/envoy/config';
import { writeEnvoyConfig } from '@gw/envoy/render';
import { certificateVariables, internalAddress } from './internal-network.ts';
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
  settingsFor,
  type Variables,
} from './stack-plans.ts';
import type { PartPlan } from './supervise.ts';

type Tls = { readonly certFile: string; readonly keyFile: string };

export function planEnvoy(name: EnvoyName, layout: Layout, binary: string, tls: Tls | null): PartPlan {
  const configFile = join(layout.dir, `${name}.json`);
  let rendered: string | null = null;
  const render = () => {
    const from = layout.checkoutOf(name);
    // Once, so that whoever has changed the file restarts Envoy on it.
    if (from === rendered) return;
    rendered = from;
    // A file that is already there would keep its mode.
    rmSync(configFile, { force: true });
    const variables = envoyVariables(name, layout, binary, tls);
    if (from === checkout) writeEnvoyConfig(loadEnvoySettings(variables, inCheckout('envoy')), configFile);
    else renderElsewhere(from, variables, configFile);
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
      if (layout.drainS !== null)
        return orderly(await startChild({ command: process.execPath, args: drains, env, logFile }), layout);
      const socket = adminSocket(name, layout);
      // Whoever starts the stack was told already.
      const stopFollowing = followCertificateBundle({ environment: env, adminSocket: socket, tell: () => undefined });
      const child = await startChild({ command: binary, args, env, logFile, cwd: envoyFolder(socket) });
      void child.exited.then(stopFollowing);
      return orderly(child, layout);
    },
  };
}

const adminSocket = (name: EnvoyName, layout: Layout): string => join(layout.sockets, `${name}-admin.sock`);

export const accessLog = (name: EnvoyName, logs: string): string =>
  join(logs, `${name.replace('envoy', 'access')}.log`);

/** Renders with the program that a container of that release runs. */
function renderElsewhere(from: string, variables: Variables, configFile: string): void {
  execFileSync(process.execPath, [join(from, 'dist', 'render-envoy.js'), configFile], {
    env: { ...fromUser(passedOn), ...variables },
  });
}

/** The environment that Envoy's configuration is rendered from. */
export function envoyVariables(name: EnvoyName, layout: Layout, binary: string, tls: Tls | null): Variables {
  const addressesOf = (names: readonly string[]) => names.map((each) => internalAddress(layout, each)).join(',');
  return {
    GW_BASE_URL: layout.publicUrl,
    ...settingsFor('envoy'),
    GW_NODE_ID: name.replace('envoy', 'gw-local'),
    GW_PUBLIC_LISTEN: `127.0.0.1:${layout.furtherPorts[name] ?? layout.ports.public}`,
    GW_TLS_CERT_FILE: tls?.certFile,
    GW_TLS_KEY_FILE: tls?.keyFile,
    GW_AUTHZ_LISTEN: addressesOf(instanceNames('ext-authz', layout.instances)),
    GW_SIDECAR_LISTEN: addressesOf(instanceNames('receipt-sidecar', layout.instances)),
    GW_CONTROL_INTERNAL_LISTEN: addressesOf(instanceNames('control-plane', layout.controlPlanes)),
    GW_ENVOY_ADMIN_SOCKET: adminSocket(name, layout),
    GW_PROBE_LISTEN: internalAddress(layout, `${name}-probe`),
    ...certificateVariables(name, layout),
    GW_ACCESS_LOG: accessLog(name, layout.logs),
    GW_EVIDENCE_PUBLIC_KEYS: signingKeyOf(layout.secrets.evidenceKey).publicJwk.x,
    GW_REPLY_END_MODULE: replyEndModule(binary) ?? '',
    ...layout.overrides.envoy,
  };
}
