/** The services that the routes for people share; one of each per process. */
import { hourMs } from '@gw/contract/internal/durations';
import type { Context } from '../../shared/context.ts';
import { type RepeatedJob, repeat } from '../../shared/repeat.ts';
import type { Vault } from '../../shared/vault.ts';
import { type AccountIssuers, openAccountIssuers, sealIssuersAgain } from './account-issuers.ts';
import { type Attempts, openAttempts } from './attempts.ts';
import type { AccessSettings } from './config.ts';
import { type Credentials, openCredentials } from './credential.ts';
import { lookUpTxt } from './domain-record.ts';
import { FailedLogins } from './failed-logins.ts';
import { makeFirstOperator } from './first-operator.ts';
import { oidcLogins } from './oidc-failure.ts';
import { type OidcProviders, openOidcProviders } from './oidc-providers.ts';
import { openSecondFactors, type SecondFactors } from './second-factor.ts';
import { type SessionCookie, sessionCookie } from './session-cookie.ts';

export interface AccessServices {
  readonly settings: AccessSettings;
  readonly cookie: SessionCookie;
  readonly credentials: Credentials;
  readonly attempts: Attempts;
  readonly failedLogins: FailedLogins;
  readonly secondFactors: SecondFactors;
  readonly accountIssuers: AccountIssuers;
  readonly oidc: OidcProviders;
  /** How logins with identity providers ended. */
  readonly oidcLogins: ReturnType<typeof oidcLogins>;
  /** Seals again with the current key what the one before has sealed. */
  sealAgain(): Promise<void>;
}

/** `vault` seals second factors and the secrets of issuers; null: none can be set. `txt` is for tests. */
export function openAccess(
  context: Context,
  settings: AccessSettings,
  vault: Vault | null,
  txt = lookUpTxt,
): AccessServices {
  const secondFactors = openSecondFactors(vault, new URL(settings.controlUrl).hostname);
  const accountIssuers = openAccountIssuers(context, vault, txt);
  return {
    settings,
    // Plain HTTP is for loopback alone, where a browser may not keep a cookie that demands TLS.
    cookie: sessionCookie(settings.controlUrl.startsWith('https:')),
    credentials: openCredentials(settings.credentialCost),
    attempts: openAttempts(context.redis, context.now),
    failedLogins: new FailedLogins(context),
    secondFactors,
    accountIssuers,
    oidc: openOidcProviders(settings, accountIssuers, context),
    oidcLogins: oidcLogins(),
    sealAgain: async () => {
      await secondFactors.sealAgain(context.db);
      await sealIssuersAgain(context.db, vault);
    },
  };
}

/**
 * Resolves after the first attempt to make the first operator, which is repeated until Postgres answers. `stop` writes
 * the failed logins that are only counted so far.
 */
export async function startAccessJobs(context: Context, access: AccessServices): Promise<RepeatedJob> {
  const { log } = context;
  const { failedLogins, settings } = access;
  let pending = settings.firstOperator;
  const makeFirst = async (): Promise<void> => {
    if (pending === null) return;
    const made = await makeFirstOperator(context, access.credentials, pending);
    if (made) log.info('made the first operator');
    pending = null;
  };
  await makeFirst().catch(() => {});
  const jobs = [
    repeat({ name: 'first operator', everyMs: 5000, log, run: makeFirst }),
    repeat({ name: 'failed logins', everyMs: 5000, log, run: () => failedLogins.write() }),
    repeat({ name: 'seals of second factors and issuers', everyMs: hourMs, log, run: () => access.sealAgain() }),
  ];
  return {
    stop: async () => {
      await Promise.all(jobs.map((job) => job.stop()));
      await failedLogins.write(true).catch(() => log.warn('failed logins of the last minute are not in the audit log'));
    },
  };
}
