/**
 * Starts what is measured.
 *
 * Invariant: whatever was started is in the list of what `stop` ends, even if a later step fails.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { envoyBinary } from '@gw/stack/binaries';
import { checkout, inCheckout } from '@gw/stack/checkout';
import { freePorts } from '@gw/stack/ports';
import { type Stack, startStack } from '@gw/stack/stack';
import { z } from 'zod';
import { bareVariable } from '../bare-sidecar/variable.ts';
import type { ApiModels } from '../load/apis.ts';
import { startPlainEnvoy } from '../load/plain-envoy.ts';
import type { Target } from '../load/target.ts';
import { type PeerState, startPeers } from './start.ts';

export interface Targets {
  readonly targets: readonly Target[];
  readonly peerStates: readonly PeerState[];
  readonly model: string;
  readonly apiModels: ApiModels;
  stop(): Promise<void>;
}

interface Watch {
  readonly log: (line: string) => void;
  readonly signal: AbortSignal;
}

interface Wanted extends Watch {
  /** Whether other gateways are measured too. */
  readonly peers: boolean;
}

async function post({ controlUrl, operatorToken }: Stack, path: string, body: object): Promise<unknown> {
  const headers = { authorization: `Bearer ${operatorToken}`, 'content-type': 'application/json' };
  const url = `${controlUrl}/operator/v1${path}`;
  const reply = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!reply.ok) throw new Error(`The benchmark could not prepare its gateway: ${await reply.text()}`);
  return reply.json();
}

const account = '/accounts/acct_demo_enterprise';

/** Another key of the account that is measured, with a budget that refuses nothing. */
async function keyWithBudget(stack: Stack): Promise<string> {
  const issued = z.object({ id: z.string(), key: z.string() });
  const { id, key } = issued.parse(await post(stack, `${account}/keys`, { name: 'benchmark' }));
  const budget = { scope: 'key', name: id, unit: 'tokens', amount: 1e12, kind: 'hard' };
  await post(stack, `${account}/budgets`, budget);
  return key;
}

/** The simulator's model under another name, behind a provider that speaks these APIs. */
async function modelBehind(stack: Stack, id: string, apis: readonly string[]): Promise<string> {
  await post(stack, '/providers', { id, name: id, base_url: providerUrlOf(stack), kind: 'simulator', apis });
  const facts = { owned_by: 'benchmark', kind: 'chat', active_parameters_b: 8, total_parameters_b: 8 };
  await post(stack, '/models', { id, ...facts, model_class: 'small' });
  const deployment = { id, provider: id, region: 'us-east', pue: 1.2, models: { [id]: modelOf(stack) } };
  await post(stack, '/deployments', deployment);
  const body = JSON.stringify({ model: id, input: 'Hello', max_output_tokens: 1 });
  const headers = { authorization: `Bearer ${stack.keys.enterprise}`, 'content-type': 'application/json' };
  const isOffered = async () =>
    (await fetch(`${stack.publicUrl}/v1/responses`, { method: 'POST', headers, body })).status === 200;
  for (let tries = 0; !(await isOffered()); tries += 1) {
    if (tries === 100) throw new Error(`The gateway does not answer for the model ${id}.`);
    await delay(200);
  }
  return id;
}

// The address and not "localhost", because looking a name up would be part of what is measured.
const at = (port: number | string): string => `http://127.0.0.1:${port}/v1`;
const providerUrlOf = (stack: Stack): string => at(new URL(stack.simulatorUrl).port);

function simulatorOf(stack: Stack): Record<string, number> {
  const pid = stack.pids().simulator;
  return pid === undefined ? {} : { simulator: pid };
}

/** The whole gateway, asked with this key. */
export const gatewayOf = (stack: Stack, key: string, name: Target['name'] = 'gateway'): Target => ({
  name,
  baseUrl: at(new URL(stack.publicUrl).port),
  headers: { authorization: `Bearer ${key}` },
  pids: () => stack.pids(),
});

export const modelOf = (stack: Stack): string => stack.model ?? 'sim-small';

/** A gateway of its own, with a sidecar that does no work, and a simulator of its own. */
export async function startBareGateway(dir: string, watch: Watch): Promise<Stack> {
  const folder = join(dir, 'bare-checkout');
  mkdirSync(join(folder, 'dist'), { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  const program = pathToFileURL(inCheckout('dist', 'bare-sidecar.js')).href;
  writeFileSync(join(folder, 'dist', 'receipt-sidecar.js'), `import ${JSON.stringify(program)};\n`);
  const checkoutOf = (part: string) => (part === 'receipt-sidecar' ? folder : checkout);
  const env = { 'receipt-sidecar': { [bareVariable]: 'yes' } };
  return startStack({ dir: join(dir, 'bare'), checkoutOf, env, ...watch });
}

function targetsOf(stack: Stack, budgetKey: string, envoyPort: number, envoyPid: number): Target[] {
  const simulator = () => simulatorOf(stack);
  return [
    { name: 'provider', baseUrl: providerUrlOf(stack), headers: {}, pids: simulator },
    { name: 'envoy', baseUrl: at(envoyPort), headers: {}, pids: () => ({ ...simulator(), envoy: envoyPid }) },
    gatewayOf(stack, stack.keys.enterprise),
    gatewayOf(stack, budgetKey, 'budget'),
  ];
}

/** Everything lies in a folder of its own, is new, and is removed by `stop`. */
export async function startTargets({ peers, ...watch }: Wanted): Promise<Targets> {
  const dir = mkdtempSync(join(tmpdir(), 'gw-bench-'));
  const ends: (() => Promise<void>)[] = [async () => rmSync(dir, { recursive: true, force: true })];
  const stop = async (): Promise<void> => {
    for (const end of ends.splice(0).reverse()) await end();
  };
  try {
    const binary = await envoyBinary(watch.log);
    const stack = await startStack({ dir, ...watch });
    ends.push(() => stack.stop());
    const budgetKey = await keyWithBudget(stack);
    const [port = 0] = await freePorts(1);
    const upstreamPort = Number(new URL(stack.simulatorUrl).port);
    const envoy = await startPlainEnvoy({ binary, dir, port, upstreamPort });
    ends.push(() => envoy.stop());
    const bare = await startBareGateway(dir, watch);
    ends.push(() => bare.stop());
    const targets = [...targetsOf(stack, budgetKey, port, envoy.pid), gatewayOf(bare, bare.keys.enterprise, 'bare')];
    const model = modelOf(stack);
    const apiModels = {
      everyApi: await modelBehind(stack, 'every-api', ['chat', 'responses', 'messages']),
      chatAlone: await modelBehind(stack, 'chat-alone', ['chat']),
    };
    const where = { dir, model, providerUrl: providerUrlOf(stack), simulator: () => simulatorOf(stack) };
    const others = await startPeers({ ...where, ...watch }, peers ? undefined : []);
    ends.push(() => others.stop());
    return { targets: [...targets, ...others.targets], peerStates: others.states, model, apiModels, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
