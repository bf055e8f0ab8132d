/** A second instance of a service beside that of an own gateway, with Envoy in front of both. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inCheckout } from '@gw/cli/checkout';
import { loadSecrets } from '@gw/cli/secrets';
import { type Child, startChild } from '@gw/cli/services/child';
import { parse, stringify } from 'yaml';
import { z } from 'zod';
import { readFrom } from '../outage/instances.ts';
import { eventually, type OwnGateway } from '../outage/own-gateway.ts';

const clusterSchema = z.looseObject({
  name: z.string(),
  load_assignment: z
    .looseObject({ endpoints: z.array(z.looseObject({ lb_endpoints: z.array(z.looseObject({})) })) })
    .optional(),
});
const configuration = z.looseObject({ static_resources: z.looseObject({ clusters: z.array(clusterSchema) }) });

export interface SecondInstance {
  /** How many calls each of the two instances has answered, as Envoy counts them. */
  answered(): Promise<readonly number[]>;
  /** `kill -9`; it stays away until it is started. */
  kill(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** `env`: more variables of the second instance. */
export function addExtAuthz(gateway: OwnGateway, env: Record<string, string> = {}): Promise<SecondInstance> {
  const { stack, dir } = gateway;
  return addInstance(gateway, 'ext-authz', (listen) => ({
    GW_AUTHZ_LISTEN: listen,
    GW_DATABASE_URL: stack.databaseUrl,
    GW_KEY_PEPPER: loadSecrets(dir).pepper,
    ...env,
  }));
}

export function addSidecar(gateway: OwnGateway, env: Record<string, string> = {}): Promise<SecondInstance> {
  const spool = join(gateway.dir, 'spool-2');
  mkdirSync(spool);
  return addInstance(gateway, 'receipt-sidecar', (listen) => ({
    GW_SIDECAR_LISTEN: listen,
    GW_SPOOL_DIR: spool,
    ...env,
  }));
}

async function addInstance(
  gateway: OwnGateway,
  name: 'ext-authz' | 'receipt-sidecar',
  variables: (listen: string) => Record<string, string>,
): Promise<SecondInstance> {
  const { dir, stack } = gateway;
  const socket = join(stack.sockets, `${name}-2.sock`);
  const logFile = join(stack.logs, `${name}-2.log`);
  const env = {
    PATH: process.env.PATH,
    GW_REDIS_URL: stack.redisUrl,
    GW_BASE_URL: stack.publicUrl,
    GW_INTERNAL_TOKEN: loadSecrets(dir).internalToken,
    ...variables(`unix:${socket}`),
  };
  const begin = async (): Promise<Child> => {
    const command = process.execPath;
    const started = await startChild({ command, args: [inCheckout('dist', `${name}.js`)], env, logFile });
    await eventually(`the second ${name}`, () => existsSync(socket));
    return started;
  };
  let child = await begin();
  const cluster = name.replace('-', '_');
  const envoy = stack.part('envoy');
  await envoy.stop();
  const file = join(dir, 'envoy.yaml');
  writeFileSync(file, withEndpoint(readFileSync(file, 'utf8'), cluster, socket));
  await gateway.start('envoy');
  const admin = join(stack.sockets, 'envoy-admin.sock');
  return {
    kill: async () => {
      child.kill('SIGKILL');
      await child.exited;
      // What a killed process leaves behind.
      rmSync(socket, { force: true });
    },
    start: async () => {
      child = await begin();
    },
    answered: async () => {
      const text = await readFrom(admin, '/clusters');
      const counts = text.matchAll(new RegExp(`^${cluster}::\\S+::rq_total::(\\d+)$`, 'gm'));
      return [...counts].map(([, count]) => Number(count));
    },
    stop: () => child.stop(),
  };
}

/** The same configuration, where `cluster` has one more endpoint. */
function withEndpoint(text: string, cluster: string, socket: string): string {
  const config = configuration.parse(parse(text, { merge: true }));
  const found = config.static_resources.clusters.find(({ name }) => name === cluster);
  const endpoints = found?.load_assignment?.endpoints[0]?.lb_endpoints;
  if (!endpoints) throw new Error(`Envoy has no cluster ${cluster} with endpoints.`);
  endpoints.push({ endpoint: { address: { pipe: { path: socket } } } });
  return stringify(config, { aliasDuplicateObjects: false });
}
