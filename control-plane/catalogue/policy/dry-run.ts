/**
 * Tries rules on samples, by the engine that screens requests.
 *
 * Invariant: samples are neither stored nor logged; the reply alone tells of them.
 */
import { fieldError } from '@gw/contract/errors';
import { defined } from '@gw/contract/internal/defined';
import { policyRulesSchema, rulesSha256 } from '@gw/contract/internal/policy-rules';
import { err, ok } from '@gw/contract/internal/result';
import { actionSchema, screenSchema } from '@gw/contract/use-policy';
import { findRules } from '@gw/policy/find-rules';
import { requestText } from '@gw/policy/request-text';
import { type ScreeningVerdict, verdictOf } from '@gw/policy/verdict';
import { z } from 'zod';
import { idSchema, nameSchema } from '../../people/access/fields.ts';
import { type ChangeResult, notFound } from '../../people/access/refusals.ts';
import type { Context } from '../../shared/context.ts';
import { checkRules, type StoredRule } from './check-rules.ts';
import { differences, differencesSchema, noRulesYet, openVersions, type VersionView } from './versions.ts';

/** How deep a sample can nest: as deep as a request of a client. */
const maxDepth = 64;

/** It does not recurse, since a hostile nesting could exhaust the stack. */
function isShallow(value: unknown): boolean {
  let level = [value];
  for (let depth = 0; depth <= maxDepth; depth++) {
    level = level.flatMap((each) => (typeof each === 'object' && each !== null ? Object.values(each) : []));
    if (level.length === 0) return true;
  }
  return false;
}

const sampleSchema = z
  .strictObject({
    name: nameSchema.exactOptional(),
    /** Screened as the content of one message. */
    text: z.string().exactOptional(),
    /** The body of a request, as a client would send it. */
    body: z.record(z.string(), z.unknown()).refine(isShallow, `nests deeper than ${maxDepth}`).exactOptional(),
  })
  .refine(({ body, text }) => (body === undefined) !== (text === undefined), 'takes either a text or a body');

export const dryRunBodySchema = z
  .strictObject({
    rules: policyRulesSchema.exactOptional(),
    version: z.int().min(1).max(2_147_483_647).exactOptional(),
    samples: z.array(sampleSchema).max(100).default([]),
    /** The account whose exemptions apply. */
    account_id: idSchema.exactOptional(),
  })
  .refine(({ rules, version }) => rules === undefined || version === undefined, 'takes either rules or a version');
export type DryRunBody = z.infer<typeof dryRunBodySchema>;

const matchSchema = z.strictObject({
  rule: z.string(),
  screen: screenSchema,
  action: actionSchema,
  exempt: z.boolean().describe('It does not hold for the account, and has no part in the outcome'),
});
const resultSchema = z.strictObject({
  name: z.string(),
  outcome: z.enum(['pass', 'flag', 'block']),
  code: z.string().nullable().describe('Of the error, or of what stands in the audit log; null if nothing holds'),
  matches: z.array(matchSchema),
});
type SampleResult = z.infer<typeof resultSchema>;

export const dryRunSchema = z.strictObject({
  object: z.literal('policy_dry_run'),
  rules: z.strictObject({
    version: z.int().nullable().describe('Null: they are not published'),
    sha256: z.string(),
    rule_count: z.int(),
    changes: differencesSchema.describe('What would change if they were published'),
  }),
  samples: z.array(resultSchema),
});
type DryRun = z.infer<typeof dryRunSchema>;

/** Tries the rules of the request, or those of a version, or those in force. Refuses if they cannot be compiled. */
export function openDryRun(context: Pick<Context, 'db'>): (body: DryRunBody) => Promise<ChangeResult<DryRun>> {
  const { db } = context;
  const versions = openVersions(context);

  /** Returns the rules of the request, or of the version that it names, or those in force. */
  const rulesFor = async (body: DryRunBody, inForce: VersionView): Promise<ChangeResult<RulesToTry>> => {
    if (body.rules !== undefined) return ok({ version: null, rules: body.rules });
    if (body.version === undefined) return ok(inForce);
    const version = await versions.read(body.version);
    return version === null ? err(fieldError('version', 'version: there is no such version.')) : ok(version);
  };
  const exemptionsOf = async (accountId: string | undefined): Promise<ChangeResult<readonly string[]>> => {
    if (accountId === undefined) return ok([]);
    if ((await db.account.findUnique({ where: { id: accountId } })) === null) return err(notFound('account'));
    const rows = await db.policyExemption.findMany({ where: { accountId } });
    return ok(rows.map(({ ruleId }) => ruleId));
  };

  return async (body) => {
    const inForce = await versions.inForce();
    if (inForce === null) return err(noRulesYet());
    const found = await rulesFor(body, inForce);
    if (!found.ok) return found;
    const exempt = await exemptionsOf(body.account_id);
    if (!exempt.ok) return exempt;
    const { version } = found.value;
    const checked = checkRules(found.value.rules);
    if (!checked.ok) return checked;
    const { compiled, rules } = checked.value;
    const unread = body.samples.findIndex((sample) => sample.body && requestText(sample.body).tokens.length > 0);
    if (unread >= 0)
      return err(fieldError(`samples[${unread}].body`, 'A dry run does not read token lists; send the text instead.'));
    const samples: SampleResult[] = [];
    for (const [at, { body: given, name, text }] of body.samples.entries()) {
      await nextTurn();
      const request = given ?? { content: defined(text, 'The text of a sample without a body') };
      const found = await findRules(compiled, requestText(request).texts);
      const matches = found.map(({ action, id, screen }) => {
        return { rule: id, screen, action, exempt: exempt.value.includes(id) };
      });
      samples.push({ name: name ?? String(at + 1), ...outcomeOf(verdictOf(found, exempt.value)), matches });
    }
    const changes = differences(inForce.rules, rules);
    const tried = { version, sha256: rulesSha256(rules), rule_count: rules.length, changes };
    return ok({ object: 'policy_dry_run', rules: tried, samples });
  };
}

interface RulesToTry {
  readonly version: number | null;
  readonly rules: readonly StoredRule[];
}

/** Lets everything else that the process serves have its turn between two samples. */
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const outcomeOf = (verdict: ScreeningVerdict | null): Pick<SampleResult, 'outcome' | 'code'> => ({
  outcome: verdict?.action ?? 'pass',
  code: verdict?.code ?? null,
});
