/**
 * Carries what screening has found from the Redis stream into the audit log.
 *
 * Invariant: an event leaves the stream only after its entry is committed, or after it went to the dead list because no
 * retry could mend it. The events of an account whose log cannot be written wait, and hold up no other account.
 */
import { dayMs } from '@gw/contract/internal/durations';
import { type PolicyEvent, policyEventSchema } from '@gw/contract/internal/policy-event';
import { deadPolicyEventStream, policyEventGroup, policyEventStream } from '@gw/contract/internal/redis';
import { isStorable } from '../../people/access/storable-text.ts';
import type { Context } from '../../shared/context.ts';
import { type Entry, streamGroup } from '../../shared/stream-group.ts';
import { grouped } from './grouped.ts';
import { writeFindings } from './write-findings.ts';

export interface FindingsOptions extends Pick<Context, 'db' | 'redis' | 'now'> {
  readonly log: Pick<Context['log'], 'error'>;
  /** Unique among all instances. */
  readonly consumer: string;
  /** A consumer that was silent this long is dead, and its entries are taken over. */
  readonly abandonedAfterMs?: number;
}

const findings = streamGroup({ stream: policyEventStream, group: policyEventGroup, field: 'event' });
const batchSize = 500;
/** Of one run, so that whoever stops the job waits for a bounded time. */
const batchesPerRun = 20;

/** Longer than anything hands the same finding over again: a sidecar may have kept one through an outage. */
const rememberedMs = 35 * dayMs;

/** Deletes the notes by which a finding that comes again is known. */
export async function forgetFindings({ db, now }: Pick<Context, 'db' | 'now'>): Promise<void> {
  const before = new Date(now().getTime() - rememberedMs);
  await db.$executeRaw`DELETE FROM policy_events WHERE written_at < ${before}`;
}

/** Each run writes what is there. Throws, after all else was written, if something could not be. */
export function openFindingsJob(options: FindingsOptions): () => Promise<void> {
  const { redis, consumer, abandonedAfterMs = 30_000 } = options;
  let claimAt = 0;
  let ownMayExist = true;

  /** What was read and, after an error, not finished. A page at a time, since what fails again stays. */
  const finishOwn = async (errors: unknown[]): Promise<void> => {
    let after = '0';
    for (let batch = 0; batch < batchesPerRun; batch++) {
      const own = await findings.readOwn(redis, consumer, batchSize, after);
      errors.push(...(await finish(options, own)));
      after = own.at(-1)?.streamId ?? after;
      if (own.length < batchSize) return;
    }
  };

  return async () => {
    const errors: unknown[] = [];
    // Until the run ends, an error leaves entries behind under this consumer's name.
    const ownBefore = ownMayExist;
    ownMayExist = true;
    const now = Date.now();
    if (now >= claimAt) {
      await findings.ensure(redis);
      await findings.claimAbandoned(redis, consumer, abandonedAfterMs, batchSize);
      claimAt = now + abandonedAfterMs / 3;
      await finishOwn(errors);
    } else if (ownBefore) {
      // Redis may have come back empty: then the group has to be made again.
      await findings.ensure(redis);
      await finishOwn(errors);
    }
    for (let batch = 0; batch < batchesPerRun; batch++) {
      const entries = await findings.readNew(redis, consumer, batchSize);
      errors.push(...(await finish(options, entries)));
      if (entries.length < batchSize) break;
    }
    if (errors.length > 0) throw errors[0];
    ownMayExist = false;
  };
}

/** Returns what kept entries from being written; they stay in the stream. Throws if the database does not answer. */
async function finish(options: FindingsOptions, entries: readonly Entry[]): Promise<unknown[]> {
  if (entries.length === 0) return [];
  const { db, log, now } = options;
  const read = await readEvents(db, entries);
  const errors: unknown[] = [];
  const stay = new Set<string>();
  for (const [accountId, found] of read.byAccount) {
    try {
      await writeFindings(
        db,
        now(),
        accountId,
        found.map(({ event }) => event),
      );
    } catch (error) {
      // Without the database each further account would only wait for its time-out.
      await db.$queryRaw`SELECT 1`;
      errors.push(error);
      for (const { streamId } of found) stay.add(streamId);
    }
  }
  for (const { reason, streamId } of read.dead)
    log.error({ entry: streamId, reason }, 'a finding of screening cannot be written down and was set aside');
  await takeOut(
    options,
    read.dead,
    entries.map(({ streamId }) => streamId).filter((id) => !stay.has(id)),
  );
  return errors;
}

interface Found {
  readonly streamId: string;
  readonly text: string;
  readonly event: PolicyEvent;
}

interface Dead {
  readonly streamId: string;
  readonly text: string;
  readonly reason: string;
}

async function readEvents(
  db: Context['db'],
  entries: readonly Entry[],
): Promise<{ byAccount: Map<string, Found[]>; dead: Dead[] }> {
  const found: Found[] = [];
  const dead: Dead[] = [];
  for (const { deleted, streamId, text = '' } of entries) {
    if (deleted) continue;
    const event = eventOf(text);
    if (event === null) dead.push({ streamId, text, reason: 'it is not an event' });
    else found.push({ streamId, text, event });
  }
  const byAccount = grouped(found, ({ event }) => event.account_id);
  const rows = await db.$queryRaw<{ id: string }[]>`
    SELECT id FROM accounts WHERE id = ANY(${[...byAccount.keys()]}::text[])`;
  const known = new Set(rows.map(({ id }) => id));
  for (const [accountId, events] of byAccount) {
    if (known.has(accountId)) continue;
    byAccount.delete(accountId);
    for (const { streamId, text } of events) dead.push({ streamId, text, reason: 'there is no such account' });
  }
  return { byAccount, dead };
}

/** Null: it is none, or holds text that Postgres cannot. */
function eventOf(text: string): PolicyEvent | null {
  try {
    const event = policyEventSchema.parse(JSON.parse(text));
    return isStorable(event) ? event : null;
  } catch {
    return null;
  }
}

/** The dead ones are never trimmed: somebody has to look at each. */
async function takeOut({ redis }: FindingsOptions, dead: readonly Dead[], done: readonly string[]): Promise<void> {
  const transaction = redis.multi();
  for (const { reason, text } of dead) transaction.xadd(deadPolicyEventStream, '*', 'event', text, 'reason', reason);
  if (done.length > 0) transaction.xack(policyEventStream, policyEventGroup, ...done).xdel(policyEventStream, ...done);
  await transaction.exec();
}
