/** Opens many streams of one account on a gateway of its own, for several suites. */
import { setTimeout as delay } from 'node:timers/promises';
import { slotsKey } from '@gw/contract/internal/redis';
import type { Stack } from '@gw/stack/stack';
import { Redis } from 'ioredis';
import { z } from 'zod';
import { eventually, type OwnGateway } from '../outage/own-gateway.ts';

export interface StreamAccount {
  readonly key: string;
  readonly limit: number;
  /** Opens streams that go on until they are left. */
  open(count: number, marker: string): Promise<OpenStreams>;
  /** Slots whose lease runs, as Valkey has them. */
  held(): Promise<number>;
  close(): void;
}

export interface OpenStreams {
  readonly statuses: readonly number[];
  leave(): void;
}

async function openMany(stack: Stack, key: string, count: number, marker: string): Promise<OpenStreams> {
  const leaving = new AbortController();
  const ask = async (): Promise<number> => {
    const response = await fetch(`${stack.publicUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'x-sim-marker': marker,
        'x-sim-tokens': '1000',
        'x-sim-tokens-per-second': '2',
      },
      body: JSON.stringify({ model: 'sim-small', messages: [{ role: 'user', content: 'Hello' }], stream: true }),
      signal: leaving.signal,
    });
    response.arrayBuffer().catch(() => undefined);
    return response.status;
  };
  const statuses = await Promise.all(Array.from({ length: count }, ask));
  return { statuses, leave: () => leaving.abort() };
}

/** The demo account of the tier Enterprise, with `limit` streams from now on; none is open. */
export async function openStreamAccount({ stack, db }: OwnGateway, limit: number): Promise<StreamAccount> {
  const key = stack.keys.enterprise;
  const { accountId } = await db.apiKey.findUniqueOrThrow({ where: { publicId: key.split('_')[1] ?? '' } });
  await db.account.update({ where: { id: accountId }, data: { limitStreams: limit } });
  const redis = new Redis(stack.redisUrl, {
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    retryStrategy: () => 100,
  });
  redis.on('error', () => undefined);
  const open = (count: number, marker: string) => openMany(stack, key, count, marker);
  const held = () => redis.zcount(slotsKey(accountId), Date.now() + 1, '+inf');
  await eventually('the limit to hold', async () => {
    const { statuses, leave } = await open(limit + 1, 'limit');
    leave();
    return statuses.includes(429);
  });
  await eventually('the slots to be free', async () => (await held()) === 0);
  return { key, limit, open, held, close: () => redis.disconnect() };
}

async function openAtProvider({ simulatorUrl }: Pick<Stack, 'simulatorUrl'>, marker: string): Promise<number> {
  const reply = await fetch(`${simulatorUrl}/sim/count?marker=${marker}`);
  return z.object({ open: z.number() }).parse(await reply.json()).open;
}

export interface ProviderWatch {
  /** The most that were open for as long as `ms`: the provider hears of an end a moment after the sidecar. */
  mostFor(ms: number): number;
  stop(): Promise<void>;
}

/** Looks all the time how many streams with this marker are open at the provider, past the gateway. */
export function watchProvider(stack: Pick<Stack, 'simulatorUrl'>, marker: string): ProviderWatch {
  const samples: { readonly atMs: number; readonly open: number }[] = [];
  let watching = true;
  const watched = (async () => {
    for (; watching; await delay(50))
      samples.push({ atMs: performance.now(), open: await openAtProvider(stack, marker) });
  })();
  return {
    mostFor(ms) {
      let most = 0;
      for (const { atMs } of samples) {
        const during = samples.filter((each) => each.atMs >= atMs && each.atMs <= atMs + ms);
        const isLongEnough = (during.at(-1)?.atMs ?? 0) - atMs > ms * 0.8;
        if (isLongEnough) most = Math.max(most, Math.min(...during.map(({ open }) => open)));
      }
      return most;
    },
    stop: async () => {
      watching = false;
      await watched;
    },
  };
}
