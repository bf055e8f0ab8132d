/** The parts tell each other about the ground that they stand on in these forms. */

/** Describes a Postgres as a role of ours sees it: `@gw/prisma/ground` reads it, and `@gw/service/ground/postgres` judges it. */
export interface PostgresFacts {
  /** Such as 170004. */
  readonly version: number;
  readonly role: string;
  readonly zone: string;
  readonly isReadOnly: boolean;
  /** Settings that let a crash lose what was acknowledged, as they stand. */
  readonly unsafe: readonly string[];
  /** The tables are there, and the role may read them. */
  readonly mayRead: boolean;
  /** The time of the server, ms since 1970. */
  readonly now: number;
}

/** The alarm that stands in Redis from when Postgres was seen to have gone back in time until an operator confirms it. */
export interface GroundAlarm {
  readonly id: string;
  readonly found_at: string;
  /**
   * `older`: Postgres lacks what it had acknowledged; `empty`: it is a new database; `another`: it is another server, timeline or database, and
   * lacks nothing that is known.
   */
  readonly why: 'older' | 'empty' | 'another';
  readonly cause: string;
  readonly heartbeat: KnownAndFound<number>;
  /** Keys and accounts that changed behind `lost_after` are in doubt. */
  readonly key_generation: KnownAndFound<number> & { readonly lost_after: number };
  /** The newest batch of receipts. */
  readonly batch: KnownAndFound<number>;
  /** How many versions of receipts the ledger holds. */
  readonly receipts: KnownAndFound<number>;
  /** System identifier and database. */
  readonly server: KnownAndFound<string>;
  readonly timeline: KnownAndFound<string>;
  /** The first chains of the audit log that lack entries, or have others. */
  readonly audit_chains: readonly (KnownAndFound<number> & { readonly chain: string })[];
}

interface KnownAndFound<T> {
  readonly known: T;
  readonly found: T;
}

/** Returns the alarm of its key in Redis; null if there is none. Only the control plane writes there. */
export const alarmIn = (text: string | null): GroundAlarm | null =>
  text === null ? null : (JSON.parse(text) as GroundAlarm);
