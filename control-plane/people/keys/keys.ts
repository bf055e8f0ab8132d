/**
 * The life of API keys: issue, rotation, limits, revocation, restoring.
 *
 * Invariant: the plaintext is in the value that `create`, `rotate` and `issueFirst` return, and nowhere else. Each
 * change is one transaction with its audit entry, holds the row that it decides about and whoever asks for it
 * (`caller.ts`), and is announced after its commit. A key that exists may always be revoked; what opens a door needs an
 * active account.
 */
import type { AccountTier } from '@gw/contract/access';
import { isRetired, type Pepper, type Peppers } from '@gw/contract/internal/pepper';
import { err, ok } from '@gw/contract/internal/result';
import type { IssuedKeyObject, KeyChange, KeyCreate, KeyListQuery, KeyObject, KeyRotate } from '@gw/contract/keys';
import type { Context } from '../../shared/context.ts';
import { appendAudit } from '../audit/append.ts';
import { announceKeyChange } from './announce.ts';
import { type Caller, holdForChange } from './caller.ts';
import { type IssueOptions, issue, type NewKey, newKey, subject } from './issue.ts';
import {
  findKeyRow,
  isRestorable,
  type KeyRow,
  keyObject,
  limitsOf,
  listKeys,
  liveSuccessorOf,
  scopesOf,
  stateOf,
} from './key-row.ts';
import { setLimits, viewOf } from './limits.ts';
import { setProject } from './project.ts';
import type { Changed, KeyResult, Transaction } from './result.ts';

export interface KeysOptions extends IssueOptions, Pick<Context, 'db' | 'redis' | 'log'> {
  /** The other pepper that is known while the pepper is being replaced; null at other times. */
  readonly otherPepper?: Pepper | null;
}

const patience = { maxWait: 5000, timeout: 10_000 };

export type Keys = ReturnType<typeof createKeys>;

