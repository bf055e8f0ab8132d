/**
 * The rules in force and who is exempt from which, as the snapshot carries them. They are handed on as they are stored:
 * whoever screens judges for itself whether it can use them, so that they hold up nothing else.
 */
import type { Policy } from '@gw/contract/internal/policy-rules';
import type { Prisma } from '@gw/prisma/client';
import type { StoredRule } from './check-rules.ts';
import { grouped } from './grouped.ts';
import { findVersionInForce } from './versions.ts';

type StoredPolicy = Omit<Policy, 'rules'> & { readonly rules: readonly StoredRule[] };

/** Null until the first version is there: services screen by the rules that they came with. `tx` sees one moment. */
export async function readPolicy(tx: Prisma.TransactionClient): Promise<StoredPolicy | null> {
  const inForce = await findVersionInForce(tx);
  if (inForce === null) return null;
  const rows = await tx.policyExemption.findMany({ orderBy: [{ accountId: 'asc' }, { ruleId: 'asc' }] });
  const byAccount = [...grouped(rows, ({ accountId }) => accountId)];
  const exemptions = Object.fromEntries(byAccount.map(([id, own]) => [id, own.map(({ ruleId }) => ruleId)]));
  const { rules, sha256, version } = inForce;
  return { version, sha256, rules, exemptions };
}
