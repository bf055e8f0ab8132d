/**
 * The servers behind the gateway: its simulator, and two from elsewhere, aimock and a LiteLLM proxy with a mocked model.
 * Each has a region of its own.
 */
import { join } from 'node:path';
import { inCheckout } from '@gw/stack/checkout';
import { type Child, startChild } from '@gw/stack/child';
import { freePorts } from '@gw/stack/ports';
import { z } from 'zod';
import { apiOf } from '../../operator-api.ts';
import { eventually, type OwnGateway } from '../../outage/own-gateway.ts';
import type { Packages } from './packages.ts';

/** The name of each provider, and the model that examples ask for. */
export const backends = { simulator: 'sim-small', litellm: 'litellm/chat', aimock: 'aimock/chat' } as const;

const file = (...path: string[]) => inCheckout('test', 'long', 'frameworks', ...path);
export const masterKey = 'sk-key-of-the-proxy-0123456789abcdef';
const mockScript = ['node_modules', '@copilotkit', 'aimock', 'dist', 'cli.js'];

/** Starts LiteLLM's own server, which has its models from the file beside this one. */
export function startLitellm(gateway: OwnGateway, python: string, port: number): Promise<Child> {
  const bind = ['--host', '127.0.0.1', '--port', String(port), '--telemetry', 'False'];
  return startChild({
    command: join(python, '..', 'litellm'),
    args: ['--config', file('litellm-proxy', 'config.yaml'), ...bind],
    logFile: join(gateway.dir, 'logs', 'litellm.log'),
    cwd: gateway.dir,
    env: {
      ...environment(gateway),
      LITELLM_MASTER_KEY: masterKey,
      LITELLM_LOCAL_MODEL_COST_MAP: 'True',
      SIMULATOR: gateway.stack.simulatorUrl,
      SIMULATOR_V1: `${gateway.stack.simulatorUrl}/v1`,
    },
  });
}
const environment = ({ dir }: OwnGateway) => ({ PATH: process.env.PATH, HOME: dir, LANG: 'C.UTF-8' });

/** Starts both servers, and returns when a call passes to each. */
export async function startBackends(gateway: OwnGateway, { node, python }: Packages) {
  const [proxyPort = 0, mockPort = 0] = await freePorts(2);
  const children: Child[] = [];
  const stop = async () => {
    await Promise.all(children.map((child) => child.stop()));
  };
  try {
    children.push(await startLitellm(gateway, python['litellm-proxy'], proxyPort));
    const args = ['--fixtures', file('aimock.json'), '--strict', '--host', '127.0.0.1', '--port', String(mockPort)];
    children.push(
      await startChild({
        command: process.execPath,
        args: [join(node, ...mockScript), ...args],
        logFile: join(gateway.dir, 'logs', 'aimock.log'),
        cwd: gateway.dir,
        env: environment(gateway),
      }),
    );
    await addProvider(gateway, {
      id: 'litellm',
      model: backends.litellm,
      inner: 'mock-chat',
      key: masterKey,
      url: `http://127.0.0.1:${proxyPort}/v1`,
    });
    await addProvider(gateway, {
      id: 'aimock',
      model: backends.aimock,
      inner: 'any-name',
      url: `http://127.0.0.1:${mockPort}/v1`,
    });
    for (const model of Object.values(backends)) {
      const answers = async () => (await gateway.client.chat({ model, sim: {} })).status === 200;
      await eventually(`${model} to answer`, answers, 120_000);
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return { stop, streamsOfMock: () => streamsOf(mockPort) };
}

const journal = z.array(z.looseObject({ body: z.looseObject({ stream: z.boolean().optional() }) }));

/** Whether each call asked for a stream, of all that aimock has had so far. */
async function streamsOf(mockPort: number): Promise<boolean[]> {
  const reply = await fetch(`http://127.0.0.1:${mockPort}/__aimock/journal?path=/v1/chat/completions`);
  return journal.parse(await reply.json()).map(({ body }) => body.stream === true);
}

interface Behind {
  /** Names the provider, its region and its deployment. */
  readonly id: string;
  readonly url: string;
  readonly model: string;
  /** The name of the model there. */
  readonly inner: string;
  readonly key?: string;
  /** Default: those of the catalogue. */
  readonly apis?: readonly string[];
  /** A simulator gets the headers that steer it. */
  readonly kind?: 'simulator';
}

/** Offers a model that this server alone serves. */
export async function addProvider(gateway: OwnGateway, behind: Behind): Promise<void> {
  const { apis, id, inner, key, kind, model, url } = behind;
  const { send } = apiOf(gateway.stack);
  const credential = id.toUpperCase().replaceAll('-', '_');
  const access = { ...(key !== undefined && { credential_ref: credential }), ...(apis && { apis }) };
  await send('POST', '/operator/v1/providers', { id, name: id, kind: kind ?? 'openai', base_url: url, ...access });
  if (key !== undefined) await send('PUT', `/operator/v1/credentials/${credential}`, { value: key, base_url: url });
  await send('POST', '/operator/v1/regions', { code: id, name: id, country: 'FR', grid_zone: 'FRA' });
  await send('POST', '/operator/v1/models', { id: model, owned_by: id, kind: 'chat', model_class: 'small' });
  const models = { [model]: inner };
  await send('POST', '/operator/v1/deployments', { id, provider: id, region: id, models, pue: 1.1 });
}
