/** A second ext-authz beside that of an own gateway, with Envoy in front of both. */
import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { inCheckout } from '@gw/cli/checkout';
import { loadSecrets } from '@gw/cli/secrets';
import { startChild } from '@gw/cli/services/child';
import { parse, stringify } from 'yaml';
import { z } from 'zod';
import { eventually, type OwnGateway } from '../outage/own-gateway.ts';

const cluster = z.looseObject({
  name: z.string(),
  load_assignment: z
    .looseObject({ endpoints: z.array(z.looseObject({ lb_endpoints: z.array(z.looseObject({})) })) })
    .optional(),
});
const configuration = z.looseObject({ static_resources: z.looseObject({ clusters: z.array(cluster) }) });

export interface SecondInstance {
  /** How many checks each of the two instances has answered, as Envoy counts them. */
  answered(): Promise<readonly number[]>;
  stop(): Promise<void>;
}

/** `env`: more variables of the second instance. */
export async function addExtAuthz(gateway: OwnGateway, env: Record<string, string> = {}): Promise<SecondInstance> {
  const { dir, stack } = gateway;
  const { internalToken, pepper } = loadSecrets(dir);
  const socket = join(stack.sockets, 'ext-authz-2.sock');
  const child = await startChild({
    command: process.execPath,
    args: [inCheckout('dist', 'ext-authz.js')],
    env: {
      PATH: process.env.PATH,
      GW_AUTHZ_LISTEN: `unix:${socket}`,
      GW_DATABASE_URL: stack.databaseUrl,
      GW_REDIS_URL: stack.redisUrl,
      GW_BASE_URL: stack.publicUrl,
      GW_INTERNAL_TOKEN: internalToken,
      GW_KEY_PEPPER: pepper,
      ...env,
    },
    logFile: join(stack.logs, 'ext-authz-2.log'),
  });
  await eventually('the second ext-authz', () =>
    readFileSync(join(stack.logs, 'ext-authz-2.log'), 'utf8').includes('"ready"'),
  );
  const envoy = stack.part('envoy');
  await envoy.stop();
  writeFileSync(join(dir, 'envoy.yaml'), withEndpoint(readFileSync(join(dir, 'envoy.yaml'), 'utf8'), socket));
  await gateway.start('envoy');
  const admin = join(stack.sockets, 'envoy-admin.sock');
  return {
    answered: async () => {
      const text = await readFrom(admin, '/clusters');
      return [...text.matchAll(/^ext_authz::\S+::rq_total::(\d+)$/gm)].map(([, count]) => Number(count));
    },
    stop: () => child.stop(),
  };
}

/** The same configuration, where ext_authz has one more endpoint. */
function withEndpoint(text: string, socket: string): string {
  const config = configuration.parse(parse(text, { merge: true }));
  const found = config.static_resources.clusters.find(({ name }) => name === 'ext_authz');
  const endpoints = found?.load_assignment?.endpoints[0]?.lb_endpoints;
  if (!endpoints) throw new Error('Envoy has no cluster ext_authz with endpoints.');
  endpoints.push({ endpoint: { address: { pipe: { path: socket } } } });
  return stringify(config, { aliasDuplicateObjects: false });
}

/** What Envoy's admin interface says. */
export function readFrom(socketPath: string, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request({ socketPath, path, headers: { host: 'localhost' } }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (data: string) => {
        text += data;
      });
      response.on('end', () => resolve(text));
    });
    sent.on('error', reject);
    sent.end();
  });
}
