/** The rules in force and who is exempt from which, as the snapshot carries them. */
import { type Policy, policySchema } from '@gw/contract/internal/policy-rules';
import type { Prisma } from '@gw/prisma/client';
import { grouped } from './grouped.ts';
import { findVersionInForce } from './versions.ts';

/** Null until the first version is there: services screen by the rules that they came with. `tx` sees one moment. */
export async function readPolicy(tx: Prisma.TransactionClient): Promise<Policy | null> {
  const inForce = await findVersionInForce(tx);
  if (inForce === null) return null;
  const rows = await tx.policyExemption.findMany({ orderBy: [{ accountId: 'asc' }, { ruleId: 'asc' }] });
  const byAccount = [...grouped(rows, ({ accountId }) => accountId)];
  const exemptions = Object.fromEntries(byAccount.map(([id, own]) => [id, own.map(({ ruleId }) => ruleId)]));
  const { rules, sha256, version } = inForce;
  return policySchema.parse({ version, sha256, rules, exemptions });
}
