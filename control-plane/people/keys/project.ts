/**
 * The project that a key charges its calls to.
 *
 * Invariant: a key that is for a project issues keys for that project alone, or it could charge another with a key that it has made.
 */
import type { Actor } from '@gw/contract/internal/audit-chain';
import { err, ok, type Result } from '@gw/contract/internal/result';
import type { KeyObject } from '@gw/contract/keys';
import { appendAudit } from '../audit/append.ts';
import type { Caller } from './caller.ts';
import { findKeyRow, type KeyRow, keyObject, type Reader } from './key-row.ts';
import type { KeyRefusal } from './refusals.ts';
import type { Changed, Transaction } from './result.ts';

/** Returns the project of a key to issue: by a key that has one, its own. `tx` has to hold the row of that key. */
export async function projectToIssue(
  tx: Reader,
  { accountId, predecessor, project }: Pick<KeyRow, 'project'> & { accountId: string; predecessor: KeyRow | null },
  { id, kind }: Actor,
): Promise<Result<string | null, KeyRefusal>> {
  const asking = kind === 'api_key' ? await findKeyRow(tx, accountId, id) : null;
  const own = asking?.project ?? null;
  if (own === null || project === own) return ok(project);
  // A successor takes over what its predecessor is for, which is nothing that may be left out.
  return project === null && predecessor === null ? ok(own) : err({ why: 'project_not_own', project: own });
}

/** Sets the project of a key, with the audit entry; null takes it away. `tx` has to hold `row`. */
export async function setProject(
  tx: Transaction,
  row: KeyRow,
  project: string | null,
  { actor, requestId }: Caller,
  at: Date,
): Promise<Changed<KeyObject>> {
  if (project !== row.project) {
    await tx.$executeRaw`UPDATE api_keys SET project = ${project} WHERE public_id = ${row.public_id}::text`;
    await appendAudit(tx, at, {
      accountId: row.account_id,
      target: `key:${row.public_id}`,
      actor,
      requestId,
      action: 'key.project_changed',
      before: { project: row.project },
      after: { project },
    });
  }
  const after = await findKeyRow(tx, row.account_id, row.public_id);
  if (after === null) throw new Error('A key that was changed cannot be read.');
  return { ...ok(keyObject(after, at)), ...(project !== row.project && { changed: row.public_id }) };
}
