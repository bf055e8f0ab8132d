/**
 * People and programs who may act: the operators and admins who log in, the keys of accounts, and the audit log of
 * both.
 */

import { randomBytes } from 'node:crypto';
import { hourMs } from '@gw/contract/internal/durations';
import type { KeyRing } from '@gw/contract/internal/key-ring';
import type { Peppers } from '@gw/contract/internal/pepper';
import type { FastifyInstance } from 'fastify';
import type { Registry } from 'prom-client';
import { type Context, inRole } from '../shared/context.ts';
import { type Idempotent, makeChangesIdempotent } from '../shared/idempotent-changes.ts';
import { setNameKeys } from '../shared/names/names.ts';
import { openNamesOfReplies } from '../shared/names/open-replies.ts';
import { wrapAgain } from '../shared/names/wrap-again.ts';
import { allJobs, type RepeatedJob, repeat } from '../shared/repeat.ts';
import type { Vault } from '../shared/vault.ts';
import { accountIssuerRoutes } from './access/account-issuer-routes.ts';
import { peopleActors } from './access/change-actors.ts';
import type { AccessSettings } from './access/config.ts';
import { guardRoutes } from './access/guard.ts';
import { identify } from './access/identify.ts';
import { failedLoginText } from './access/oidc-failure.ts';
import { oidcRoutes } from './access/oidc-routes.ts';
import { operatorRoutes as operatorsRoutes } from './access/operator-routes.ts';
import { secondFactorRoutes } from './access/second-factor-routes.ts';
import { type AccessServices, openAccess, startAccessJobs } from './access/services.ts';
import { sessionRoutes } from './access/session-routes.ts';
import { refuseUnstorableText } from './access/storable-text.ts';
import { auditOperatorRoutes } from './audit/operator-routes.ts';
import { auditRoutes, organisationAuditRoutes } from './audit/routes.ts';
import { setAuditKeys } from './audit/seal.ts';
import { keyActors } from './keys/change-actors.ts';
import { deleteOldHashes } from './keys/delete-hashes.ts';
import { writeFailedVerifications } from './keys/failed-verifications.ts';
import { copyKeyGeneration } from './keys/generation-copy.ts';
import { createKeys, type Keys } from './keys/keys.ts';
import { storeLastUses } from './keys/last-use.ts';
import { keyPeopleRoutes } from './keys/people-routes.ts';
import { keyRoutes } from './keys/routes.ts';

export { warnOfRights } from './audit/append.ts';

/** The services that the routes and jobs of this wing share; one of each per process. */
export interface PeopleServices {
  readonly access: AccessServices;
  readonly keys: Keys;
  /** The master keys of names. */
  readonly nameKeys: KeyRing;
}

export interface PeopleSettings {
  readonly access: AccessSettings;
  readonly peppers: Peppers;
  /** Its key seals the second factors of people too. */
  readonly credentials: { readonly vault: Vault | null };
  /** The master keys of names. */
  readonly nameKeys: KeyRing;
  /** The keys that seal the audit log. */
  readonly integrity: { readonly keys: KeyRing };
  /** False while these keys are not known to be those of the stored entries. */
  readonly mayWriteAudit: () => boolean;
}

/** Makes the services of this wing. Nothing is read from the stores yet. */
export function openPeople(
  context: Context,
  { access, credentials, integrity, mayWriteAudit, nameKeys, peppers }: PeopleSettings,
): PeopleServices {
  for (const db of Object.values(context.databases)) {
    setAuditKeys(db, integrity.keys, mayWriteAudit);
    setNameKeys(db, nameKeys);
  }
  const { current: pepper, other: otherPepper } = peppers;
  return {
    nameKeys,
    access: openAccess(inRole(context, 'people'), access, credentials.vault),
    keys: createKeys({ ...inRole(context, 'customers'), pepper, otherPepper, random: randomBytes }),
  };
}

/** Lets changes on the internal listener take idempotency keys. Call it before the routes are registered. */
export function idempotentChanges(app: FastifyInstance, context: Context, idempotency: Idempotent): void {
  makeChangesIdempotent(app, context, { idempotency, actors: keyActors(inRole(context, 'customers')) });
  openNamesOfReplies(app, context);
}

/** Registers `/v1/audit-log` and `/v1/keys` on the internal listener. */
export function publicRoutes(app: FastifyInstance, context: Context, { keys }: Pick<PeopleServices, 'keys'>): void {
  auditRoutes(app, context);
  keyRoutes(app, inRole(context, 'customers'), keys);
}

/**
 * Makes `app` refuse everybody whom a route does not admit, and its changes take idempotency keys of those whom it admits.
 * Call it before the routes are registered.
 */
export function guard(
  app: FastifyInstance,
  context: Context,
  { access }: PeopleServices,
  idempotency: Idempotent,
): void {
  const lookAgain = guardRoutes(app, {
    identify: (request) => identify(request, inRole(context, 'people'), access.cookie),
    addresses: context.addresses,
    controlUrl: access.settings.controlUrl,
  });
  refuseUnstorableText(app, context);
  makeChangesIdempotent(app, context, { idempotency, actors: peopleActors(lookAgain) });
  openNamesOfReplies(app, context);
}

export function operatorRoutes(app: FastifyInstance, context: Context, { access, keys }: PeopleServices): void {
  const own = inRole(context, 'people');
  sessionRoutes(app, own, access);
  secondFactorRoutes(app, own, access);
  oidcRoutes(app, own, access);
  accountIssuerRoutes(app, own, access);
  operatorsRoutes(app, own, access);
  auditOperatorRoutes(app, context);
  keyPeopleRoutes(app, inRole(context, 'customers'), keys);
  organisationAuditRoutes(app, context);
}

/** Tells the page of the login about identity providers. */
export const loginWords = ({ access }: Pick<PeopleServices, 'access'>) => ({
  // While Postgres is away the page is shown all the same: it says so itself.
  kinds: async () => [
    ...(access.oidc.of(null) === null ? [] : ['operator']),
    ...((await access.accountIssuers.any().catch(() => false)) ? ['organisation_admin'] : []),
  ],
  failure: failedLoginText,
});

/** Adds the metrics of this wing. */
export const registerMetrics = (registry: Registry, { access }: Pick<PeopleServices, 'access'>): void =>
  registry.registerMetric(access.oidcLogins);

/** Starts the jobs of this wing. Resolves after the first attempt to make the first operator. */
export async function startJobs(context: Context, { access, nameKeys }: PeopleServices): Promise<RepeatedJob> {
  const { log } = context;
  // Keys belong to customers.
  const ofKeys = inRole(context, 'customers');
  const ofPeople = inRole(context, 'people');
  return allJobs([
    repeat({ name: 'key generation', everyMs: 500, log, run: () => copyKeyGeneration(ofKeys.db, ofKeys.redis) }),
    repeat({ name: 'hashes of revoked keys', everyMs: 60_000, log, run: () => deleteOldHashes(ofKeys) }),
    repeat({ name: 'last use of keys', everyMs: 10_000, log, run: () => storeLastUses(ofKeys) }),
    repeat({ name: 'failed verifications', everyMs: 5000, log, run: () => writeFailedVerifications(ofKeys) }),
    repeat({
      name: 'keys of names',
      everyMs: hourMs,
      log,
      run: async () => void (await wrapAgain(ofPeople.db, nameKeys, log)),
    }),
    await startAccessJobs(ofPeople, access),
  ]);
}
