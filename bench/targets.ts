/**
 * Starts what is measured.
 *
 * Invariant: whatever was started is in the list of what `stop` ends, even if a later step fails.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { envoyBinary } from '@gw/stack/binaries';
import { freePorts } from '@gw/stack/ports';
import { type Stack, startStack } from '@gw/stack/stack';
import { startPlainEnvoy } from './plain-envoy.ts';
import type { Target } from './target.ts';

export interface Targets {
  readonly targets: readonly Target[];
  readonly model: string;
  stop(): Promise<void>;
}

interface Watch {
  readonly log: (line: string) => void;
  readonly signal: AbortSignal;
}

function targetsOf(stack: Stack, envoyPort: number, envoyPid: number): Target[] {
  // The address and not "localhost", because looking a name up would be part of what is measured.
  const at = (port: number | string): string => `http://127.0.0.1:${port}/v1`;
  const simulator = (): Record<string, number> => {
    const pid = stack.pids().simulator;
    return pid === undefined ? {} : { simulator: pid };
  };
  return [
    { name: 'provider', baseUrl: at(new URL(stack.simulatorUrl).port), headers: {}, pids: simulator },
    { name: 'envoy', baseUrl: at(envoyPort), headers: {}, pids: () => ({ ...simulator(), envoy: envoyPid }) },
    {
      name: 'gateway',
      baseUrl: at(new URL(stack.publicUrl).port),
      headers: { authorization: `Bearer ${stack.keys.enterprise}` },
      pids: () => stack.pids(),
    },
  ];
}

/** Everything lies in a folder of its own, is new, and is removed by `stop`. */
export async function startTargets(watch: Watch): Promise<Targets> {
  const dir = mkdtempSync(join(tmpdir(), 'gw-bench-'));
  const ends: (() => Promise<void>)[] = [async () => rmSync(dir, { recursive: true, force: true })];
  const stop = async (): Promise<void> => {
    for (const end of ends.splice(0).reverse()) await end();
  };
  try {
    const binary = await envoyBinary(watch.log);
    const stack = await startStack({ dir, ...watch });
    ends.push(() => stack.stop());
    const [port = 0] = await freePorts(1);
    const upstreamPort = Number(new URL(stack.simulatorUrl).port);
    const concurrency = Math.min(availableParallelism(), 8);
    const envoy = await startPlainEnvoy({ binary, dir, port, upstreamPort, concurrency });
    ends.push(() => envoy.stop());
    return { targets: targetsOf(stack, port, envoy.pid), model: stack.model ?? 'sim-small', stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
