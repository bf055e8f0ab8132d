/** Shares facts between sidecars over a Redis channel. Nothing waits for it, and messages are lost while Redis is unavailable. */
import { jsonIn } from '@gw/contract/internal/json-in';
import { listenTo } from '@gw/service/redis';
import type { Redis } from 'ioredis';
import type { z } from 'zod';

export interface Shared<T> {
  readonly send: (told: T) => void;
  /** Call it once. `take` gets the messages of all sidecars, this one included. */
  readonly receive: (take: (told: T) => void) => void;
}

/** `subscriber` is a connection that is used for subscriptions only. */
export const sharedByRedis = <T>(
  { redis, subscriber }: { readonly redis: Redis; readonly subscriber: Redis },
  channel: string,
  schema: z.ZodType<T>,
): Shared<T> => ({
  send: (told) => void redis.publish(channel, JSON.stringify(told)).catch(() => undefined),
  receive: (take) =>
    listenTo(subscriber, channel, (message) => {
      const told = schema.safeParse(jsonIn(message));
      if (told.success) take(told.data);
    }),
});
