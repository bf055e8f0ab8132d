/**
 * Starts what is measured.
 *
 * Invariant: whatever was started is in the list of what `stop` ends, also if a later step fails.
 */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { envoyBinary } from '@gw/cli/binaries';
import { inCheckout } from '@gw/cli/checkout';
import { freePorts } from '@gw/cli/ports';
import { startChild } from '@gw/cli/services/child';
import { type Stack, startStack } from '@gw/cli/stack';
import { startPlainEnvoy } from './plain-envoy.ts';
import type { Target } from './target.ts';

export interface Targets {
  readonly targets: readonly Target[];
  readonly model: string;
  /** Puts the logs where `stop` does not remove them, and returns that folder. */
  keepLogs(): string;
  stop(): Promise<void>;
}

interface Watch {
  readonly log: (line: string) => void;
  readonly signal: AbortSignal;
}

const SIM_MODEL = 'sim-small';

interface Provider {
  readonly port: number;
  readonly pid: () => number | undefined;
  readonly stack: Stack | null;
}

async function startSimulatorAlone(dir: string, ends: (() => Promise<void>)[]): Promise<Provider> {
  const [port = 0] = await freePorts(1);
  const child = await startChild({
    command: process.execPath,
    args: [inCheckout('dist', 'simulator.js')],
    env: { PATH: process.env.PATH, GW_SIM_LISTEN: `127.0.0.1:${port}` },
    logFile: join(dir, 'simulator.log'),
  });
  ends.push(() => child.stop());
  return { port, pid: () => child.pid, stack: null };
}

async function startWithGateway(dir: string, watch: Watch, ends: (() => Promise<void>)[]): Promise<Provider> {
  const stack = await startStack({ dir, ...watch });
  ends.push(() => stack.stop());
  return { port: Number(new URL(stack.simulatorUrl).port), pid: () => stack.pids().simulator, stack };
}

function targetsOf(provider: Provider, envoyPort: number, envoyPid: number): Target[] {
  const simulator = (): Record<string, number> => {
    const pid = provider.pid();
    return pid === undefined ? {} : { simulator: pid };
  };
  const targets: Target[] = [
    { name: 'provider', baseUrl: `http://127.0.0.1:${provider.port}/v1`, headers: {}, pids: simulator },
    {
      name: 'envoy',
      baseUrl: `http://127.0.0.1:${envoyPort}/v1`,
      headers: {},
      pids: () => ({ ...simulator(), envoy: envoyPid }),
    },
  ];
  const { stack } = provider;
  if (stack !== null) {
    // The address and not "localhost", because looking a name up would be part of what is measured.
    const { port } = new URL(stack.publicUrl);
    targets.push({
      name: 'gateway',
      baseUrl: `http://127.0.0.1:${port}/v1`,
      headers: { authorization: `Bearer ${stack.keys.enterprise}` },
      pids: () => stack.pids(),
    });
  }
  return targets;
}

/** Everything lies in a folder of its own, is new, and is removed by `stop`. */
export async function startTargets(withGateway: boolean, watch: Watch): Promise<Targets> {
  const dir = mkdtempSync(join(tmpdir(), 'gw-bench-'));
  const ends: (() => Promise<void>)[] = [async () => rmSync(dir, { recursive: true, force: true })];
  const stop = async (): Promise<void> => {
    for (const end of ends.splice(0).reverse()) await end();
  };
  try {
    const binary = await envoyBinary(watch.log);
    const provider = withGateway ? await startWithGateway(dir, watch, ends) : await startSimulatorAlone(dir, ends);
    const [port = 0] = await freePorts(1);
    const concurrency = Math.min(availableParallelism(), 8);
    await waitForProvider(provider.port);
    const envoy = await startPlainEnvoy({ binary, dir, port, upstreamPort: provider.port, concurrency });
    ends.push(() => envoy.stop());
    return {
      targets: targetsOf(provider, port, envoy.pid),
      model: provider.stack?.model ?? SIM_MODEL,
      keepLogs: () => copyLogs(provider.stack?.logs ?? dir),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function copyLogs(from: string): string {
  const kept = inCheckout('.gw', 'logs', 'last-bench');
  rmSync(kept, { recursive: true, force: true });
  cpSync(from, kept, { recursive: true, filter: (file) => file === from || file.endsWith('.log') });
  return kept;
}

async function waitForProvider(port: number): Promise<void> {
  const end = performance.now() + 10_000;
  for (;;) {
    try {
      await (await fetch(`http://127.0.0.1:${port}/healthz`)).text();
      return;
    } catch (error) {
      if (performance.now() > end) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}
