/**
 * Carries what screening has found from the Redis stream into the audit log.
 *
 * Invariant: an event leaves the stream only after its entry is committed, or after it went to the dead list because no
 * retry could mend it. The events of an account whose log cannot be written wait, and hold up no other account.
 */
import { dayMs } from '@gw/contract/internal/durations';
import { jsonIn } from '@gw/contract/internal/json-in';
import { type PolicyEvent, policyEventSchema } from '@gw/contract/internal/policy-event';
import { deadPolicyEventStream, policyEventGroup, policyEventStream } from '@gw/contract/internal/redis';
import { isStorable } from '../../people/access/storable-text.ts';
import type { Context } from '../../shared/context.ts';
import { type DeadEntry, type Entry, isOutOfMemory, streamGroup } from '../../shared/stream-group.ts';
import { grouped } from './grouped.ts';
import { writeFindings } from './write-findings.ts';

export interface FindingsOptions extends Pick<Context, 'db' | 'redis' | 'now'> {
  readonly log: Pick<Context['log'], 'error'>;
  /** The name under which this instance reads the stream; unique among all instances. */
  readonly consumer: string;
  /** How long a consumer has to be silent before its entries are taken over. */
  readonly abandonedAfterMs?: number;
}

const findings = streamGroup({ stream: policyEventStream, group: policyEventGroup, field: 'event' });
const batchSize = 500;
/** How many batches one run writes at most, so that stopping the job takes a bounded time. */
const batchesPerRun = 20;

/** How long a finding is remembered: longer than a sidecar can keep one, and hand it over again. */
const rememberedMs = 35 * dayMs;

/** Deletes the notes by which a finding that comes again is known. */
export async function forgetFindings({ db, now }: Pick<Context, 'db' | 'now'>): Promise<void> {
  const before = new Date(now().getTime() - rememberedMs);
  await db.$executeRaw`DELETE FROM policy_events WHERE written_at < ${before}`;
}

/** Returns a run, which writes what is there. It rejects after it if something could not be written. */
export function openFindingsJob(options: FindingsOptions): () => Promise<void> {
  const { redis, consumer, abandonedAfterMs = 30_000 } = options;
  let claimAt = 0;
  let ownMayExist = true;

  /** Finishes what was read before an error, page by page, since what fails again stays. */
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

/** Returns the errors of entries that could not be written and stay in the stream. Throws if Postgres is away. */
async function finish(options: FindingsOptions, entries: readonly Entry[]): Promise<unknown[]> {
  if (entries.length === 0) return [];
  const { db, redis, now } = options;
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
  for (const { streamId } of read.dead) stay.add(streamId);
  // First, since it frees the memory that setting aside needs.
  await findings.takeOut(
    redis,
    entries.map(({ streamId }) => streamId).filter((id) => !stay.has(id)),
  );
  errors.push(...(await setAside(options, read.dead)));
  return errors;
}

/** Returns the error if Redis has no memory for them: then they stay pending, and hold up no others. */
async function setAside({ redis, log }: FindingsOptions, dead: readonly DeadEntry[]): Promise<unknown[]> {
  try {
    await findings.setAside(redis, deadPolicyEventStream, dead);
  } catch (error) {
    if (!isOutOfMemory(error)) throw error;
    return [error];
  }
  for (const { reason, streamId } of dead)
    log.error({ entry: streamId, reason }, 'a finding of screening cannot be written down and was set aside');
  return [];
}

const nothing = Buffer.alloc(0);

interface ReadFinding {
  readonly streamId: string;
  readonly bytes: Buffer;
  readonly event: PolicyEvent;
}

async function readEvents(
  db: Context['db'],
  entries: readonly Entry[],
): Promise<{ byAccount: Map<string, ReadFinding[]>; dead: DeadEntry[] }> {
  const found: ReadFinding[] = [];
  const dead: DeadEntry[] = [];
  for (const { bytes = nothing, deleted, streamId } of entries) {
    if (deleted) continue;
    const event = eventOf(bytes.toString());
    if (event === null) dead.push({ streamId, bytes, reason: 'it is not an event' });
    else found.push({ streamId, bytes, event });
  }
  const byAccount = grouped(found, ({ event }) => event.account_id);
  const rows = await db.$queryRaw<{ id: string }[]>`
    SELECT id FROM accounts WHERE id = ANY(${[...byAccount.keys()]}::text[])`;
  const known = new Set(rows.map(({ id }) => id));
  for (const [accountId, events] of byAccount) {
    if (known.has(accountId)) continue;
    byAccount.delete(accountId);
    for (const { bytes, streamId } of events) dead.push({ streamId, bytes, reason: 'there is no such account' });
  }
  return { byAccount, dead };
}

/** Returns null if the text is no event, or holds text that Postgres cannot store. */
function eventOf(text: string): PolicyEvent | null {
  const event = policyEventSchema.safeParse(jsonIn(text)).data;
  return event && isStorable(event) ? event : null;
}
