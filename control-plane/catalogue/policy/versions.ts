/**
 * The versions of the rules that requests are screened by.
 *
 * Invariant: a version is one whole set and never changes; the newest is in force. Versions are published one after the
 * other, each by whoever knew the one before and still may, in one transaction with its entry in the audit log. A set
 * that cannot be compiled is never published. A publication that changes no rule leaves no trace. What is stored may be
 * of another release and mean nothing to this one: it is shown as it is, and can always be replaced.
 */
import { isDeepStrictEqual } from 'node:util';
import { type ApiError, fieldError } from '@gw/contract/errors';
import { type PolicyRule, rulesSha256 } from '@gw/contract/internal/policy-rules';
import { err, ok } from '@gw/contract/internal/result';
import type { Database, Prisma } from '@gw/prisma/client';
import { z } from 'zod';
import type { ChangeContext } from '../../people/access/change.ts';
import { reauthorize } from '../../people/access/reauthorize.ts';
import { type ChangeResult, invalidTransition, notFound } from '../../people/access/refusals.ts';
import { appendAudit } from '../../people/audit/append.ts';
import type { Context } from '../../shared/context.ts';
import { checkRules, type StoredRule } from './check-rules.ts';

const headSchema = z.strictObject({
  object: z.literal('policy_version'),
  version: z.int(),
  sha256: z.string(),
  note: z.string(),
  created_at: z.iso.datetime(),
  created_by: z.string().describe('The id of an operator; `system` for the rules that the software came with'),
});
type VersionHead = z.infer<typeof headSchema>;

export const listedVersionSchema = headSchema.extend({ rule_count: z.int() });
type ListedVersion = z.infer<typeof listedVersionSchema>;

/** Checks of each rule only what every release writes. */
export const versionSchema = headSchema.extend({ rules: z.array(z.looseObject({ id: z.string() })) });
export type VersionView = z.infer<typeof versionSchema>;

/** A change of the rules. */
export interface Publication {
  /** The version that the new rules were made from; null means the one in force. */
  readonly basedOn: number | null;
  readonly note: string;
  /** Returns what the rules in force become, or why they cannot. */
  readonly become: (
    inForce: readonly StoredRule[],
    tx: Prisma.TransactionClient,
  ) => Promise<ChangeResult<readonly StoredRule[]>>;
}

export interface Versions {
  /** Lists versions below `before`, newest first. */
  list(limit: number, before?: number): Promise<ListedVersion[]>;
  read(version: number): Promise<VersionView | null>;
  /** Resolves to null until there is a first version. */
  inForce(): Promise<VersionView | null>;
  /** Puts a set into force. Refuses if another version than `basedOn` is in force, or if the set cannot be compiled. */
  publish(change: ChangeContext, publication: Publication): Promise<ChangeResult<VersionView>>;
}

type VersionRow = NonNullable<Awaited<ReturnType<Database['policyVersion']['findFirst']>>>;
type Queries = Pick<Database, 'policyVersion'>;

export function openVersions({ db }: Pick<Context, 'db'>): Versions {
  return {
    list: async (limit, before) => {
      const rows = await db.$queryRaw<(Omit<VersionRow, 'rules'> & { ruleCount: number })[]>`
        SELECT version, sha256, note, created_at AS "createdAt", created_by AS "createdBy",
          jsonb_array_length(rules) AS "ruleCount"
        FROM policy_versions WHERE version < ${before ?? 2 ** 31 - 1} ORDER BY version DESC LIMIT ${limit}`;
      return rows.map((row) => ({ ...headOf(row), rule_count: row.ruleCount }));
    },
    read: (version) => findVersion(db, version),
    inForce: () => findVersionInForce(db),
    publish: (change, publication) => db.$transaction((tx) => publish(tx, change, publication), { timeout: 20_000 }),
  };
}

export async function findVersion(db: Queries, version: number): Promise<VersionView | null> {
  const row = await db.policyVersion.findUnique({ where: { version } });
  return row && viewOf(row);
}

export async function findVersionInForce(db: Queries): Promise<VersionView | null> {
  const row = await db.policyVersion.findFirst({ orderBy: { version: 'desc' } });
  return row && viewOf(row);
}

const headOf = ({ createdAt, createdBy, note, sha256, version }: Omit<VersionRow, 'rules'>): VersionHead => ({
  object: 'policy_version',
  version,
  sha256,
  note,
  created_at: createdAt.toISOString(),
  created_by: createdBy,
});

