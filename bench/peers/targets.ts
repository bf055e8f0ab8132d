/**
 * Starts what is measured.
 *
 * Invariant: whatever was started is in the list of what `stop` ends, even if a later step fails.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { envoyBinary } from '@gw/stack/binaries';
import { checkout, inCheckout } from '@gw/stack/checkout';
import { freePorts } from '@gw/stack/ports';
import { type Stack, startStack } from '@gw/stack/stack';
import { z } from 'zod';
import { bareVariable } from '../bare-sidecar/variable.ts';
import { startPlainEnvoy } from '../load/plain-envoy.ts';
import type { Target } from '../load/target.ts';
import { type PeerState, startPeers } from './start.ts';

export interface Targets {
  readonly targets: readonly Target[];
  readonly peerStates: readonly PeerState[];
  readonly model: string;
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

const account = '/operator/v1/accounts/acct_demo_enterprise';

/** Another key of the account that is measured, with a budget that refuses nothing. */
async function keyWithBudget({ controlUrl, operatorToken }: Stack): Promise<string> {
  const post = async (path: string, body: object): Promise<unknown> => {
    const headers = { authorization: `Bearer ${operatorToken}`, 'content-type': 'application/json' };
    const reply = await fetch(controlUrl + account + path, { method: 'POST', headers, body: JSON.stringify(body) });
    if (!reply.ok) throw new Error(`The benchmark could not make a key with a budget: ${await reply.text()}`);
    return reply.json();
  };
  const { id, key } = z.object({ id: z.string(), key: z.string() }).parse(await post('/keys', { name: 'benchmark' }));
  await post('/budgets', { scope: 'key', name: id, unit: 'tokens', amount: 1e12, kind: 'hard' });
  return key;
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
    const where = { dir, model, providerUrl: providerUrlOf(stack), simulator: () => simulatorOf(stack) };
    const others = await startPeers({ ...where, ...watch }, peers ? undefined : []);
    ends.push(() => others.stop());
    return { targets: [...targets, ...others.targets], peerStates: others.states, model, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
