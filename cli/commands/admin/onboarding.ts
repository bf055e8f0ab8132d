/** `./gw admin onboarding …`: applications, step by step to the first key. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { defined } from '@gw/contract/internal/defined';
import { errorText } from '@gw/contract/internal/error-text';
import { Problem } from '@gw/stack/problem';
import type { Page } from './accounts.ts';
import type { OperatorApi } from './api.ts';
import { type AdminCall, type AdminCommand, type AdminResult, given } from './command.ts';
import { type IssuedKey, issuedKey, keyBody, keyExpiry, keyLimitsHint, keyProjectHint } from './keys.ts';
import { accountLimits } from './limits.ts';
import { card, type TableRow, table } from './table.ts';

const path = '/operator/v1/applications';
const at = (id: string, ...rest: string[]): string => [path, ...[id, ...rest].map(encodeURIComponent)].join('/');
const columns = ['account_id', 'name', 'tier', 'stage', 'updated_at', 'expires_at'];
const stepColumns = ['at', 'step', 'action', 'from', 'to', 'by'];

const shown = (value: unknown): AdminResult => ({ value, text: card(value as TableRow) });
const words = (text: string | undefined): readonly string[] => (text ?? '').split(',').filter(Boolean);

async function everyApplication(api: OperatorApi, filter: Record<string, string>): Promise<readonly TableRow[]> {
  const rows: TableRow[] = [];
  for (let after: string | undefined; ; ) {
    const page = (await api.get(path, { ...filter, after, limit: 100 })) as Page;
    rows.push(...page.data);
    if (!page.has_more) return rows;
    after = page.last_id ?? undefined;
  }
}

async function show({ api, arg }: AdminCall): Promise<AdminResult> {
  const value = (await api.get(at(arg(0)))) as TableRow & {
    readonly steps: readonly (TableRow & { actor: { id: string } })[];
  };
  const { steps, ...application } = value;
  const lines = steps.map((step) => ({ ...step, by: step.actor.id }));
  return { value, text: `${card(application)}\n${table(lines, stepColumns)}` };
}

const decision = (verb: string, summary: string): AdminCommand => ({
  name: `onboarding ${verb}`,
  args: ['account'],
  options: { 'reason!': 'why, for other operators' },
  summary,
  run: async (call) => shown(await call.api.send('POST', at(call.arg(0), verb), given(call, 'reason'))),
});

/** The document itself stays where it is: its hash alone is sent. */
function hashOf(file: string): string {
  try {
    return createHash('sha256').update(readFileSync(file)).digest('hex');
  } catch (error) {
    throw new Problem(`The contract ${file} cannot be read (${errorText(error)}).`);
  }
}

function applicationOf(call: AdminCall): object {
  const contact = (kind: string) => ({ name: call.option(`${kind}-name`), email: call.option(`${kind}-email`) });
  const limits = call.option('limits');
  return {
    ...given(call, 'name', 'tier'),
    billing_contact: contact('billing'),
    technical_contact: contact('technical'),
    ...(limits === undefined ? {} : { limits: accountLimits(limits) }),
  };
}

export const onboardingCommands: readonly AdminCommand[] = [
  {
    name: 'onboarding list',
    args: [],
    options: { stage: 'account_created, use_match, sanctions_match, manual_review, contract_pending, key_pending, …' },
    summary: 'applications',
    run: async (call) => {
      const data = await everyApplication(call.api, given(call, 'stage'));
      return { value: data, text: table(data, columns, 'No application.') };
    },
  },
  { name: 'onboarding show', args: ['account'], options: {}, summary: 'one application with its steps', run: show },
  {
    name: 'onboarding create',
    args: [],
    options: {
      'name!': 'of the organisation',
      'tier!': 'audit, audit_plus or enterprise',
      'billing-name!': 'of the billing contact',
      'billing-email!': 'of the billing contact',
      'technical-name!': 'of the technical contact',
      'technical-email!': 'of the technical contact',
      limits: 'of Enterprise: per second/burst/per day, and /streams',
    },
    summary: 'step 1: take an application in',
    run: async (call) => shown(await call.api.send('POST', path, applicationOf(call))),
  },
  {
    name: 'onboarding declare',
    args: ['account'],
    options: {
      'use!': 'the intended use, in the words of the applicant',
      'uses!': 'kinds of use, separated by commas',
      'industry!': 'of the use policy',
      'countries!': 'where it will be used, ISO 3166-1 alpha-2 codes separated by commas: DE,FR',
    },
    summary: 'step 2: the self-declaration; the screenings follow by themselves',
    run: async (call) =>
      shown(
        await call.api.send('POST', at(call.arg(0), 'declaration'), {
          intended_use: call.option('use'),
          uses: words(call.option('uses')),
          countries: words(call.option('countries')),
          ...given(call, 'industry'),
        }),
      ),
  },
  decision('clear-match', 'steps 2 and 3: what a screening found is not this applicant'),
  decision('reject-match', 'steps 2 and 3: it is; ends the application'),
  decision('approve-review', 'step 4: accept an industry of high risk'),
  decision('reject-review', 'step 4: end the application'),
  {
    name: 'onboarding sign',
    args: ['account'],
    options: {
      'document!': 'file of the signed contract; only its SHA-256 is sent',
      'reference!': 'where the contract is kept',
      'signed-at!': 'date or RFC 3339 time, not in the future: 2026-11-20',
    },
    summary: 'step 5: note the signed contract',
    run: async (call) =>
      shown(
        await call.api.send('POST', at(call.arg(0), 'contract'), {
          sha256: hashOf(defined(call.option('document'), 'A needed option')),
          signed_at: call.option('signed-at'),
          ...given(call, 'reference'),
        }),
      ),
  },
  {
    name: 'onboarding issue-key',
    args: ['account'],
    options: {
      'name!': 'of the key, for people',
      scopes: 'separated by commas; default: those of every key',
      'expires-at': keyExpiry,
      limits: keyLimitsHint,
      project: keyProjectHint,
    },
    summary: 'step 6: issue the first key; it alone is printed on standard output, once',
    run: async (call) => {
      const value = await call.api.send('POST', at(call.arg(0), 'key'), keyBody(call));
      return { ...issuedKey((value as { readonly key: IssuedKey }).key), value };
    },
  },
  {
    name: 'onboarding policy',
    args: [],
    options: {},
    summary: 'the use policy: prohibited uses and industries',
    run: async ({ api }) => {
      const value = (await api.get('/operator/v1/use-policy')) as {
        readonly version: string;
        readonly industries: readonly TableRow[];
        readonly prohibited_uses: readonly TableRow[];
      };
      const uses = table(value.prohibited_uses, ['id', 'title']);
      const industries = table(value.industries, ['id', 'title', 'high_risk']);
      return { value, text: `Version ${value.version}\n\nProhibited uses\n${uses}\nIndustries\n${industries}` };
    },
  },
];
