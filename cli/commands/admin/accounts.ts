/** `./gw admin accounts …` and `./gw admin admins …`. */
import { Problem } from '@gw/stack/problem';
import type { OperatorApi } from './api.ts';
import { type AdminCall, type AdminCommand, type AdminResult, given } from './command.ts';
import { accountLimits, accountTokens } from './limits.ts';
import { card, type TableRow, table } from './table.ts';

const path = '/operator/v1/accounts';
const at = (id: string, ...rest: string[]): string => [path, ...[id, ...rest].map(encodeURIComponent)].join('/');
const columns = ['id', 'name', 'tier', 'state', 'created_at'];
const adminColumns = ['id', 'name', 'email', 'state', 'second_factor', 'created_at'];

export interface Page {
  readonly data: readonly TableRow[];
  readonly has_more?: boolean;
  readonly last_id?: string | null;
}

const shown = (value: unknown): AdminResult => ({ value, text: card(value as TableRow) });

/** All pages: people who look for something do not want to turn them. */
async function everyAccount(api: OperatorApi, filter: Record<string, string>): Promise<readonly TableRow[]> {
  const rows: TableRow[] = [];
  for (let after: string | undefined; ; ) {
    const page = (await api.get(path, { ...filter, after, limit: 100 })) as Page;
    rows.push(...page.data);
    if (!page.has_more) return rows;
    after = page.last_id ?? undefined;
  }
}

function toleranceOf(call: AdminCall, option: string, field: string): Record<string, number | null> {
  const text = call.option(option);
  if (text === undefined) return {};
  if (text === 'any') return { [field]: null };
  if (!/^\d+$/.test(text)) throw new Problem(`--${option} takes a whole number, or "any".`);
  return { [field]: Number(text) };
}

function switchOf(call: AdminCall, option: string, field: string): Record<string, boolean> {
  const text = call.option(option);
  if (text === undefined) return {};
  if (text !== 'on' && text !== 'off') throw new Problem(`--${option} takes "on" or "off".`);
  return { [field]: text === 'on' };
}

function changeOf(call: AdminCall): object {
  const limits = call.option('limits');
  const models = call.option('models');
  const shadow = call.option('shadow');
  const tokens = call.option('tokens');
  const tolerance = {
    ...toleranceOf(call, 'added-latency-ms', 'added_latency_ms'),
    ...toleranceOf(call, 'added-cost-percent', 'added_cost_percent'),
  };
  const change = {
    ...given(call, 'name', 'tier'),
    ...(limits === undefined ? {} : { limits: limits === 'tier' ? null : accountLimits(limits) }),
    ...(tokens === undefined ? {} : { tokens: accountTokens(tokens) }),
    ...(shadow === undefined ? {} : { shadow: shadow === 'none' ? [] : shadow.split(',').filter(Boolean) }),
    ...(Object.keys(tolerance).length === 0 ? {} : { tolerance }),
    ...switchOf(call, 'usage-impacts', 'usage_impacts'),
    ...(models === undefined ? {} : { models: models === 'all' ? null : models.split(',').filter(Boolean) }),
  };
  if (Object.keys(change).length === 0)
    throw new Problem('Nothing to change: give one of the options that `./gw admin accounts change --help` names.');
  return { ...change, ...given(call, 'reason') };
}

const why = { 'reason!': 'why; it stands in the audit log, which the customer can read' };
const suspend: AdminCommand = {
  name: 'accounts suspend',
  args: ['account'],
  options: why,
  summary: 'block inference and new keys; reads and revocation stay open',
  run: async (call) => shown(await call.api.send('POST', at(call.arg(0), 'suspend'), given(call, 'reason'))),
};
const reinstate: AdminCommand = {
  name: 'accounts reinstate',
  args: ['account'],
  options: {
    ...why,
    accept:
      '"match": what a screening of its new name found, or that there was none (see onboarding show), is accepted',
  },
  summary: 'end a suspension',
  run: async (call) => {
    const accept = call.option('accept');
    if (accept !== undefined && accept !== 'match') throw new Problem('--accept takes "match".');
    const body = { ...given(call, 'reason'), ...(accept === undefined ? {} : { accepts_match: true }) };
    return shown(await call.api.send('POST', at(call.arg(0), 'reinstate'), body));
  },
};

