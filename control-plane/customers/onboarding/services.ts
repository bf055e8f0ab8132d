/** The services that the routes and jobs of onboarding share; one of each per process. */
import { randomBytes } from 'node:crypto';
import type { Keys } from '../../people/keys/keys.ts';
import type { Context } from '../../shared/context.ts';
import type { RepeatedJob } from '../../shared/repeat.ts';
import type { ScreeningSettings } from '../screening/config.ts';
import { loadUsePolicy, type UsePolicy } from '../screening/use-policy.ts';
import { startOnboardingJobs } from './jobs.ts';
import { createOnboarding, type Onboarding } from './steps.ts';

export interface OnboardingServices {
  readonly onboarding: Onboarding;
  readonly policy: UsePolicy;
  readonly settings: ScreeningSettings;
}

/** Throws if the operator's policy file is missing or malformed. */
export function openOnboarding(
  { db, now }: Pick<Context, 'db' | 'now'>,
  keys: Keys,
  settings: ScreeningSettings,
): OnboardingServices {
  const newAccountId = (): string => `acct_${randomBytes(12).toString('hex')}`;
  const { idleDays } = settings;
  return {
    onboarding: createOnboarding({ db, now, keys, newAccountId, idleDays }),
    policy: loadUsePolicy(settings),
    settings,
  };
}

export const startOnboarding = (
  { db, now, log }: Pick<Context, 'db' | 'now' | 'log'>,
  services: OnboardingServices,
  redisUrl: string,
): RepeatedJob => startOnboardingJobs({ db, now, log, redisUrl, ...services });
