/**
 * Checks the chains of the audit log.
 *
 * Invariant: after each round every entry up to the heads was hashed here at least once since this process started, and
 * after a full one, once since it began. An end that was once found right and is gone or another one is found in every
 * round until it is there again, even if the head went with it, and after a restart too (heads-seen.ts).
 */

import { setImmediate } from 'node:timers/promises';
import { ChainCheck, firstPrevHash } from '@gw/contract/internal/audit-chain';
import type { KeyRing } from '@gw/contract/internal/key-ring';
import type { Database } from '@gw/prisma/client';
import { auditFault, type Chain, numberOf, readChains, readHashed } from '../../people/audit/read.ts';
import type { Fault } from './faults.ts';
import { type ChainPlace, readHeadsSeen, writeHeadsSeen } from './heads-seen.ts';

const start: ChainPlace = { seq: 0, hash: firstPrevHash };
/** Entries that are hashed at once, in a few milliseconds; then requests to this process get their turn. */
const pageSize = 200;
const chainsPage = 1000;

/** Both rounds return every fault that they find, also those found before, and reject if Postgres is away. */
export interface AuditCheck {
  /** Checks what was added since the last round. */
  newest(): Promise<Fault[]>;
  /** Checks every chain from its first entry. */
  full(): Promise<Fault[]>;
}

export function openAuditCheck(db: Database, keys: KeyRing): AuditCheck {
  /** The furthest end of each chain that this or another instance has found right. */
  const seen = new Map<string, ChainPlace>();
  let forged: readonly Fault[] = [];

  const load = async (): Promise<void> => {
    const stored = await readHeadsSeen(db, keys);
    forged = stored.forged.map((chain) => ({ name: chain, number: seen.get(chain)?.seq ?? 0, fault: 'forged' }));
    for (const [chain, place] of stored.places) if (place.seq > (seen.get(chain)?.seq ?? 0)) seen.set(chain, place);
  };

  const checkChain = async (head: Chain, from: ChainPlace): Promise<Fault[]> => {
    const { chain } = head;
    const known = seen.get(chain) ?? start;
    if (from.seq > 0 && from.seq === head.seq && from.hash !== head.hash)
      return [named(chain)({ seq: head.seq, fault: await endFault(db, head) })];
    const { faults, end, knownHash } = await hashed(db, head, from, known.seq);
    if (known.seq > head.seq) return [...faults, { seq: head.seq + 1, fault: 'missing' }].map(named(chain));
    const isNamed = faults.some(({ seq }) => seq === known.seq);
    if (knownHash !== null && knownHash !== known.hash && !isNamed) faults.push({ seq: known.seq, fault: 'altered' });
    // A head that was seen is never replaced by one that contradicts it: the fault would pass for the truth from then on.
    if (faults.length === 0 && end.seq > known.seq) seen.set(chain, end);
    return faults.map(named(chain));
  };

  return {
    newest: async () => {
      await load();
      const heads = await db.auditHead.findMany();
      const found: Fault[] = [...forged];
      for (const { chain, hash, seq } of heads) {
        const known = seen.get(chain) ?? start;
        if (known.hash === hash) continue;
        found.push(...(await checkChain({ chain, hash, seq: numberOf(seq) }, known)));
      }
      const there = new Set(heads.map(({ chain }) => chain));
      for (const [chain, { seq }] of seen)
        if (!there.has(chain)) found.push(named(chain)({ seq, fault: 'without a head' }));
      await writeHeadsSeen(db, keys, seen);
      return found;
    },
    full: async () => {
      await load();
      const found: Fault[] = [...forged];
      for (let after: string | undefined = ''; after !== undefined; ) {
        const page: Chain[] = await readChains(db, after, chainsPage);
        for (const head of page) found.push(...(await checkChain(head, start)));
        after = page.length < chainsPage ? undefined : page.at(-1)?.chain;
      }
      await writeHeadsSeen(db, keys, seen);
      return found;
    },
  };
}

/** An end that is another one than was seen: the fault by which the full check names it. */
async function endFault(db: Database, { chain, seq }: Chain): Promise<string> {
  const [entry] = await readHashed(db, chain, { order: 'asc', limit: 1, afterSeq: seq - 1 });
  return (entry?.seq === seq ? auditFault(entry) : null) ?? 'altered';
}

interface SeqFault {
  readonly seq: number;
  readonly fault: string;
}

const named =
  (chain: string) =>
  ({ fault, seq }: SeqFault): Fault => ({ name: chain, number: seq, fault });

/** Hashes the entries after `from` up to the head. What is written meanwhile is left to the next round. */
async function hashed(db: Database, head: Chain, from: ChainPlace, knownSeq: number) {
  const check = new ChainCheck(from);
  const faults: SeqFault[] = head.seq > 0 && head.hash === null ? [{ seq: head.seq, fault: 'without a head' }] : [];
  let knownHash: string | null = null;
  for (let after = from.seq; after < head.seq; ) {
    const page = await readHashed(db, head.chain, { order: 'asc', limit: pageSize, afterSeq: after });
    for (const entry of page) {
      if (entry.seq > head.seq) break;
      check.next(entry, entry.sealFault);
      if (entry.seq === knownSeq) knownHash = entry.hash;
    }
    after = page.length < pageSize ? head.seq : (page.at(-1)?.seq ?? head.seq);
    await setImmediate();
  }
  const end = { seq: head.seq, hash: head.hash ?? check.seen.hash };
  faults.push(...(from.seq <= head.seq ? check.end(end) : []));
  return { faults, end, knownHash };
}