const adminMove = (
  verb: 'disable' | 'enable' | 'reset-credential' | 'unbind-identity',
  summary: string,
): AdminCommand => ({
  name: `admins ${verb}`,
  args: ['account', 'admin'],
  options: {},
  summary,
  run: async ({ api, arg }) => shown(await api.send('POST', at(arg(0), 'admins', arg(1), verb))),
});

export const accountCommands: readonly AdminCommand[] = [
  {
    name: 'accounts list',
    args: [],
    options: {
      state: 'onboarding, active, suspended or closed',
      tier: 'audit, audit_plus or enterprise',
      search: 'part of name or id',
    },
    summary: 'accounts',
    run: async (call) => {
      const data = await everyAccount(call.api, given(call, 'state', 'tier', 'search'));
      return { value: data, text: table(data, columns, 'No account.') };
    },
  },
  {
    name: 'accounts show',
    args: ['account'],
    options: {},
    summary: 'one account',
    run: async ({ api, arg }) => shown(await api.get(at(arg(0)))),
  },
  suspend,
  reinstate,
  {
    name: 'accounts change',
    args: ['account'],
    options: {
      name: 'new name; needs --reason',
      tier: 'audit, audit_plus or enterprise',
      limits: 'per second/burst/per day, and /streams if they change, or "tier" for those of the tier',
      tokens: 'tokens per minute/per day, an empty part for what the tier has, or "tier" for both',
      shadow: 'rate, day, streams, tokens, separated by commas: counted and reported, not enforced; or "none"',
      models: 'allow-list of models and aliases, separated by commas, or "all"',
      'added-latency-ms':
        'how much slower a region may be than the preferred one, to be chosen for its carbon; or "any"',
      'added-cost-percent': 'how much dearer, in the same way; or "any"',
      'usage-impacts': 'on or off: replies state usage.impacts too, as EcoLogits and OpenGateLLM do',
      reason: 'why; it stands in the audit log, which the customer can read',
    },
    summary:
      'change name, tier, limits, tokens, shadow, models, the tolerance of carbon-aware routing, or what usage has in replies',
    run: async (call) => shown(await call.api.send('PATCH', at(call.arg(0)), changeOf(call))),
  },
  {
    name: 'admins list',
    args: ['account'],
    options: {},
    summary: 'people of the customer who can log in',
    run: async ({ api, arg }) => {
      const { data } = (await api.get(at(arg(0), 'admins'))) as Page;
      return { value: data, text: table(data, adminColumns, 'Nobody.') };
    },
  },
  {
    name: 'admins create',
    args: ['account'],
    options: { 'name!': 'of the person', 'email!': 'with which the person logs in' },
    summary: 'give a person of the customer a login; the credential is shown once',
    run: async (call) => shown(await call.api.send('POST', at(call.arg(0), 'admins'), given(call, 'name', 'email'))),
  },
  adminMove('disable', 'end a login and its sessions'),
  adminMove('enable', 'let a disabled person log in again'),
  adminMove('reset-credential', 'make a new credential, shown once; sessions end'),
  {
    name: 'admins bind-identity',
    args: ['account', 'admin'],
    options: { 'subject!': "the person's claim sub, or oid if the account's issuer uses that" },
    summary: "bind an identity of the account's identity provider before its first login",
    run: async (call) =>
      shown(
        await call.api.send('POST', at(call.arg(0), 'admins', call.arg(1), 'bind-identity'), given(call, 'subject')),
      ),
  },
  adminMove('unbind-identity', 'let the next login with the identity provider bind anew; sessions end'),
];
