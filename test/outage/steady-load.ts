/** Connections that call until they are told to stop, and when each call began and how it ended. */
import { Agent } from 'node:http';
import type { Stack } from '@gw/stack/stack';
import { isWhole, loadCalls, send } from './load-client.ts';

export interface SteadyCall {
  readonly beganMs: number;
  readonly endedMs: number;
  /** `whole`, or what was wrong. */
  readonly outcome: string;
  readonly receiptId: string;
}

export interface SteadyLoad {
  readonly connections: number;
  readonly ended: readonly SteadyCall[];
  /** Resolves with those that were not whole, when all have ended. */
  stop(): Promise<readonly SteadyCall[]>;
}

/** `heldMs`: how long the provider takes for each answer, so that calls are under way and the machine has time; default: no time. */
export function startLoad(
  { publicUrl, keys }: Pick<Stack, 'publicUrl' | 'keys'>,
  heldMs?: number,
  connections = 32,
): SteadyLoad {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const ended: SteadyCall[] = [];
  let isWanted = true;
  const one = async (turn: number): Promise<void> => {
    const call = loadCalls[turn % loadCalls.length];
    if (!call) return;
    const beganMs = performance.now();
    let receiptId = '';
    const outcome = await send(agent, `${publicUrl}${call.path}`, `Bearer ${keys.enterprise}`, call.body, heldMs).then(
      (reply) => {
        receiptId = String(reply.headers['x-gw-receipt-id'] ?? '');
        if (reply.status !== 200) return `${reply.status} ${reply.text.slice(0, 60)}`;
        if (!isWhole(reply, receiptId)) return 'torn';
        if (!reply.text.includes('"tier":"degraded"')) return 'whole';
        return `degraded: ${/"degraded_reason":"(\w+)"/.exec(reply.text)?.[1]}`;
      },
      (error: Error) => error.message,
    );
    ended.push({ beganMs, endedMs: performance.now(), outcome, receiptId });
  };
  const work = async (connection: number): Promise<void> => {
    for (let turn = connection; isWanted; turn += 1) await one(turn);
  };
  const working = Promise.all(Array.from({ length: connections }, (_, connection) => work(connection)));
  return {
    connections,
    ended,
    stop: async () => {
      isWanted = false;
      await working;
      agent.destroy();
      return ended.filter(({ outcome }) => outcome !== 'whole');
    },
  };
}
