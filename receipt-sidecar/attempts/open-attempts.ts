/** Puts together what this process remembers of the attempts of its calls and, where there are several sidecars, of theirs. */
import { failedAttemptChannel, judgedAttemptChannel, lostAttemptChannel } from '@gw/contract/internal/redis';
import type { Logger } from '@gw/service/log';
import type { Redis } from 'ioredis';
import type { z } from 'zod';
import { sharedByRedis } from '../wire/shared.ts';
import { createAddedFields } from './added-fields.ts';
import { countCallsUnderWay } from './calls-under-way.ts';
import { createFirstAttempts, lostAttemptSchema } from './direct-first-attempts.ts';
import { createFailedAttempts, failedAttemptSchema } from './failed-attempts.ts';
import { createOperatorNotices } from './operator-notices.ts';
import { createDeploymentHealth, judgedAttemptSchema } from './resting-deployments.ts';
import { createMeasuredTrouble, showTrouble } from './unavailable-deployments.ts';

interface AttemptStores {
  readonly redis: Redis;
  /** A connection for channels alone. */
  readonly subscriber: Redis;
  /** Whether other sidecars share the calls. */
  readonly isShared: boolean;
  readonly log: Logger;
  /** A monotonic clock, ms. */
  readonly clock: () => number;
}

export function openAttempts({ clock, isShared, log, redis, subscriber }: AttemptStores) {
  const shared = <T>(channel: string, schema: z.ZodType<T>) =>
    isShared ? sharedByRedis({ redis, subscriber }, channel, schema) : null;
  const show = showTrouble(redis, Date.now);
  const health = createDeploymentHealth(clock, log, shared(judgedAttemptChannel, judgedAttemptSchema));
  const degraded = (): Record<string, string> => {
    const sentence = health.sentence();
    return sentence === null ? {} : { deployments_failing: sentence };
  };
  return {
    failedAttempts: createFailedAttempts(shared(failedAttemptChannel, failedAttemptSchema)),
    firstAttempts: createFirstAttempts(clock, shared(lostAttemptChannel, lostAttemptSchema)),
    addedFields: createAddedFields(clock, log),
    health,
    /** For `/healthz`: the deployments that fail. */
    degraded,
    notices: createOperatorNotices(log, show),
    trouble: createMeasuredTrouble(clock, show),
    accountTrouble: createMeasuredTrouble(clock),
    underWay: countCallsUnderWay(),
  };
}
