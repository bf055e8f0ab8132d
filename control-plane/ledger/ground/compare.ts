/** Whether Postgres has all that is known of it, and what to say if not. */
import type { GroundAlarm } from '@gw/contract/internal/ground';

/** How far Postgres is, or was when Redis heard of it last. */
export interface Ground {
  readonly heartbeat: number;
  readonly generation: number;
  readonly batch: number;
  readonly head: string;
  readonly receipts: number;
  readonly server: string;
  readonly timeline: string;
}

/**
 * Returns what is wrong with the ground that was found; null if nothing is, also where nothing is `known`. `headOfKnown`: of the newest known
 * batch as Postgres has it now; null: it has none.
 */
export function shortcomingOf(
  known: Ground | null,
  found: Ground,
  headOfKnown: string | null,
): GroundAlarm['why'] | null {
  if (known === null) return null;
  if (found.heartbeat === 0 && known.heartbeat > 0) return 'empty';
  const hasBatch = known.batch === 0 || headOfKnown === known.head;
  if (found.heartbeat < known.heartbeat || found.generation < known.generation || !hasBatch) return 'older';
  // Where it was not told, as by a managed server, it is not compared.
  const differs = (one: string, other: string) => one !== '' && other !== '' && one !== other;
  return differs(known.server, found.server) || differs(known.timeline, found.timeline) ? 'another' : null;
}

const consequence =
  'Keys and accounts that changed since are refused, and sidecars put the receipts that they still have in again. See what is missing with `./gw admin restore show`, and end the alarm with `./gw admin restore confirm`';
const page = 'docs/operations.md#a-postgres-that-went-back-in-time';

const causes: Readonly<Record<GroundAlarm['why'], string>> = {
  older: `Postgres has gone back in time: it lacks what it had acknowledged, as when a replica that lagged was promoted or a backup was restored. If another server still has it, connect that one. ${consequence} (${page}).`,
  empty: `Postgres is a new database, while Valkey knows keys, receipts and heads of another one. If it is the wrong database, correct GW_DATABASE_URL_*. If a new beginning is meant, stop the services and empty Valkey (FLUSHALL), or run \`./gw admin restore confirm\` (${page}).`,
  another: `Postgres is another server, timeline or database than before. Nothing that is known is missing, but what it had acknowledged in the last second may be. ${consequence} (${page}).`,
};

export const causeOf = (why: GroundAlarm['why']): string => causes[why];
