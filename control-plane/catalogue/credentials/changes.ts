/**
 * Credentials that operators set, rotate and take out while the gateway runs.
 *
 * Invariant: each change is one transaction with its audit entry, which says where a credential goes and never what it
 * is.
 */
import { apiError, fieldError } from '@gw/contract/errors';
import { err, ok } from '@gw/contract/internal/result';
import type { Database } from '@gw/prisma/client';
import type { ChangeContext } from '../../people/access/change.ts';
import { type ChangeResult, invalidTransition, notFound } from '../../people/access/refusals.ts';
import { appendAudit } from '../../people/audit/append.ts';
import type { Vault } from '../../shared/vault.ts';
import { inTurn } from '../entries/entry-changes.ts';
import { namesOf, type Tx } from '../entries/entry-kind.ts';
import { originOf } from './credentials.ts';

export interface CredentialChanges {
  /** `baseUrl`: where it goes; null: where the providers are that name it, or, if there are none, where it went before. */
  set(change: ChangeContext, name: string, value: string, baseUrl: string | null): Promise<ChangeResult<string>>;
  /** Exchanges it for the one before. */
  restore(change: ChangeContext, name: string): Promise<ChangeResult<string>>;
  /** Refuses while a provider names it, unless `hasOther` says that one of another source takes its place. */
  remove(change: ChangeContext, name: string, hasOther: boolean): Promise<ChangeResult<string>>;
}

export function openCredentialChanges(db: Database, vault: Vault | null): CredentialChanges {
  const unknown = () => err(notFound('provider_credential'));
  return {
    set: async (change, name, value, baseUrl) => {
      if (vault === null)
        return err(
          invalidTransition(
            'Credentials cannot be set here: GW_CREDENTIALS_KEY of the control plane, which encrypts them, is not set.',
          ),
        );
      return inTurn(db, change, async (tx) => {
        const before = await tx.providerCredential.findUnique({ where: { name } });
        const origin = await originFor(tx, name, baseUrl, before?.origin ?? null);
        if (!origin.ok) return origin;
        const data = {
          origin: origin.value,
          sealed: bytes(vault.seal(value, { name, origin: origin.value })),
          // Sealed for where it went.
          previous: before?.origin === origin.value ? before.sealed : null,
          setAt: change.at,
        };
        await tx.providerCredential.upsert({ where: { name }, create: { name, ...data }, update: data });
        await note(tx, change, name, 'set', before?.origin ?? null, origin.value);
        return ok(name);
      });
    },
    restore: (change, name) =>
      inTurn(db, change, async (tx) => {
        const before = await tx.providerCredential.findUnique({ where: { name } });
        if (before === null) return unknown();
        const { origin, previous, sealed } = before;
        if (previous === null) return err(invalidTransition(`There is no credential before this one of ${name}.`));
        if (vault?.open(previous, { name, origin }) == null)
          return err(
            invalidTransition('The one before was set with another GW_CREDENTIALS_KEY, and cannot be opened.'),
          );
        const data = { sealed: previous, previous: sealed, setAt: change.at };
        await tx.providerCredential.update({ where: { name }, data });
        await note(tx, change, name, 'restored', origin, origin);
        return ok(name);
      }),
    remove: (change, name, hasOther) =>
      inTurn(db, change, async (tx) => {
        const before = await tx.providerCredential.findUnique({ where: { name } });
        if (before === null) return unknown();
        const users = await tx.provider.findMany({ where: { credentialRef: name }, orderBy: { id: 'asc' } });
        if (users.length > 0 && !hasOther)
          return err(
            invalidTransition(`The credential is in use; providers name it: ${namesOf(users.map(({ id }) => id))}.`),
          );
        await tx.providerCredential.delete({ where: { name } });
        await note(tx, change, name, 'removed', before.origin, null);
        return ok(name);
      }),
  };
}

/** The buffers of the database client are none that others share. */
const bytes = (buffer: Buffer): Uint8Array<ArrayBuffer> => new Uint8Array(buffer);

async function originFor(
  tx: Tx,
  name: string,
  baseUrl: string | null,
  before: string | null,
): Promise<ChangeResult<string>> {
  const named = await tx.provider.findMany({ where: { credentialRef: name } });
  const origins = [...new Set(named.map((provider) => originOf(provider.baseUrl)))];
  if (baseUrl !== null) {
    const origin = originOf(baseUrl);
    const others = origins.filter((each) => each !== origin);
    return others.length === 0
      ? ok(origin)
      : err(
          fieldError(
            'base_url',
            `base_url: providers that name ${name} are at ${namesOf(others)}: a credential goes to one place.`,
          ),
        );
  }
  // Where the providers are now counts: one that has moved must not have its new credential sent to where it was.
  const origin = origins.length === 0 ? before : origins.length === 1 ? origins[0] : null;
  if (origin != null) return ok(origin);
  const message =
    origins.length === 0
      ? `No provider names ${name} yet: say where it may be sent, as the provider's address.`
      : `Providers at ${namesOf(origins)} name ${name}: a credential goes to one place, so each needs its own.`;
  return err(apiError('missing_required_parameter', { param: 'base_url', message }));
}

const note = (
  tx: Tx,
  { actor, at, requestId }: ChangeContext,
  name: string,
  verb: string,
  before: string | null,
  after: string | null,
) =>
  appendAudit(tx, at, {
    accountId: null,
    actor,
    requestId,
    action: `provider_credential.${verb}`,
    target: `provider_credential:${name}`,
    before: before === null ? null : { origin: before },
    after: after === null ? null : { origin: after },
  });