/** Makes the changes of keys. Each returns a refusal if the key, the account or the caller does not allow it. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: the changes of a key, each short, over one way to make and announce them.
export function createKeys(options: KeysOptions) {
  const { db, now } = options;
  const peppers: Peppers = { current: options.pepper, other: options.otherPepper ?? null };

  /** Runs `run` in one transaction, then tells every ext-authz of the key that it names as changed, if any. */
  const change = async <T>(run: (tx: Transaction) => Promise<Changed<T>>) => {
    const { changed, ...result } = await db.$transaction(run, patience);
    if (changed !== undefined) await announceKeyChange(options, changed);
    return result as KeyResult<T>;
  };

  /** Locks the account, so that it cannot be suspended between this check and the change. */
  const activeAccount = async (tx: Transaction, id: string): Promise<KeyResult<{ tier: AccountTier }>> => {
    const [account] = await tx.$queryRaw<{ tier: AccountTier; state: string }[]>`
      SELECT tier::text AS tier, state::text AS state FROM accounts WHERE id = ${id} FOR NO KEY UPDATE`;
    if (account === undefined) return err({ why: 'unknown_account' });
    if (account.state !== 'active') return err({ why: 'account_not_active', state: account.state });
    return ok({ tier: account.tier });
  };

  const issueIn = (tx: Transaction, key: NewKey, caller: Caller) => issue(tx, key, caller, options);

  return {
    list: (accountId: string, query: KeyListQuery) => listKeys(options, accountId, query),

    async read(accountId: string, id: string): Promise<KeyObject | null> {
      const row = await findKeyRow(db, accountId, id);
      return row && keyObject(row, now());
    },

    create: (accountId: string, wanted: KeyCreate, caller: Caller) =>
      change<IssuedKeyObject>(async (tx) => {
        const account = await activeAccount(tx, accountId);
        const { refusal } = await holdForChange(tx, accountId, null, caller, now());
        if (refusal) return err({ why: 'caller', error: refusal });
        if (!account.ok) return account;
        return issueIn(tx, { ...newKey(wanted), accountId, tier: account.value.tier, predecessor: null }, caller);
      }),

    /**
     * Issues a successor; the predecessor works until it is revoked. It is refused while an earlier successor is
     * active: rotations at the same time, or one that is sent again because its reply was lost, make only one key, so
     * that there is none that nobody knows of. The account is locked, so each rotation sees what the one before has
     * made.
     */
    rotate: (accountId: string, id: string, wanted: KeyRotate, caller: Caller) =>
      change<IssuedKeyObject>(async (tx) => {
        const account = await activeAccount(tx, accountId);
        const { refusal, row: predecessor } = await holdForChange(tx, accountId, id, caller, now());
        if (refusal) return err({ why: 'caller', error: refusal });
        if (!account.ok) return account;
        if (predecessor === null) return err({ why: 'unknown_key' });
        if (predecessor.revoked_at !== null) return err({ why: 'revoked' });
        const successor = await liveSuccessorOf(tx, predecessor, now());
        if (successor !== null) return err({ why: 'has_successor', successor });
        const name = wanted.name ?? predecessor.name;
        const scopes = wanted.scopes ?? scopesOf(predecessor);
        const key = {
          ...newKey({ ...wanted, name, scopes }),
          limits: limitsOf(predecessor),
          project: predecessor.project,
        };
        return issueIn(tx, { ...key, accountId, tier: account.value.tier, predecessor }, caller);
      }),

    /** Changes nothing if the key is revoked already, not even the time. A key may always revoke itself. */
    revoke: (accountId: string, id: string, caller: Caller) =>
      change<KeyObject>(async (tx) => {
        const { refusal, row } = await holdForChange(tx, accountId, id, caller, now());
        const isOwn = caller.actor.kind === 'api_key' && caller.actor.id === id;
        if (refusal && !isOwn) return err({ why: 'caller', error: refusal });
        if (row === null) return err({ why: 'unknown_key' });
        return row.revoked_at === null ? setRevoked(tx, row, now(), caller, now()) : ok(keyObject(row, now()));
      }),

    /** Changes nothing if the key is not revoked. */
    restore: (accountId: string, id: string, caller: Caller) =>
      change<KeyObject>(async (tx) => {
        const account = await activeAccount(tx, accountId);
        const { refusal, row } = await holdForChange(tx, accountId, id, caller, now());
        if (refusal) return err({ why: 'caller', error: refusal });
        if (row === null) return err({ why: 'unknown_key' });
        if (row.revoked_at === null) return ok(keyObject(row, now()));
        if (!account.ok) return account;
        if (!isRestorable(row, now())) return err({ why: 'too_late' });
        // It would be shown as active and never be let in.
        if (isRetired(peppers, row.pepper_version)) return err({ why: 'pepper_retired' });
        if (caller.actor.kind === 'api_key' && row.scopes.includes('admin:keys')) return err({ why: 'people_only' });
        return setRevoked(tx, row, null, caller, now());
      }),

    /**
     * Sets how much of the account's limits the key may use, or the project that its calls are charged to; null means all,
     * or none. The same again changes nothing.
     */
    change: (accountId: string, id: string, { limits, project }: KeyChange, caller: Caller) =>
      change<KeyObject>(async (tx) => {
        const account = await activeAccount(tx, accountId);
        const { refusal, row } = await holdForChange(tx, accountId, id, caller, now());
        if (refusal) return err({ why: 'caller', error: refusal });
        if (row === null) return err({ why: 'unknown_key' });
        if (!account.ok) return account;
        if (row.revoked_at !== null) return err({ why: 'revoked' });
        const limited =
          limits === undefined ? ok(keyObject(row, now())) : await setLimits(tx, row, viewOf(limits), caller, now());
        if (!limited.ok || project === undefined) return limited;
        return { ...limited, ...(await setProject(tx, row, project, caller, now())) };
      }),

    /**
     * Issues the first key of an account, in the transaction that completes its onboarding. That transaction has to
     * make the account active; call `announce` after its commit.
     */
    issueFirst: (tx: Transaction, accountId: string, tier: AccountTier, wanted: KeyCreate, caller: Caller) =>
      issueIn(tx, { ...newKey(wanted), accountId, tier, predecessor: null }, caller) as Promise<
        KeyResult<IssuedKeyObject>
      >,

    announce: (publicId: string) => announceKeyChange(options, publicId),
  };
}

/** `row` is held by `tx`. `revokedAt` null: restores it. */
async function setRevoked(
  tx: Transaction,
  row: KeyRow,
  revokedAt: Date | null,
  { actor, requestId }: Caller,
  at: Date,
): Promise<Changed<KeyObject>> {
  await tx.$executeRaw`UPDATE api_keys SET revoked_at = ${revokedAt} WHERE public_id = ${row.public_id}::text`;
  const after = { ...row, revoked_at: revokedAt };
  const shown = (each: KeyRow) => ({
    state: stateOf(each, at),
    revoked_at: each.revoked_at?.toISOString() ?? null,
  });
  const action = revokedAt === null ? 'key.restored' : 'key.revoked';
  await appendAudit(tx, at, {
    ...subject(row),
    actor,
    requestId,
    action,
    before: shown(row),
    after: shown(after),
  });
  return { ...ok(keyObject(after, at)), changed: row.public_id };
}
