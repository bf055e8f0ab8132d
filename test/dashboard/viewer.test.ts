/** A viewer's session tries every call of the operators' port: what is not for viewers is refused, whatever the page shows. */
import { chromium, howToGetChromium } from '@gw/testing/chromium';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { apiOf } from '../operator-api.ts';
import { stack } from '../shared-stack.ts';
import { type Operators, openOperators } from './operators.ts';

const methods = ['get', 'post', 'put', 'patch', 'delete'] as const;
const documentSchema = z.object({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) });
const headsSchema = z.object({
  data: z.array(z.object({ chain: z.string(), seq: z.number() })),
  has_more: z.boolean(),
});
type Head = z.infer<typeof headsSchema>['data'][number];
const entriesSchema = z.object({
  data: z.array(
    z.object({ action: z.string(), actor: z.object({ kind: z.string() }), request_id: z.string().nullable() }),
  ),
  has_more: z.literal(false),
});

interface Tried {
  readonly call: string;
  readonly status: number;
  readonly code: string | null;
}

/** A viewer may not even read these: rules, because their words help to evade them; addresses of webhooks; who was erased; which rows have wrong times; and calls to a provider. */
const notToRead = [
  'GET /operator/v1/accounts/{accountId}/budget-webhook',
  'GET /operator/v1/erasures',
  'GET /operator/v1/erasures/{kind}/{id}',
  'GET /operator/v1/policy',
  'GET /operator/v1/policy/defaults',
  'GET /operator/v1/policy/exemptions',
  'GET /operator/v1/policy/versions',
  'GET /operator/v1/policy/versions/{version}',
  'GET /operator/v1/providers/{id}/models',
  'GET /operator/v1/secrets',
  'GET /operator/v1/times',
];
/** Everybody makes and revokes tokens of their own. */
const isOwnMatter = (call: string): boolean => call.includes('/operator/v1/operators/{id}/tokens');

describe.skipIf(chromium === null)(`the session of a viewer${howToGetChromium}`, () => {
  let operators: Operators;
  let tried: Tried[];
  /** The heads of all chains, page by page: other tests have made accounts by the thousand. */
  async function heads(after = ''): Promise<Head[]> {
    const query = new URLSearchParams({ after });
    const page = headsSchema.parse(await apiOf(stack).get(`/operator/v1/audit/heads?${query}`));
    return page.has_more ? [...page.data, ...(await heads(page.data.at(-1)?.chain))] : page.data;
  }
  let headsBefore: readonly Head[];
  /** The audit entries that requests have written; the gateway's own jobs go on meanwhile. */
  const writtenSince = async (before: readonly Head[]) => {
    const seqBefore = new Map(before.map(({ chain, seq }) => [chain, seq]));
    const grown = (await heads()).filter(({ chain, seq }) => seq > (seqBefore.get(chain) ?? 0));
    const entries = await Promise.all(
      grown.map(async ({ chain }) => {
        const after = String(seqBefore.get(chain) ?? 0);
        const query = new URLSearchParams({ chain, after, order: 'asc', limit: '1000' });
        return entriesSchema.parse(await apiOf(stack).get(`/operator/v1/audit?${query}`)).data;
      }),
    );
    return entries.flat().filter(({ actor, request_id }) => actor.kind !== 'system' || request_id !== null);
  };
  beforeAll(async () => {
    operators = await openOperators('Vic', 'every-call');
    const { page } = await operators.logIn('viewer');
    const { paths } = documentSchema.parse(await (await fetch(`${stack.controlUrl}/openapi.json`)).json());
    const calls = Object.entries(paths).flatMap(([path, operations]) =>
      methods.filter((method) => method in operations).map((method) => ({ method: method.toUpperCase(), path })),
    );
    headsBefore = await heads();
    // The request has the page's cookie and the header of its changes.
    const headers = { 'x-gw-csrf': '1', 'content-type': 'application/json' };
    tried = [];
    for (const { method, path } of calls) {
      if (path.startsWith('/session')) continue;
      const url = `${stack.controlUrl}${path.replace(/\{[^}]+\}/g, 'any')}`;
      const body = method === 'GET' || method === 'DELETE' ? {} : { data: '{}' };
      const reply = await page.request.fetch(url, { method, headers, ...body });
      const code = /"code":"([a-z_]+)"/.exec(await reply.text())?.[1] ?? null;
      tried.push({ call: `${method} ${path}`, status: reply.status(), code: reply.ok() ? null : code });
    }
  }, 120_000);
  afterAll(() => operators?.close());

  const of = (prefix: string, isRead: boolean) =>
    tried.filter(
      ({ call }) => call.split(' ')[1]?.startsWith(prefix) && call.startsWith('GET ') === isRead && !isOwnMatter(call),
    );

  test('it changes nothing: every change is refused by its role', async () => {
    const changes = of('/operator/v1/', false);
    expect(changes.length).toBeGreaterThan(40);
    expect(changes.filter(({ code, status }) => status !== 403 || code !== 'insufficient_scope')).toEqual([]);
    expect(await writtenSince(headsBefore)).toEqual([]);
  });

  test('it reads what viewers may, and nothing of what tells how to get past the rules', () => {
    const reads = of('/operator/v1/', true);
    expect(reads.length).toBeGreaterThan(20);
    const refused = reads.filter(({ status }) => status === 403).map(({ call }) => call);
    expect(refused.toSorted()).toEqual(notToRead);
  });

  test('the pages of customers are not for it', () => {
    const all = tried.filter(({ call }) => call.includes(' /organisation/v1/'));
    expect(all.length).toBeGreaterThan(10);
    expect(all.filter(({ status }) => status !== 403)).toEqual([]);
  });
});
