/** What happens to keys by itself. */
import type { Context } from '../../shared/context.ts';
import { allJobs, type RepeatedJob, repeat } from '../../shared/repeat.ts';
import { deleteOldHashes } from './delete-hashes.ts';
import { writeFailedVerifications } from './failed-verifications.ts';
import { copyKeyGeneration } from './generation-copy.ts';
import { storeLastUses } from './last-use.ts';

export function startKeyJobs(context: Context): RepeatedJob {
  const { db, redis, log } = context;
  const jobs = [
    repeat({ name: 'key generation', everyMs: 500, log, run: () => copyKeyGeneration(db, redis) }),
    repeat({ name: 'hashes of revoked keys', everyMs: 60_000, log, run: () => deleteOldHashes(context) }),
    repeat({ name: 'last use of keys', everyMs: 10_000, log, run: () => storeLastUses(context) }),
    repeat({ name: 'failed verifications', everyMs: 5000, log, run: () => writeFailedVerifications(context) }),
  ];
  return allJobs(jobs);
}
