/** The services that the routes for people share; one of each per process. */
import { hourMs } from '@gw/contract/internal/durations';
import type { Context } from '../../shared/context.ts';
import { type RepeatedJob, repeat } from '../../shared/repeat.ts';
import type { Vault } from '../../shared/vault.ts';
import { type Attempts, openAttempts } from './attempts.ts';
import type { AccessSettings } from './config.ts';
import { type Credentials, openCredentials } from './credential.ts';
import { FailedLogins } from './failed-logins.ts';
import { makeFirstOperator } from './first-operator.ts';
import { type Oidc, openOidc } from './oidc.ts';
import { openSecondFactors, type SecondFactors } from './second-factor.ts';
import { type SessionCookie, sessionCookie } from './session-cookie.ts';

export interface AccessServices {
  readonly settings: AccessSettings;
  readonly cookie: SessionCookie;
  readonly credentials: Credentials;
  readonly attempts: Attempts;
  readonly failedLogins: FailedLogins;
  readonly secondFactors: SecondFactors;
  /** Null: not configured. */
  readonly oidc: Oidc | null;
}

/** `vault` seals second factors; null: none can be set. */
export function openAccess(context: Context, settings: AccessSettings, vault: Vault | null): AccessServices {
  return {
    settings,
    // Plain HTTP is for loopback alone, where a browser may not keep a cookie that demands TLS.
    cookie: sessionCookie(settings.controlUrl.startsWith('https:')),
    credentials: openCredentials(settings.credentialCost),
    attempts: openAttempts(context.redis, context.now),
    failedLogins: new FailedLogins(context),
    secondFactors: openSecondFactors(vault, new URL(settings.controlUrl).hostname),
    oidc: settings.oidc && openOidc(settings.oidc, settings.controlUrl, context),
  };
}

/**
 * Resolves after the first attempt to make the first operator, which is repeated until Postgres answers. `stop` writes
 * the failed logins that are only counted so far.
 */
export async function startAccessJobs(context: Context, access: AccessServices): Promise<RepeatedJob> {
  const { log } = context;
  const { failedLogins, secondFactors, settings } = access;
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
    repeat({ name: 'seals of second factors', everyMs: hourMs, log, run: () => secondFactors.sealAgain(context.db) }),
  ];
  return {
    stop: async () => {
      await Promise.all(jobs.map((job) => job.stop()));
      await failedLogins.write(true).catch(() => log.warn('failed logins of the last minute are not in the audit log'));
    },
  };
}
