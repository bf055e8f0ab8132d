/**
 * Writes what screening has found in the calls of an account into its audit log.
 *
 * Invariant: each event is written once, however often and by however many it is handed over: its id is noted in the
 * transaction of its entry. Nothing of a text is written but the salted hash that the event brings.
 */
import type { Actor } from '@gw/contract/internal/audit-chain';
import type { PolicyEvent } from '@gw/contract/internal/policy-event';
import type { Database } from '@gw/prisma/client';
import { type AuditFact, appendAudits } from '../../people/audit/append.ts';
import { grouped } from './grouped.ts';

/** How many findings of a kind get an entry each; more would make the chain of the account a bottleneck. */
export const singlesAtMost = 20;
/** How many calls share an entry beyond that; each call is still named. */
export const callsPerEntry = 100;

/** Writes events of one account, without those that were written before. Returns how many entries it made. */
export function writeFindings(
  db: Database,
  at: Date,
  accountId: string,
  events: readonly PolicyEvent[],
): Promise<number> {
  // In one order, so that two jobs with the same events never wait for each other in a ring.
  const ids = [...new Set(events.map(({ id }) => id))].sort();
  return db.$transaction(
    async (tx) => {
      const noted = await tx.$queryRaw<{ id: string }[]>`
        INSERT INTO policy_events (id, written_at) SELECT id, ${at} FROM unnest(${ids}::uuid[]) AS id
        ON CONFLICT DO NOTHING RETURNING id::text`;
      const left = new Set(noted.map(({ id }) => id));
      // A set forgets what it gives: an event that stands here twice is one.
      const fresh = events.filter(({ id }) => left.delete(id.toLowerCase()));
      if (fresh.length === 0) return 0;
      const keyIds = [...new Set(fresh.map((event) => event.key_id))];
      const keys = await tx.$queryRaw<{ public_id: string; name: string }[]>`
        SELECT public_id, name FROM api_keys WHERE account_id = ${accountId} AND public_id = ANY(${keyIds}::text[])`;
      const names = new Map(keys.map(({ name, public_id }) => [public_id, name]));
      const entries = await appendAudits(tx, at, accountId, factsOf(fresh, names));
      return entries.length;
    },
    { timeout: 20_000 },
  );
}

/** Returns what is written of events of one account. `names` holds the names of keys by their ids. */
export function factsOf(
  events: readonly PolicyEvent[],
  names: ReadonlyMap<string, string>,
): Omit<AuditFact, 'accountId'>[] {
  return [...grouped(events, likeness).values()].flatMap((alike) =>
    chunks(alike, alike.length > singlesAtMost ? callsPerEntry : 1).flatMap((part) => factOf(part, names)),
  );
}

/** Returns a key for what one entry says of all of its calls. */
const likeness = ({ action, code, key_id, policy_sha256, policy_version, rule_ids }: PolicyEvent): string =>
  JSON.stringify([key_id, action, code, rule_ids, policy_version, policy_sha256]);

function chunks<T>(list: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, at) => list.slice(at * size, (at + 1) * size));
}

function factOf(alike: readonly PolicyEvent[], names: ReadonlyMap<string, string>): Omit<AuditFact, 'accountId'>[] {
  const [first] = alike;
  if (first === undefined) return [];
  const { action, code, key_id, policy_sha256, policy_version, rule_ids } = first;
  const actor: Actor = { kind: 'api_key', id: key_id, name: names.get(key_id) ?? null };
  return [
    {
      actor,
      action: action === 'block' ? 'policy.blocked' : 'policy.flagged',
      target: `policy:${policy_version}`,
      requestId: alike.length === 1 ? first.request_id : null,
      after: {
        code,
        rule_ids,
        policy_version,
        policy_sha256,
        calls: alike.map(({ at, id, request_id, text_salt, text_sha256 }) => ({
          event: id,
          at,
          request_id,
          text_salt,
          text_sha256,
        })),
      },
    },
  ];
}
