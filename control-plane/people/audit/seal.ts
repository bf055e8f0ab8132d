/**
 * The seals of audit entries: who has the database alone can chain an entry, and cannot seal it.
 *
 * The keys belong to a connection to the database, like the rights that it has, and hold in its transactions.
 *
 * Closed: over a connection without keys no entry is written, and none that is read is genuine.
 */

import type { SealFault } from '@gw/contract/internal/audit-chain';
import type { KeyRing } from '@gw/contract/internal/key-ring';
import type { Database, Queryable } from '@gw/prisma/client';
import { sealFault, sealOf } from '../../shared/seal.ts';

/** The seal of the hash of an entry, in hexadecimal, and the id of its key. */
export interface AuditSeal {
  readonly seal: string;
  readonly seal_key: number;
}

const name: unique symbol = Symbol('keys of the audit log');
const gate: unique symbol = Symbol('whether they may seal');

/** Gives the keys to a connection. Prisma shows its transactions the properties that it has. `maySeal`: whether they are known to be the right ones. */
export function setAuditKeys(db: Database, keys: KeyRing, maySeal: () => boolean = () => true): void {
  Object.assign(db, { [name]: keys, [gate]: maySeal });
}

const keysOf = (db: Partial<Queryable> & { readonly [name]?: KeyRing }): KeyRing | undefined => db[name];

const gateOf = (db: Partial<Queryable> & { readonly [gate]?: () => boolean }): (() => boolean) | undefined => db[gate];

/** Returns what seals hashes over this connection. */
export function auditSealer(db: Queryable): (hash: string) => AuditSeal {
  const current = keysOf(db)?.current;
  if (gateOf(db)?.() === false)
    throw new Error(
      'No change is made: GW_LEDGER_KEY is not known to be the key that the audit log is sealed with. ./gw admin secrets says more.',
    );
  if (current === undefined) throw new Error('An audit entry was to be written over a connection without the keys.');
  return (hash) => ({ seal: sealOf(current, 'gw.audit', hash), seal_key: current.id });
}

/** Returns what is wrong with the seal of a hash; the owner of the database can have taken it off. */
export function auditSealFault(
  db: Queryable,
): (hash: string, seal: string | null, key: number | null) => SealFault | null {
  const keys = keysOf(db);
  return (hash, seal, id) => {
    if (keys === undefined) return 'unknown key';
    return seal === null || id === null ? 'forged' : sealFault(keys, 'gw.audit', hash, { id, seal });
  };
}
