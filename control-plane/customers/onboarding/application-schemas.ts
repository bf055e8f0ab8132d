/**
 * Applications as operators see them.
 *
 * The record of a screening is shown as it was stored, and may hold further details.
 */
import { accountTiers } from '@gw/contract/access';
import { issuedKeySchema } from '@gw/contract/keys';
import { z } from 'zod';
import { stages } from './machine.ts';

const contact = z.strictObject({ name: z.string(), email: z.string() });
const names = z.strictObject({
  organisation: z.string(),
  billing_contact: z.string(),
  technical_contact: z.string(),
});

const declaration = z
  .strictObject({
    intended_use: z.string(),
    uses: z.array(z.string()),
    industry: z.string(),
    countries: z.array(z.string()),
  })
  .meta({ id: 'ApplicationDeclaration' });

const useScreening = z
  .looseObject({
    outcome: z.enum(['clear', 'match', 'prohibited']),
    policy_version: z.string(),
    policy_sha256: z.string(),
    prohibited: z.array(z.string()).describe('Ids of prohibited uses that were declared'),
    phrases: z.array(z.string()),
    high_risk: z.boolean(),
  })
  .meta({ id: 'UseScreening' });

const nameMatch = z.looseObject({
  role: z.string().describe('Whose name it is'),
  list: z.string(),
  entry_id: z.string(),
  listed_name: z.string(),
  score: z.number(),
});
const nameScreening = z.looseObject({
  outcome: z.enum(['clear', 'match']),
  threshold: z.number(),
  matches: z.array(nameMatch).describe('The highest scores first; `match_count` has their number'),
  match_count: z.int(),
  matched: z.array(z.string()).describe('Whose names have a match'),
  not_comparable: z.array(z.string()).describe('Whose names are for people to look at'),
  lists: z.array(z.looseObject({ list: z.string(), format: z.string(), date: z.string().nullable() })),
});
const dualUseScreening = z.looseObject({
  outcome: z.enum(['clear', 'match']),
  policy_version: z.string(),
  policy_sha256: z.string(),
  phrases: z.array(z.string()),
  countries: z.array(z.string()),
});
const sanctionsScreening = z
  .looseObject({
    outcome: z.enum(['clear', 'match', 'waits']).describe('`waits`: it could not be done yet, for the `reason`'),
    at: z.iso.datetime(),
    reason: z.string().optional(),
    screened: names.optional().describe('The names that were compared'),
    names: nameScreening.optional(),
    dual_use: dualUseScreening.optional(),
    needs_decision: z.boolean().optional().describe('Nobody has decided yet about what was found about a new name'),
    unscreened: z
      .strictObject({ names, since: z.iso.datetime(), reason: z.string() })
      .optional()
      .describe('Names that could not be screened yet'),
  })
  .meta({ id: 'SanctionsScreening' });

const fields = {
  account_id: z.string(),
  object: z.literal('gw.application'),
  name: z.string(),
  tier: z.enum(accountTiers),
  stage: z.enum(stages),
  billing_contact: contact,
  technical_contact: contact,
  declaration: declaration.nullable(),
  use_screening: useScreening.nullable(),
  sanctions_screening: sanctionsScreening.nullable(),
  high_risk: z.boolean().nullable().describe('Null until the declaration is screened'),
  contract: z
    .strictObject({ sha256: z.string(), reference: z.string().nullable(), signed_at: z.iso.datetime().nullable() })
    .nullable(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
  expires_at: z.iso.datetime(),
};
export const applicationViewSchema = z.strictObject(fields).meta({ id: 'Application' });

const stepSchema = z
  .strictObject({
    account_id: z.string(),
    step: z.int().min(1).max(6),
    action: z.string(),
    from: z.string().nullable(),
    to: z.string(),
    actor: z.strictObject({ kind: z.string(), id: z.string() }),
    at: z.iso.datetime(),
    input: z.unknown(),
    outcome: z.unknown(),
    hidden: z
      .record(z.string(), z.string())
      .optional()
      .describe('JSON pointer → the encrypted text that the step was hashed with; absent if it has none'),
  })
  .meta({ id: 'ApplicationStep' });
export const applicationWithStepsSchema = z.strictObject({
  ...fields,
  steps: z.array(stepSchema).describe('In the form in which they are hashed, but for the texts in `hidden`'),
});

export const firstKeySchema = z.strictObject({ application: applicationViewSchema, key: issuedKeySchema });