const viewOf = (row: VersionRow): VersionView => ({
  ...headOf(row),
  rules: versionSchema.shape.rules.parse(row.rules),
});

/** 404 until the first version is written, within a second of the first start. */
export const noRulesYet = (): ApiError =>
  notFound('policy_version', 'There are no rules yet; the control plane is about to write the first ones.');

async function publish(
  tx: Prisma.TransactionClient,
  change: ChangeContext,
  { basedOn, note, become }: Publication,
): Promise<ChangeResult<VersionView>> {
  await lockPolicy(tx);
  const mayNot = await reauthorize(tx, change);
  if (mayNot !== null) return err(mayNot);
  const before = await findVersionInForce(tx);
  if (before === null) return err(noRulesYet());
  if (basedOn !== null && before.version !== basedOn)
    return err(
      invalidTransition(
        `Version ${before.version} is in force, not ${basedOn}. Look at what it changed, and base the new rules on it.`,
      ),
    );
  const next = await become(before.rules, tx);
  if (!next.ok) return next;
  const checked = checkRules(next.value);
  if (!checked.ok) return checked;
  const { rules } = checked.value;
  const sha256 = rulesSha256(rules);
  if (sha256 === before.sha256) return ok(before);
  const after = await writeVersion(tx, change, { version: before.version + 1, rules, note });
  await appendAudit(tx, change.at, {
    accountId: null,
    actor: change.actor,
    action: 'policy.published',
    target: `policy:${after.version}`,
    requestId: change.requestId,
    before: { version: before.version, sha256: before.sha256 },
    after: { version: after.version, sha256, note, rules: differences(before.rules, rules) },
  });
  return ok(after);
}

/** Replaces the rules by a whole set. */
export const becomeRules =
  (rules: readonly PolicyRule[]): Publication['become'] =>
  async () =>
    ok(rules);

/** Replaces the rules by those of an older version. */
export const becomeVersion =
  (version: number): Publication['become'] =>
  async (_, tx) => {
    const found = await findVersion(tx, version);
    return found === null ? err(fieldError('version', 'version: there is no such version.')) : ok(found.rules);
  };

/** Changes one rule in place. */
export const becomeWithRule =
  (ruleId: string, changes: Partial<Pick<PolicyRule, 'action' | 'enabled'>>): Publication['become'] =>
  async (inForce) =>
    inForce.some(({ id }) => id === ruleId)
      ? ok(inForce.map((rule) => (rule.id === ruleId ? { ...rule, ...changes } : rule)))
      : err(notFound('policy_rule', 'No rule in force has this id.'));

/** Lets changes of versions and exemptions come one by one until `tx` ends. */
export const lockPolicy = (tx: Prisma.TransactionClient): Promise<number> =>
  tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtext('policy'))`;

/** Stores a version. `tx` has to hold `lockPolicy`, and `rules` have to be checked already. */
export async function writeVersion(
  tx: Prisma.TransactionClient,
  { actor, at }: Pick<ChangeContext, 'actor' | 'at'>,
  { note, rules, version }: { readonly version: number; readonly rules: readonly PolicyRule[]; readonly note: string },
): Promise<VersionView> {
  const stored: Prisma.InputJsonValue = JSON.parse(JSON.stringify(rules));
  const sha256 = rulesSha256(rules);
  const data = { version, rules: stored, sha256, note, createdAt: at, createdBy: actor.id };
  return viewOf(await tx.policyVersion.create({ data }));
}

const ruleIds = z.array(z.string());
export const differencesSchema = z.strictObject({ added: ruleIds, removed: ruleIds, changed: ruleIds });
type RuleDifferences = z.infer<typeof differencesSchema>;

/**
 * Returns the ids of the rules that differ. Another order alone makes a new version too, since the first rule that
 * blocks gives the code, but it does not show here.
 */
export function differences(before: readonly StoredRule[], after: readonly StoredRule[]): RuleDifferences {
  const old = new Map(before.map((rule) => [rule.id, rule]));
  const left = new Set(after.map(({ id }) => id));
  return {
    added: after.flatMap(({ id }) => (old.has(id) ? [] : id)),
    removed: before.flatMap(({ id }) => (left.has(id) ? [] : id)),
    changed: after.flatMap((rule) => (old.has(rule.id) && !isDeepStrictEqual(old.get(rule.id), rule) ? rule.id : [])),
  };
}
