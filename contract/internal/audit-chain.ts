/**
 * The audit log as chains of hashes: the form that is hashed, and the check.
 *
 * Invariant: the hash of an entry covers every field of it and the hash of the entry before, so an entry that was
 * altered, taken out or put in is found by whoever has the later ones. That the end was cut off is found only against a
 * head that was noted elsewhere.
 *
 * The hash is SHA-256 over the UTF-8 bytes of the entry's RFC 8785 form without `hash`, so that anyone can compute it.
 */
import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';

export const operatorChain = 'operators';
export const firstPrevHash = '0'.repeat(64);

export type ActorKind = 'operator' | 'organisation_admin' | 'api_key' | 'system';

export interface Actor {
  readonly kind: ActorKind;
  /** Of an API key its public id; of the system the name of the job. */
  readonly id: string;
  readonly name: string | null;
}

/** As it is hashed: names and form are frozen. */
export interface AuditEntry {
  /** The account's id, or `operators` for what concerns no account. */
  readonly chain: string;
  /** From 1, without gaps. */
  readonly seq: number;
  /** RFC 3339, UTC, milliseconds. */
  readonly at: string;
  readonly actor: Actor;
  /** A verb in the past, with its subject: `key.revoked`. */
  readonly action: string;
  /** What it was done to: `key:3fA…`, `account:acct_…`. */
  readonly target: string;
  readonly request_id: string | null;
  /** What changed, without secrets; null where there was nothing. */
  readonly before: unknown;
  readonly after: unknown;
  readonly prev_hash: string;
  readonly hash: string;
}

export function auditHash({ hash: _hash, ...entry }: Omit<AuditEntry, 'hash'> & { readonly hash?: string }): string {
  const text = canonicalize(entry);
  if (text === undefined) throw new Error('An audit entry has no canonical form.');
  return createHash('sha256').update(text, 'utf8').digest('hex');
}

/** What has no canonical form (half a character, or a number beyond all doubles) was never hashed. */
function isHashed(entry: AuditEntry): boolean {
  try {
    return auditHash(entry) === entry.hash;
  } catch {
    return false;
  }
}

export interface ChainFault {
  readonly seq: number;
  readonly fault: 'altered' | 'missing' | 'not_linked';
}

/** Checks the entries of one chain in order, in any number of pieces. */
export class ChainCheck {
  #seq: number;
  #hash: string;
  readonly faults: ChainFault[] = [];

  /** Begins after an entry that was checked before; by default at the first entry of the chain. */
  constructor({ hash, seq }: { readonly seq: number; readonly hash: string } = { seq: 0, hash: firstPrevHash }) {
    this.#seq = seq;
    this.#hash = hash;
  }

  next(entry: AuditEntry): void {
    if (entry.seq !== this.#seq + 1) this.faults.push({ seq: this.#seq + 1, fault: 'missing' });
    else if (entry.prev_hash !== this.#hash) this.faults.push({ seq: entry.seq, fault: 'not_linked' });
    if (!isHashed(entry)) this.faults.push({ seq: entry.seq, fault: 'altered' });
    this.#seq = entry.seq;
    this.#hash = entry.hash;
  }

  /** Ends the check and returns all faults. `head` is what the chain should end with; a chain that ends earlier was cut. */
  end(head: { readonly seq: number; readonly hash: string } | null): readonly ChainFault[] {
    if (head !== null && (head.seq !== this.#seq || head.hash !== this.#hash))
      this.faults.push({ seq: Math.min(head.seq, this.#seq) + 1, fault: 'missing' });
    return this.faults;
  }

  get seen(): { readonly seq: number; readonly hash: string } {
    return { seq: this.#seq, hash: this.#hash };
  }
}
