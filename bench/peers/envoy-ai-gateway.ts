/**
 * Envoy AI Gateway as `aigw run` starts it, on the release of Envoy that the gateway itself runs on.
 *
 * It is the one peer that cannot be kept to itself: its release listens on fixed ports of all addresses, without a key, and writes
 * certificates with their keys into the home of its user, whatever HOME says, where those of an Envoy Gateway of one's own would be. So
 * it is not started where there are any, and they are removed behind it.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { envoyBinary, envoyPackage } from '@gw/stack/binaries';
import { inCheckout } from '@gw/stack/checkout';
import { goProgram } from '@gw/stack/environments';
import { workersOfEnvoy } from '../load/plain-envoy.ts';
import type { Peer, PeerPlace } from './peer.ts';

const version = '1.1.0';
const program = 'aigw';
const module = `github.com/envoyproxy/ai-gateway/cmd/aigw@v${version}`;

export const envoyAiGateway: Peer = {
  name: 'envoy-ai-gateway',
  version: () => version,
  install: async (log) => {
    const dir = inCheckout('.deps', 'peer-envoy-ai-gateway');
    const named = process.env.GW_AIGW_BIN;
    link(named ? checked(resolve(named)) : await goProgram(module, log), join(dir, program));
    // Where it looks for an Envoy before it fetches one.
    link(await envoyBinary(log), join(dir, 'envoy-versions', envoyPackage.version, 'bin', 'envoy'));
    return dir;
  },
  plan: (place) => ({
    command: join(place.installed, program),
    args: ['run', 'resources.yaml', '--run-id', '0', '--admin-port', '0'],
    env: {
      HOME: place.dir,
      AIGW_CONFIG_HOME: place.dir,
      AIGW_DATA_HOME: place.installed,
      AIGW_STATE_HOME: join(place.dir, 'state'),
      AIGW_RUNTIME_DIR: join(place.dir, 'run'),
      OTEL_SDK_DISABLED: 'true',
    },
    // JSON is YAML too.
    files: {
      'resources.yaml': resourcesOf(place)
        .map((each) => JSON.stringify(each, null, 2))
        .join('\n---\n'),
    },
    leaves: [join('.config', 'envoy-gateway'), join('.local', 'share', 'envoy-gateway')].map((path) =>
      join(userInfo().homedir, path),
    ),
    headers: {},
  }),
};

/** The path, if it is a program that says that it is this release, or a build that does not know. */
function checked(path: string): string {
  const { stdout } = spawnSync(path, ['version'], { encoding: 'utf8' });
  const [, told] = /^Envoy AI Gateway CLI: v?(\S+)/.exec(stdout ?? '') ?? [];
  if (told === version || told === 'dev') return path;
  throw new Error(`GW_AIGW_BIN has to name aigw ${version}; ${path} is ${told ?? 'something else'}.`);
}

function link(target: string, path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  rmSync(path, { force: true });
  symlinkSync(target, path);
}

const gatewayGroup = 'gateway.networking.k8s.io';
const envoyGroup = 'gateway.envoyproxy.io';
const aiGroup = 'aigateway.envoyproxy.io';
const provider = { group: envoyGroup, kind: 'Backend', name: 'provider' };
const gatewayName = 'measured';

/** One model at one provider, by its own resources of Kubernetes: no keys, limits, costs or access log. */
function resourcesOf({ model, port, providerUrl }: PeerPlace): object[] {
  const { hostname, port: providerPort } = new URL(providerUrl);
  const resource = (apiVersion: string, kind: string, name: string, spec: object) => ({
    apiVersion,
    kind,
    metadata: { name, namespace: 'default' },
    spec,
  });
  const gateway = {
    gatewayClassName: gatewayName,
    listeners: [{ name: 'http', protocol: 'HTTP', port }],
    infrastructure: { parametersRef: { group: envoyGroup, kind: 'EnvoyProxy', name: gatewayName } },
  };
  const envoy = {
    concurrency: workersOfEnvoy(),
    provider: { type: 'Host', host: { envoyVersion: envoyPackage.version } },
    logging: { level: { default: 'error' } },
    telemetry: { accessLog: { disable: true } },
  };
  const route = {
    parentRefs: [{ group: gatewayGroup, kind: 'Gateway', name: gatewayName }],
    rules: [
      {
        matches: [{ headers: [{ type: 'Exact', name: 'x-ai-eg-model', value: model }] }],
        backendRefs: [{ name: provider.name }],
      },
    ],
  };
  return [
    resource(`${gatewayGroup}/v1`, 'GatewayClass', gatewayName, {
      controllerName: `${envoyGroup}/gatewayclass-controller`,
    }),
    resource(`${gatewayGroup}/v1`, 'Gateway', gatewayName, gateway),
    resource(`${envoyGroup}/v1alpha1`, 'EnvoyProxy', gatewayName, envoy),
    resource(`${aiGroup}/v1beta1`, 'AIGatewayRoute', gatewayName, route),
    resource(`${aiGroup}/v1beta1`, 'AIServiceBackend', provider.name, {
      schema: { name: 'OpenAI' },
      backendRef: provider,
    }),
    resource(`${envoyGroup}/v1alpha1`, provider.kind, provider.name, {
      endpoints: [{ ip: { address: hostname, port: Number(providerPort) } }],
    }),
  ];
}
