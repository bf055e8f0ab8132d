/** A part that lacks a right may go on without what it was refused, so the stores are asked what they refused. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';

interface Stores {
  readonly logs: string;
  readonly redisUrl: string;
}

/** Rejects with what Postgres, by its log, or Valkey has refused to a part. Call it while Valkey still runs. */
export async function nothingRefused({ logs, redisUrl }: Stores): Promise<void> {
  const lines = readFileSync(join(logs, 'postgres.log'), 'utf8').split('\n');
  const byPostgres = lines.filter((line) => line.includes('permission denied'));
  const redis = new Redis(redisUrl);
  const byValkey = await redis.call('ACL', 'LOG', '10').finally(() => redis.disconnect());
  const refused = [...byPostgres, ...(byValkey as unknown[]).map((entry) => JSON.stringify(entry))];
  if (refused.length > 0) throw new Error(`The stores have refused something to a part:\n${refused.join('\n')}`);
}
