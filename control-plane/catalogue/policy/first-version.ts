/** Version 1 is what the software came with when the gateway was first started; later releases leave it as it is. */
import type { Actor } from '@gw/contract/internal/audit-chain';
import { defaultRules } from '@gw/policy/default-rules';
import { appendAudit } from '../../people/audit/append.ts';
import type { Context } from '../../shared/context.ts';
import { findVersionInForce, lockPolicy, writeVersion } from './versions.ts';

const actor: Actor = { kind: 'system', id: 'system', name: null };

/** Returns a job that writes version 1. It can run again and again, and does nothing once it has seen a version. */
export function openFirstVersion({
  db,
  now,
  log,
}: Pick<Context, 'db' | 'now'> & { log: Pick<Context['log'], 'info'> }): () => Promise<void> {
  let isThere = false;
  return async () => {
    if (isThere) return;
    const made = await db.$transaction(async (tx) => {
      await lockPolicy(tx);
      if ((await findVersionInForce(tx)) !== null) return false;
      const at = now();
      const note = 'the rules that the software came with';
      const { sha256, version } = await writeVersion(tx, { actor, at }, { version: 1, rules: defaultRules, note });
      await appendAudit(tx, at, {
        accountId: null,
        actor,
        action: 'policy.published',
        target: `policy:${version}`,
        requestId: null,
        after: { version, sha256, note, rules: { added: defaultRules.map(({ id }) => id), removed: [], changed: [] } },
      });
      return true;
    });
    isThere = true;
    if (made) log.info({ version: 1 }, 'wrote the first rules of screening');
  };
}
