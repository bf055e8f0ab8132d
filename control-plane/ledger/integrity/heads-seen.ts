/**
 * The furthest end of each chain of the audit log that a check has found right, kept for the next process.
 *
 * Invariant: each is sealed with the key of the ledger, so that whoever has the database alone can write none that
 * passes, and only moves forward. They can take one away, or put an older one back: then only a process that runs knows
 * better.
 */
import type { KeyRing } from '@gw/contract/internal/key-ring';
import { type Database, Prisma } from '@gw/prisma/client';
import { sealFault, sealOf } from '../../shared/seal.ts';

/** An entry of a chain, by its number and its hash. */
export interface ChainPlace {
  readonly seq: number;
  readonly hash: string;
}

/** The ends that were found right, by the name of their chain. */
export interface HeadsSeen {
  readonly places: ReadonlyMap<string, ChainPlace>;
  /** Chains whose end is not sealed with a key that is known here. */
  readonly forged: readonly string[];
}

const textOf = (chain: string, { hash, seq }: ChainPlace): string => `${chain}\n${seq}\n${hash}`;

/** Reads the stored ends, and checks their seals. Rejects if Postgres is away. */
export async function readHeadsSeen(db: Database, keys: KeyRing): Promise<HeadsSeen> {
  const places = new Map<string, ChainPlace>();
  const forged: string[] = [];
  for (const { chain, hash, seal, sealKey, seq } of await db.auditHeadSeen.findMany()) {
    const place = { seq: Number(seq), hash };
    if (sealFault(keys, 'gw.audit_head', textOf(chain, place), { id: sealKey, seal }) === null)
      places.set(chain, place);
    else forged.push(chain);
  }
  return { places, forged };
}

/** Stores those ends that are further than the stored ones, sealed with the current key. */
export async function writeHeadsSeen(
  db: Database,
  keys: KeyRing,
  seen: ReadonlyMap<string, ChainPlace>,
): Promise<void> {
  const stored = new Map((await db.auditHeadSeen.findMany()).map(({ chain, seq }) => [chain, Number(seq)]));
  const { current } = keys;
  const further = [...seen]
    .filter(([chain, { seq }]) => seq > (stored.get(chain) ?? 0))
    .map(([chain, place]) => ({
      chain,
      ...place,
      seal_key: current.id,
      seal: sealOf(current, 'gw.audit_head', textOf(chain, place)),
    }))
    // They are written in one order, so that two instances never deadlock.
    .sort((a, b) => (a.chain < b.chain ? -1 : 1));
  if (further.length === 0) return;
  await db.$executeRaw`
    INSERT INTO audit_heads_seen AS s (chain, seq, hash, seal, seal_key)
    SELECT * FROM json_to_recordset(${Prisma.sql`${JSON.stringify(further)}::json`}) AS f (
      chain text, seq bigint, hash text, seal text, seal_key int)
    ON CONFLICT (chain) DO UPDATE SET seq = EXCLUDED.seq, hash = EXCLUDED.hash, seal = EXCLUDED.seal,
      seal_key = EXCLUDED.seal_key
    WHERE EXCLUDED.seq > s.seq`;
}
