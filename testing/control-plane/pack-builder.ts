/** A process that builds evidence packs as an instance of the control plane does, so that tests can kill it. */

import { signingKeyOf } from '@gw/contract/internal/evidence-keys';
import { startEvidenceJobs } from '@gw/control-plane/internals/ledger/evidence/builds/jobs';
import { openDirectory } from '@gw/control-plane/internals/shared/objects/directory';
import { openDatabase } from '@gw/prisma/client';
import { addresses, silentLog, testSeals } from './fixtures.ts';

export interface BuilderSettings {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly seed: string;
  readonly objectsDir: string;
}

const { databaseUrl, objectsDir, redisUrl, seed }: BuilderSettings = JSON.parse(process.argv[2] ?? '{}');
startEvidenceJobs({
  db: openDatabase(databaseUrl),
  addresses,
  log: silentLog,
  objects: openDirectory(objectsDir),
  seals: testSeals,
  key: signingKeyOf(seed),
  redisUrl,
  limits: { quotaBytes: 1e9 },
  concurrency: 1,
  tendEveryMs: 100,
});
