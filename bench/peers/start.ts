/**
 * Installs and starts the peers. One that cannot be had here is told with its reason, and the others go on.
 *
 * Invariant: what was started and is not a target has ended.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorText } from '@gw/contract/internal/error-text';
import { type Child, startChild } from '@gw/stack/child';
import { freePorts } from '@gw/stack/ports';
import { jsonCall, type PeerName, streamCall, type Target } from '../load/target.ts';
import { envoyAiGateway } from './envoy-ai-gateway.ts';
import { litellm } from './litellm.ts';
import type { Peer } from './peer.ts';
import { portkey } from './portkey.ts';

export const peers: readonly Peer[] = [envoyAiGateway, portkey, litellm];

/** Python reads thousands of files when it starts. */
const patienceMs = 180_000;

export interface PeerOptions {
  readonly dir: string;
  readonly providerUrl: string;
  readonly model: string;
  /** Returns the pids of the provider, which works for each call of a peer too. */
  readonly simulator: () => Readonly<Record<string, number>>;
  readonly log: (line: string) => void;
  readonly signal: AbortSignal;
}

export interface PeerState {
  readonly name: PeerName;
  readonly version: string;
  /** Why not; null for one that was. */
  readonly notMeasured: string | null;
}

export interface StartedPeers {
  readonly targets: readonly Target[];
  readonly states: readonly PeerState[];
  stop(): Promise<void>;
}

export async function startPeers(options: PeerOptions, wanted: readonly Peer[] = peers): Promise<StartedPeers> {
  const started: Started[] = [];
  const states: PeerState[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(started.splice(0).map((each) => each.stop()));
  };
  for (const peer of wanted) {
    const told = { name: peer.name, version: peer.version() };
    try {
      started.push(await startPeer(peer, options));
      states.push({ ...told, notMeasured: null });
    } catch (error) {
      if (options.signal.aborted) await stop();
      options.signal.throwIfAborted();
      const [notMeasured = ''] = errorText(error).split('\n');
      options.log(`${peer.name} ${told.version} is not measured: ${notMeasured}`);
      states.push({ ...told, notMeasured });
    }
  }
  return { targets: started.map(({ target }) => target), states, stop };
}

interface Started {
  readonly target: Target;
  stop(): Promise<void>;
}

async function startPeer(peer: Peer, options: PeerOptions): Promise<Started> {
  const { log, signal, simulator } = options;
  signal.throwIfAborted();
  const installed = await peer.install(log);
  signal.throwIfAborted();
  log(`Starting ${peer.name} ${peer.version()}…`);
  const dir = join(options.dir, `peer-${peer.name}`);
  mkdirSync(dir, { recursive: true });
  const [port = 0] = await freePorts(1);
  const { args, command, env, files, headers, leaves = [] } = peer.plan({ ...options, installed, dir, port });
  const inTheWay = leaves.find((path) => existsSync(path));
  if (inTheWay !== undefined)
    throw new Error(`It would write into ${inTheWay}, which is there. If you do not need it, remove it.`);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, name), text);
  const logFile = join(dir, 'log');
  const child = await startChild({ command, args, env: { PATH: process.env.PATH, ...env }, cwd: dir, logFile });
  const target: Target = {
    name: peer.name,
    baseUrl: `http://127.0.0.1:${port}/v1`,
    headers,
    pids: () => ({ ...simulator(), [peer.name]: child.pid }),
  };
  const stop = async (): Promise<void> => {
    await child.stop();
    for (const path of leaves) rmSync(path, { recursive: true, force: true });
  };
  try {
    await untilAnswers(target, child, options);
    return { target, stop };
  } catch (cause) {
    await stop();
    throw new Error(`${errorText(cause)} ${readFileSync(logFile, 'utf8').trim().split('\n').at(-1)}`);
  }
}

/** Waits until it answers both kinds of calls: a peer that cannot stream would end the measurement of all. */
async function untilAnswers(target: Target, child: Child, { model, signal }: PeerOptions): Promise<void> {
  const calls = [jsonCall(target, model), streamCall(target, model, 1, 0)];
  let last = 'It did not answer.';
  for (const end = performance.now() + patienceMs; performance.now() < end; ) {
    signal.throwIfAborted();
    if (!child.alive()) throw new Error('It ended by itself.');
    const replies = await Promise.all(calls.map(({ url, ...call }) => statusOf(url, call)));
    if (replies.every((status) => status === 200)) return;
    last = `It answers ${replies.join(' and ')}.`;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  throw new Error(last);
}

async function statusOf(url: string, call: object): Promise<number | string> {
  try {
    const reply = await fetch(url, { method: 'POST', signal: AbortSignal.timeout(10_000), ...call });
    await reply.text();
    return reply.status;
  } catch {
    return 'nothing';
  }
}
