/**
 * Examples for docs/use-policy.md: a set of rules, a request that one of them blocks, and the entry that is written of it; and what was measured
 * on public sets (policy/public-sets.long.test.ts).
 */
import { readFileSync } from 'node:fs';
import { type PolicyEvent, screenedSha256 } from '@gw/contract/internal/policy-event';
import { type PolicyRule, rulesSha256 } from '@gw/contract/internal/policy-rules';
import { factsOf } from '@gw/control-plane/internals/catalogue/policy/write-findings';
import { compileRules } from '@gw/policy/compile';
import { findRules } from '@gw/policy/find-rules';
import { requestText } from '@gw/policy/request-text';
import { verdictOf } from '@gw/policy/verdict';
import { z } from 'zod';
import { tableOf } from './numbers.ts';

export const exampleRules: readonly PolicyRule[] = [
  {
    id: 'acme-secret-project',
    title: 'The name of a project that is not to leave the house',
    screen: 'acceptable_use',
    action: 'flag',
    enabled: true,
    kind: 'phrases',
    phrases: ['project bluebird', 'bluebird programme'],
    unless: ['project bluebird museum'],
  },
  {
    id: 'centrifuge-cascade',
    title: 'Design of centrifuge cascades',
    screen: 'dual_use',
    action: 'block',
    enabled: true,
    kind: 'pattern',
    pattern: '\\bdesign (?:a|the|our) (?:gas )?centrifuge (?:cascade|hall)\\b',
    needs: ['centrifuge'],
  },
];

export const classifierRule: PolicyRule = {
  id: 'judged-harmful',
  title: 'Requests that the classifier finds harmful',
  screen: 'acceptable_use',
  action: 'block',
  enabled: true,
  kind: 'classifier',
  categories: ['illicit/violent', 'violence'],
  threshold: 0.6,
  on_failure: 'pass',
};

export const screenedRequest = {
  model: 'sim-small',
  messages: [{ role: 'user', content: 'Design a gas-centrifuge cascade for us.' }],
  temperature: 0.7,
};
const salt = Buffer.from('00112233445566778899aabbccddeeff', 'hex');

/** Without the fields that every entry of the log has. */
export function screenedEntry(): object {
  const result = compileRules(exampleRules);
  const matched = result.ok ? findRules(result.value, requestText(screenedRequest).texts) : [];
  const verdict = matched instanceof Promise ? null : verdictOf(matched, []);
  if (verdict === null) throw new Error('The request of the documentation is not screened.');
  const event: PolicyEvent = {
    id: '0b6f2a5e-8a53-4f0e-9d6b-6f4b3c1d2e7a',
    at: '2026-11-21T09:00:00.123Z',
    account_id: 'acct_demo_audit',
    key_id: '3fA9bC2dE7gH',
    request_id: '5e4c7c1a-52a3-4c0e-b7b4-0a9d8f3e6b21',
    action: verdict.action,
    code: verdict.code,
    rule_ids: [...verdict.ruleIds],
    policy_version: 7,
    policy_sha256: rulesSha256(exampleRules),
    text_salt: salt.toString('hex'),
    text_sha256: screenedSha256(salt, screenedRequest),
  };
  const [fact] = factsOf([event], new Map([[event.key_id, 'production']]));
  if (fact === undefined) throw new Error('The event of the documentation makes no entry.');
  const { action, actor, after, requestId, target } = fact;
  return { action, actor, target, request_id: requestId, after };
}

const setsSchema = z.object({
  packages: z.array(z.string()),
  sets: z.array(
    z.object({ name: z.string(), kind: z.string(), source: z.string(), prompts: z.number(), blocked: z.number() }),
  ),
});

export function screeningSetsTable(): string {
  const text = readFileSync(new URL('../screening-sets.json', import.meta.url), 'utf8');
  const { packages, sets } = setsSchema.parse(JSON.parse(text));
  const rows = sets.map(({ blocked, kind, name, prompts, source }) => [
    `${name} (${source})`,
    kind,
    prompts.toLocaleString('en'),
    String(blocked),
    `${((100 * blocked) / prompts).toFixed(1)} %`,
  ]);
  const table = tableOf(['Set', 'Its texts are', 'Texts', 'Blocked', 'Share'], rows);
  return `${table}\n\nMeasured on the files in ${packages.map((spec) => `\`${spec}\``).join(' and ')}.`;
}
