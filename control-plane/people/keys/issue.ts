/**
 * Makes one key, in the transaction of whoever may. Its plaintext is in the value that is returned, and nowhere else.
 */
import { type AccountTier, defaultScopes, type Scope } from '@gw/contract/access';
import { generateApiKey, hashApiKey, type RandomBytes } from '@gw/contract/internal/api-key';
import type { Actor } from '@gw/contract/internal/audit-chain';
import { elementAt } from '@gw/contract/internal/defined';
import { dayMs } from '@gw/contract/internal/durations';
import type { Pepper } from '@gw/contract/internal/pepper';
import { err, ok } from '@gw/contract/internal/result';
import { hasKeyExtras, type IssuedKeyObject, type KeyCreate, type KeyLimitsView, mayGrant } from '@gw/contract/keys';
import { expectPepper } from '@gw/prisma/pepper-check';
import type { Context } from '../../shared/context.ts';
import { hide } from '../../shared/names/names.ts';
import { type AuditFact, appendAudit } from '../audit/append.ts';
import type { Caller } from './caller.ts';
import { findKeyRow, type KeyRow, keyObject } from './key-row.ts';
import { limitsRefusal, ownLimitsRefusal, viewOf } from './limits.ts';
import { projectToIssue } from './project.ts';
import { type KeyRefusal, mostKeys } from './refusals.ts';
import type { Changed, Transaction } from './result.ts';

export interface IssueOptions extends Pick<Context, 'now'> {
  /** The secret that new keys are hashed with. */
  readonly pepper: Pepper;
  readonly random: RandomBytes;
}

/** A key to issue. Null as `expiresAt` means never; null as `predecessor` means that it succeeds no other key. */
export interface NewKey {
  readonly accountId: string;
  readonly tier: AccountTier;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly expiresAt: Date | null;
  readonly limits: KeyLimitsView | null;
  readonly project: string | null;
  readonly predecessor: KeyRow | null;
}

/** Turns a request into a key to issue, with the default scopes if it names none. */
export const newKey = ({ name, scopes, expires_at, limits, project }: KeyCreate) => ({
  name,
  scopes: scopes ?? defaultScopes,
  expiresAt: expires_at ? new Date(expires_at) : null,
  limits: viewOf(limits),
  project: project ?? null,
});

/** Issues a key, with its audit entry, or refuses. `tx` has to hold the row of the account already. */
export async function issue(
  tx: Transaction,
  key: NewKey,
  { actor, requestId }: Caller,
  { now, pepper, random }: IssueOptions,
): Promise<Changed<IssuedKeyObject>> {
  const at = now();
  const refusal = refusalOf(key, actor, at);
  if (refusal) return err(refusal);
  const { accountId, limits, predecessor } = key;
  // A successor takes over limits that were allowed once; if the account has less by now, its own limits bind.
  const tooWide = limits !== null && predecessor === null ? await limitsRefusal(tx, accountId, limits) : null;
  if (tooWide) return err(tooWide);
  const aboveOwn = await ownLimitsRefusal(tx, accountId, actor, limits);
  if (aboveOwn) return err(aboveOwn);
  const project = await projectToIssue(tx, key, actor);
  if (!project.ok) return project;
  const excess = await excessOf(tx, key, actor, at);
  if (excess) return err(excess);
  await expectPepper(tx, pepper);
  const { plaintext, publicId } = generateApiKey(random);
  const hiddenName = await hide(tx, `account:${accountId}`, key.name);
  await tx.$executeRaw`
    INSERT INTO api_keys (public_id, account_id, name, hash, pepper_version, scopes, created_at, expires_at, predecessor,
      limit_per_s, limit_burst, limit_per_day, limit_streams, tokens_per_minute, tokens_per_day, project)
    VALUES (${publicId}, ${accountId}, ${hiddenName}, ${new Uint8Array(hashApiKey(plaintext, pepper.secret))},
      ${pepper.version}, ${[...key.scopes]}, ${at}, ${key.expiresAt}, ${predecessor?.public_id ?? null},
      ${limits?.per_s ?? null}, ${limits?.burst ?? null}, ${limits?.per_day ?? null}, ${limits?.streams ?? null},
      ${limits?.tokens_per_minute ?? null}, ${limits?.tokens_per_day ?? null},
      ${project.value})`;
  const row = await findKeyRow(tx, accountId, publicId);
  if (row === null) throw new Error('A key that was issued cannot be read.');
  const shown = keyObject(row, at);
  const { name, scopes, expires_at, id } = shown;
  const made = {
    id,
    name,
    scopes,
    expires_at,
    ...(shown.limits && { limits: shown.limits }),
    ...(shown.project !== null && { project: shown.project }),
  };
  const fact: AuditFact = predecessor
    ? { ...subject(predecessor), actor, requestId, action: 'key.rotated', after: { successor: made } }
    : { ...subject(row), actor, requestId, action: 'key.created', after: made };
  await appendAudit(tx, at, fact);
  return { ...ok({ ...shown, key: plaintext }), changed: publicId };
}

/**
 * A key fills an account less far than people may, and only so much in a day, so that whoever has stolen one cannot
 * keep the people of the account from issuing what they need. The account is held by `tx`.
 */
async function excessOf(
  tx: Transaction,
  { accountId, tier }: NewKey,
  actor: Actor,
  at: Date,
): Promise<KeyRefusal | null> {
  const byKey = actor.kind === 'api_key';
  const counts = await tx.$queryRaw<{ valid: bigint; today: bigint }[]>`
    SELECT count(*) FILTER (WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ${at} OR NOT ${hasKeyExtras(tier)})) AS valid,
      count(*) FILTER (WHERE created_at > ${new Date(at.getTime() - dayMs)}) AS today
    FROM api_keys WHERE account_id = ${accountId}`;
  const { today, valid } = elementAt(counts, 0);
  if (Number(valid) >= (byKey ? mostKeys.byKey : mostKeys.byPeople)) return { why: 'too_many' };
  return byKey && Number(today) >= mostKeys.byKeyInADay ? { why: 'too_many_today' } : null;
}

/** Returns the account and the target by which the audit log names a key. */
export const subject = ({ account_id, public_id }: KeyRow) => ({ accountId: account_id, target: `key:${public_id}` });

function refusalOf(key: NewKey, actor: Actor, at: Date): KeyRefusal | null {
  const byKey = actor.kind === 'api_key';
  const scope = key.scopes.find((each) => !mayGrant(each, key.tier, byKey));
  if (scope !== undefined) {
    const inherited = key.predecessor?.scopes.includes(scope) ?? false;
    return { why: 'scope_not_granted', scope, byKey, inherited };
  }
  if (key.expiresAt === null) return null;
  if (!hasKeyExtras(key.tier)) return { why: 'expiry_not_offered' };
  return key.expiresAt <= at ? { why: 'expiry_past' } : null;
}
