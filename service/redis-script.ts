/** Lua scripts over a RedisWriter. */
import { createHash } from 'node:crypto';
import type { Command, RedisWriter, Reply } from './redis-writer.ts';

export type Script = (keys: readonly string[], args: Command) => Promise<Reply | undefined>;

/** Runs a script by its digest, and sends it as a whole if Redis does not know it. */
export function redisScript(redis: Pick<RedisWriter, 'send'>, lua: string): Script {
  const sha1 = createHash('sha1').update(lua).digest('hex');
  return (keys, args) => {
    const rest = [`${keys.length}`, ...keys, ...args];
    return redis.send(['EVALSHA', sha1, ...rest]).then(first, (error: unknown) => {
      if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
      return redis.send(['EVAL', lua, ...rest]).then(first);
    });
  };
}

const first = ([reply]: readonly Reply[]): Reply | undefined => reply;
