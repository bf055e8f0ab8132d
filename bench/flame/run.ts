/** Profiles the services of a gateway of its own while calls come over 32 connections. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Stack, startStack } from '@gw/stack/stack';
import { replyLoad } from '../load/reply-load.ts';
import { jsonCall } from '../load/target.ts';
import { unlessAborted } from '../load/unless-aborted.ts';
import { gatewayOf, modelOf } from '../peers/targets.ts';
import { type Frame, frameTree, type Window } from './profile.ts';

/** Those that run on Node, in the order in which a call meets them. */
const profiled = ['ext-authz', 'receipt-sidecar', 'control-plane'] as const;

const connections = 32;
const seconds = { warmUp: 10, measured: 15 };

const monotonicUs = (): number => Number(process.hrtime.bigint() / 1000n);

interface Watch {
  readonly log: (line: string) => void;
  readonly signal: AbortSignal;
}

/** Takes half a minute. Everything lies in a folder of its own and is removed, also when it is aborted. */
export async function profileServices(watch: Watch): Promise<Frame[]> {
  if (!process.allowedNodeEnvironmentFlags.has('--cpu-prof'))
    throw new Error(`Node ${process.versions.node} cannot profile what it starts. Node 24 can.`);
  const dir = mkdtempSync(join(tmpdir(), 'gw-flame-'));
  const folderOf = (part: string) => join(dir, `profile-${part}`);
  const profiling = (part: string) => ({
    NODE_OPTIONS: `--cpu-prof --cpu-prof-interval=400 --cpu-prof-dir=${folderOf(part)}`,
  });
  try {
    const env = Object.fromEntries(profiled.map((part) => [part, profiling(part)]));
    const stack = await startStack({ dir, env, ...watch });
    // The profiles are written when the services end.
    const window = await unlessAborted(loaded(stack, watch), watch.signal).finally(() => stack.stop());
    return profiled.map((part) => frameTree(part, profileIn(folderOf(part)), window));
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

async function loaded(stack: Stack, { log, signal }: Watch): Promise<Window> {
  const call = jsonCall(gatewayOf(stack, stack.keys.enterprise), modelOf(stack));
  log(`Calls over ${connections} connections, ${seconds.warmUp} s to warm up and ${seconds.measured} s that count…`);
  await replyLoad(call, connections, seconds.warmUp);
  signal.throwIfAborted();
  const fromUs = monotonicUs();
  const { requests } = await replyLoad(call, connections, seconds.measured);
  if (requests === 0) throw new Error('No call was answered while the services were profiled.');
  return { fromUs, toUs: monotonicUs(), calls: requests };
}

/** Of the main thread; the threads for large bodies have nothing to do here. */
function profileIn(folder: string): string {
  const name = readdirSync(folder).find((each) => /\.0\.\d+\.cpuprofile$/.test(each));
  if (name === undefined) throw new Error(`No profile was written into ${folder}.`);
  return readFileSync(join(folder, name), 'utf8');
}
