/**
 * The audit log as hash chains: the hashed form, and the verification.
 *
 * Anybody can compute a hash, and so can make an entry that fits its chain. The seal beside it can only be made, and checked, by the
 * control plane (control-plane/people/audit/seal.ts).
 *
 * Invariant: the hash of an entry covers all its fields and the hash of the previous entry, so the later entries reveal one that was
 * altered, removed or inserted. A truncated chain can only be detected against a head that was recorded elsewhere.
 *
 * The hash is SHA-256 over the UTF-8 bytes of the entry's RFC 8785 form without `hash`, so that anyone can compute it.
 */
import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { asHashed, type HiddenNames } from './hidden-names.ts';

export const operatorChain = 'operators';
export const firstPrevHash = '0'.repeat(64);

export type ActorKind = 'operator' | 'organisation_admin' | 'api_key' | 'system';

export interface Actor {
  readonly kind: ActorKind;
  /** The public id of an API key, or the name of the system's job. */
  readonly id: string;
  readonly name: string | null;
}

/** The hashed form; its names and structure are frozen. */
export interface AuditEntry {
  /** The account's id, or `operators` for entries that concern no account. */
  readonly chain: string;
  /** From 1, without gaps. */
  readonly seq: number;
  /** RFC 3339, UTC, milliseconds. */
  readonly at: string;
  readonly actor: Actor;
  /** Subject and past participle: `key.revoked`. */
  readonly action: string;
  /** For example `key:3fA…` or `account:acct_…`. */
  readonly target: string;
  readonly request_id: string | null;
  /** The values that changed, without secrets; null if there was none. */
  readonly before: unknown;
  readonly after: unknown;
  readonly prev_hash: string;
  readonly hash: string;
  /** Names that are shown here and were hashed in a hidden form; absent if the entry has none, or was not opened. */
  readonly hidden?: HiddenNames | undefined;
}

/** Hashes the fields of an entry, with its names as they were hidden, and nothing else that the object has. */
export function auditHash(entry: Omit<AuditEntry, 'hash'>): string {
  const { action, actor, after, at, before, chain, prev_hash, request_id, seq, target } = asHashed(entry);
  const text = canonicalize({ action, actor, after, at, before, chain, prev_hash, request_id, seq, target });
  if (text === undefined) throw new Error('An audit entry has no canonical form.');
  return createHash('sha256').update(text, 'utf8').digest('hex');
}

/** An entry without a canonical form (half a surrogate pair, a number out of range) was never hashed. */
export function isHashed(entry: AuditEntry): boolean {
  try {
    return auditHash(entry) === entry.hash;
  } catch {
    return false;
  }
}

/** `forged`: the hash fits the entry, and the seal does not fit the hash. */
export type SealFault = 'forged' | 'unknown key';

export interface ChainFault {
  readonly seq: number;
  readonly fault: 'altered' | 'missing' | 'not_linked' | SealFault;
}

/** Checks the entries of one chain in order, in any number of batches. */
export class ChainCheck {
  #seq: number;
  #hash: string;
  readonly faults: ChainFault[] = [];

  /** Begins after a given entry, or at the start of the chain. */
  constructor({ hash, seq }: { readonly seq: number; readonly hash: string } = { seq: 0, hash: firstPrevHash }) {
    this.#seq = seq;
    this.#hash = hash;
  }

  /** `seal`: what is wrong with the seal of the entry, as far as is known. */
  next(entry: AuditEntry, seal: SealFault | null = null): void {
    if (entry.seq !== this.#seq + 1) this.faults.push({ seq: this.#seq + 1, fault: 'missing' });
    else if (entry.prev_hash !== this.#hash) this.faults.push({ seq: entry.seq, fault: 'not_linked' });
    const fault = isHashed(entry) ? seal : 'altered';
    if (fault !== null) this.faults.push({ seq: entry.seq, fault });
    this.#seq = entry.seq;
    this.#hash = entry.hash;
  }

  /** Ends the check and returns all faults. `head` is the expected end; a chain that ends earlier was truncated. */
  end(head: { readonly seq: number; readonly hash: string } | null): readonly ChainFault[] {
    if (head !== null && (head.seq !== this.#seq || head.hash !== this.#hash))
      this.faults.push({ seq: Math.min(head.seq, this.#seq) + 1, fault: 'missing' });
    return this.faults;
  }

  get seen(): { readonly seq: number; readonly hash: string } {
    return { seq: this.#seq, hash: this.#hash };
  }
}
