/** The consumer group on the ledger stream, command by command. */
import { ledgerGroup, ledgerStream } from '@gw/contract/internal/redis';
import type { Redis } from 'ioredis';

export interface Entry {
  readonly streamId: string;
  /** The LedgerEntry as JSON; undefined if the field is missing. */
  readonly text: string | undefined;
  readonly deleted: boolean;
}

type RawEntry = [id: string, fields: string[] | null];

/** From the first entry on, so that what was written before the group existed is not passed over. */
export async function ensureGroup(redis: Redis): Promise<void> {
  try {
    await redis.xgroup('CREATE', ledgerStream, ledgerGroup, '0', 'MKSTREAM');
  } catch (fault) {
    if (!(fault instanceof Error && fault.message.startsWith('BUSYGROUP'))) throw fault;
  }
}

/** Makes the entries of dead consumers this consumer's own, and forgets consumers that left nothing behind. */
export async function claimAbandoned(redis: Redis, consumer: string, idleMs: number, count: number): Promise<void> {
  await redis.xautoclaim(ledgerStream, ledgerGroup, consumer, idleMs, '0-0', 'COUNT', count, 'JUSTID');
  const consumers = (await redis.xinfo('CONSUMERS', ledgerStream, ledgerGroup)) as (string | number)[][];
  for (const fields of consumers) {
    const info = pairs(fields.map(String));
    const forgotten = Number(info.get('pending')) === 0 && Number(info.get('idle')) > 100 * idleMs;
    const name = info.get('name');
    if (forgotten && name !== undefined && name !== consumer)
      await redis.xgroup('DELCONSUMER', ledgerStream, ledgerGroup, name);
  }
}

/** What this consumer read before and did not acknowledge. */
export async function readOwn(redis: Redis, consumer: string, count: number): Promise<Entry[]> {
  const reply = await redis.xreadgroup('GROUP', ledgerGroup, consumer, 'COUNT', count, 'STREAMS', ledgerStream, '0');
  return entriesOf(reply);
}

/** What nobody read yet; waits up to `blockMs` for it. */
export async function readNew(redis: Redis, consumer: string, count: number, blockMs: number): Promise<Entry[]> {
  const reply = await redis.xreadgroup(
    'GROUP',
    ledgerGroup,
    consumer,
    'COUNT',
    count,
    'BLOCK',
    blockMs,
    'STREAMS',
    ledgerStream,
    '>',
  );
  return entriesOf(reply);
}

function entriesOf(reply: unknown): Entry[] {
  const streams = (reply ?? []) as [name: string, entries: RawEntry[]][];
  return (streams[0]?.[1] ?? []).map(([streamId, fields]) => ({
    streamId,
    text: pairs(fields ?? []).get('entry'),
    deleted: fields === null,
  }));
}

/** Redis gives maps as flat lists: name, value, name, value. */
function pairs(flat: readonly string[]): Map<string, string> {
  const map = new Map<string, string>();
  for (let i = 0; i + 1 < flat.length; i += 2) map.set(flat[i] ?? '', flat[i + 1] ?? '');
  return map;
}
