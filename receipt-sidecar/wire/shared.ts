/** What one sidecar learns and another one may need, by a channel of Redis. Nothing waits for it, and it is lost where Redis is away. */
import type { Redis } from 'ioredis';
import type { z } from 'zod';

export interface Shared<T> {
  readonly send: (told: T) => void;
  /** Called once, with what takes the word of all, also of this sidecar. */
  readonly receive: (take: (told: T) => void) => void;
}

/** `subscriber` is a connection that nothing else is asked on. */
export const sharedByRedis = <T>(
  { redis, subscriber }: { readonly redis: Redis; readonly subscriber: Redis },
  channel: string,
  schema: z.ZodType<T>,
): Shared<T> => ({
  send: (told) => void redis.publish(channel, JSON.stringify(told)).catch(() => undefined),
  receive: (take) => {
    const listen = () => void subscriber.subscribe(channel).catch(() => undefined);
    subscriber.on('ready', listen);
    subscriber.on('message', (from, message) => {
      if (from !== channel) return;
      const told = schema.safeParse(jsonOf(message));
      if (told.success) take(told.data);
    });
    if (subscriber.status === 'ready') listen();
  },
});

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
