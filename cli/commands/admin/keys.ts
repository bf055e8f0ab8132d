/**
 * `./gw admin keys …`: the keys of an account.
 *
 * Invariant: a key that was just issued is alone on standard output, so that a script can take it and nothing else keeps
 * it; what people want to know about it goes to standard error.
 */
import type { Page } from './accounts.ts';
import { type AdminCall, type AdminCommand, type AdminResult, given } from './command.ts';
import { keyLimits } from './limits.ts';
import { card, type TableRow, table } from './table.ts';

const at = (account: string, ...rest: string[]): string =>
  ['/operator/v1/accounts', ...[account, 'keys', ...rest].map(encodeURIComponent)].join('/');
const columns = ['id', 'name', 'state', 'project', 'scopes', 'created_at', 'expires_at', 'last_used_on'];

const shown = (value: unknown): AdminResult => ({ value, text: card(value as TableRow) });

/** All pages: people who look for something do not want to turn them. */
async function list({ api, arg }: AdminCall): Promise<AdminResult> {
  const rows: TableRow[] = [];
  for (let after: string | undefined, more = true; more; ) {
    const page = (await api.get(at(arg(0)), { after, limit: 100 })) as Page;
    rows.push(...page.data);
    more = page.has_more === true;
    after = page.last_id ?? undefined;
  }
  return { value: rows, text: table(rows, columns, 'No key.') };
}

export type IssuedKey = TableRow & { readonly key: string };

export function issuedKey(value: IssuedKey): AdminResult {
  const { key, ...about } = value;
  return { value, text: `${key}\n`, note: `${card(about)}The key is shown once.\n` };
}

/** Returns the body for a new key, from the options name, scopes, expires-at, limits and project. */
export function keyBody(call: AdminCall): object {
  const scopes = call.option('scopes')?.split(',').filter(Boolean);
  const expiresAt = call.option('expires-at');
  const limits = call.option('limits');
  return {
    ...given(call, 'name', 'project'),
    ...(scopes === undefined ? {} : { scopes }),
    ...(expiresAt === undefined ? {} : { expires_at: expiresAt }),
    ...(limits === undefined ? {} : { limits: keyLimits(limits) }),
  };
}

const issue = async (call: AdminCall, ...path: string[]): Promise<AdminResult> =>
  issuedKey((await call.api.send('POST', at(call.arg(0), ...path), keyBody(call))) as IssuedKey);

const move = (verb: 'revoke' | 'restore', summary: string): AdminCommand => ({
  name: `keys ${verb}`,
  args: ['account', 'key'],
  options: {},
  summary,
  run: async ({ api, arg }) => shown(await api.send('POST', at(arg(0), arg(1), verb))),
});

export const keyLimitsHint =
  'Enterprise only: per second/burst/per day/streams, and /tokens per minute/per day, empty parts for as much as the account: 10/20//5';
export const keyProjectHint = 'what its calls are charged to, whatever they name themselves, 1 to 64 characters';
export const keyExpiry = 'RFC 3339; Audit Plus and Enterprise only';

export const keyCommands: readonly AdminCommand[] = [
  { name: 'keys list', args: ['account'], options: {}, summary: 'keys of an account, the newest first', run: list },
  {
    name: 'keys show',
    args: ['account', 'key'],
    options: {},
    summary: 'one key, by its public id',
    run: async ({ api, arg }) => shown(await api.get(at(arg(0), arg(1)))),
  },
  {
    name: 'keys create',
    args: ['account'],
    options: {
      'name!': 'of the key, for people',
      scopes: 'separated by commas; default: those of every key',
      'expires-at': keyExpiry,
      limits: keyLimitsHint,
      project: keyProjectHint,
    },
    summary: 'issue a key; it alone is printed on standard output, once',
    run: (call) => issue(call),
  },
  {
    name: 'keys rotate',
    args: ['account', 'key'],
    options: {
      name: 'default: that of the predecessor',
      scopes: 'separated by commas; default: those of the predecessor',
      'expires-at': keyExpiry,
    },
    summary: 'issue a successor, printed like a new key; the predecessor goes on working until it is revoked',
    run: (call) => issue(call, call.arg(1), 'rotate'),
  },
  {
    name: 'keys change',
    args: ['account', 'key'],
    options: { limits: `${keyLimitsHint}; or "none"`, project: `${keyProjectHint}; or "none"` },
    summary: 'limit a key to less than the account has, or charge its calls to a project',
    run: async ({ api, arg, option }) => {
      const [limits, project] = [option('limits'), option('project')];
      const change = {
        ...(limits !== undefined && { limits: keyLimits(limits) }),
        ...(project !== undefined && { project: project === 'none' ? null : project }),
      };
      return shown(await api.send('PATCH', at(arg(0), arg(1)), change));
    },
  },
  move('revoke', 'end a key, within a second everywhere'),
  move('restore', 'take a revocation back, within 90 days'),
];
