/**
 * Each endpoint of a customer is asked with every kind of id of another customer, wherever an id can stand.
 *
 * Invariant: the cases are made from the table of routes and from what the OpenAPI document says of their parameters, so
 * an endpoint that is added later is tried too.
 */
import { randomBytes } from 'node:crypto';
import { scopes } from '@gw/contract/access';
import { auditListSchema } from '@gw/contract/audit';
import { parseApiKey } from '@gw/contract/internal/api-key';
import { issuedKeySchema } from '@gw/contract/keys';
import { openApiDocument } from '@gw/contract/openapi';
import { routes } from '@gw/contract/routes';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { apiOf } from '../operator-api.ts';
import { collect, finishedReceipt, openAi, quick, stack } from '../sdk/gateway.ts';
import { accountsForFile } from '../sdk/test-account.ts';
import { Browser, type HttpReply } from './people.ts';

const accounts = accountsForFile();
const abandoned = new AbortController();
const operator = apiOf(stack);

interface Tenant {
  readonly key: string;
  readonly account: string;
  /** Kind → what exists of it. */
  readonly ids: Readonly<Record<string, string>>;
}

async function newTenant(): Promise<Tenant> {
  const key = await accounts.create({}, { scopes });
  const id = parseApiKey(key)?.publicId ?? '';
  const account = `acct_test_${id}`;
  const { made } = await inference(key);
  const issued = issuedKeySchema.parse(JSON.parse((await ask(key, 'POST', '/v1/keys', { name: 'theirs' })).text));
  await ask(key, 'POST', `/v1/keys/${issued.id}/revoke`);
  const log = auditListSchema.parse(JSON.parse((await ask(key, 'GET', '/v1/audit-log')).text));
  const requestId = log.data[0]?.request_id ?? '';
  return { key, account, ids: { ...made, account, key: id, revokedKey: issued.id, requestId } };
}

/** A finished call, and one that still runs: the first is in Postgres, the second in Redis alone. */
async function inference(key: string) {
  const body = { model: stack.model, messages: [{ role: 'user' as const, content: 'Hello' }], max_tokens: 4 };
  const done = await openAi(key).chat.completions.create(body).withResponse();
  const receipt = done.response.headers.get('x-gw-receipt-id') ?? '';
  await finishedReceipt(receipt, key);
  const slow = await fetch(`${stack.publicUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'x-sim-tokens-per-second': '1' },
    body: JSON.stringify({ ...body, stream: true, max_tokens: 600 }),
    signal: abandoned.signal,
  });
  const runningReceipt = slow.headers.get('x-gw-receipt-id') ?? '';
  // Its owner is told that it is under way.
  expect((await ask(key, 'GET', `/v1/gw/receipts/${runningReceipt}`)).status).toBe(202);
  return { made: { receipt, runningReceipt } };
}

async function ask(key: string, method: string, path: string, body?: object): Promise<HttpReply> {
  return patiently(async () => {
    const reply = await fetch(`${stack.publicUrl}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: reply.status, headers: reply.headers, text: await reply.text() };
  });
}

/** Reads have a small rate of their own, which is not what these tests are about. */
async function patiently(call: () => Promise<HttpReply>): Promise<HttpReply> {
  for (;;) {
    const answer = await call();
    if (answer.status !== 429) return answer;
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}

/** One of the same form that nothing has. */
const madeUp = (id: string): string =>
  id.slice(0, -8) +
  randomBytes(4)
    .toString('hex')
    .replace(/^./, id.startsWith('rcpt_') ? 'f' : 'Z');

const volatile = /^(date|request-id|x-request-id|x-ratelimit-.*|x-envoy-.*)$/;
/** All that a client sees, but for the id that it has sent itself. */
const shownOf = ({ headers, status, text }: HttpReply, id: string) => ({
  status,
  headers: [...headers].filter(([name]) => !volatile.test(name)).sort(),
  text: text.replaceAll(id, '<id>').replace(/(?<="request_id":")[^"]+/, '<request>'),
});

type Call = (method: string, path: string) => Promise<HttpReply>;
let mine: Tenant;
let theirs: Tenant;
let browser: Browser;
const asKey: Call = (method, path) => ask(mine.key, method, path, method === 'POST' ? {} : undefined);
const asPerson: Call = (method, path) =>
  patiently(() => browser.call(method as 'GET' | 'POST' | 'DELETE', path, method === 'POST' ? {} : undefined));

beforeAll(async () => {
  [mine, theirs] = [await newTenant(), await newTenant()];
  const person = { name: 'Mia', email: `mia-${mine.ids.key}@tenant.example`.toLowerCase() };
  const made = await operator.send('POST', `/operator/v1/accounts/${mine.account}/admins`, person);
  const { credential } = z.object({ credential: z.string() }).parse(made);
  browser = new Browser(stack);
  const reply = await browser.logIn(person.email, credential, 'organisation_admin');
  expect(reply.status, reply.text).toBe(200);
});
afterAll(() => abandoned.abort());

const parameterSchema = z.object({
  name: z.string(),
  in: z.enum(['path', 'query', 'header']),
  schema: z.looseObject({ type: z.string().optional(), enum: z.array(z.string()).optional() }),
});
const documentSchema = z.object({
  paths: z.record(z.string(), z.record(z.string(), z.looseObject({ parameters: z.array(parameterSchema).optional() }))),
});
const { paths } = documentSchema.parse(JSON.parse(JSON.stringify(openApiDocument('http://localhost'))));

interface Case {
  readonly method: string;
  /** With `<id>` where the id goes. */
  readonly path: string;
}

const publicCases: readonly Case[] = routes
  .filter(({ scope }) => scope !== null)
  .flatMap(({ method, path }) => {
    const parameters = paths[path]?.[method.toLowerCase()]?.parameters ?? [];
    const holder = path.replace(/\{\w+\}/, '<id>');
    const queries = parameters
      .filter((each) => each.in === 'query' && each.schema.enum === undefined && each.schema.type !== 'integer')
      .map((each) => ({ method, path: `${path.replace(/\{\w+\}/, 'x')}?${each.name}=<id>` }));
    return holder === path ? queries : [{ method, path: holder }, ...queries];
  });

const personCases: readonly Case[] = [
  { method: 'GET', path: '/organisation/v1/keys?after=<id>' },
  { method: 'GET', path: '/organisation/v1/keys/<id>' },
  ...['rotate', 'revoke', 'restore'].map((verb) => ({ method: 'POST', path: `/organisation/v1/keys/<id>/${verb}` })),
  ...['after', 'actor', 'action', 'from', 'to'].map((name) => ({
    method: 'GET',
    path: `/organisation/v1/audit-log?${name}=<id>`,
  })),
  ...['', '/lineage'].map((rest) => ({ method: 'GET', path: `/organisation/v1/receipts/<id>${rest}` })),
  ...['after', 'model', 'region', 'project'].map((name) => ({
    method: 'GET',
    path: `/organisation/v1/receipts?${name}=<id>`,
  })),
  ...['from', 'to', 'group_by', 'account_id'].map((name) => ({
    method: 'GET',
    path: `/organisation/v1/usage?${name}=<id>`,
  })),
  { method: 'GET', path: '/organisation/v1/account?id=<id>' },
  { method: 'GET', path: '/organisation/v1/methodology/<id>' },
  ...['GET', 'DELETE'].map((method) => ({ method, path: '/organisation/v1/evidence-pack/<id>' })),
  { method: 'GET', path: '/organisation/v1/evidence-packs?after=<id>' },
  // Routes for operators refuse every customer.
  ...['', '/keys', '/admins'].map((rest) => ({ method: 'GET', path: `/operator/v1/accounts/<id>${rest}` })),
  { method: 'POST', path: '/operator/v1/accounts/<id>/suspend' },
  { method: 'GET', path: '/operator/v1/applications/<id>' },
  { method: 'GET', path: '/operator/v1/audit?chain=<id>' },
];

test('the cases are there: each endpoint with an id is among them', () => {
  const tried = publicCases.map(({ method, path }) => `${method} ${path}`);
  for (const expected of [
    'GET /v1/gw/receipts/<id>',
    'GET /v1/gw/lineage/<id>',
    'GET /v1/gw/receipts?after=<id>',
    'GET /v1/audit-log?after=<id>',
    'GET /v1/audit-log?actor=<id>',
    'GET /v1/keys?after=<id>',
    'GET /v1/keys/<id>',
    'POST /v1/keys/<id>/rotate',
    'POST /v1/keys/<id>/revoke',
    'POST /v1/keys/<id>/restore',
  ])
    expect(tried).toContain(expected);
});

async function expectNothing(call: Call, { method, path }: Case): Promise<void> {
  for (const [kind, id] of Object.entries(theirs.ids)) {
    const none = madeUp(id);
    const [real, unreal] = [
      await call(method, path.replace('<id>', id)),
      await call(method, path.replace('<id>', none)),
    ];
    expect(shownOf(real, id), `${kind} ${id} and ${none}`).toEqual(shownOf(unreal, none));
    const told = shownOf(real, id).text;
    for (const other of Object.values(theirs.ids)) expect(told, kind).not.toContain(other);
  }
}

describe('what is another tenant’s is as unknown as what does not exist', () => {
  test.each(publicCases)('with a key: $method $path', (each) => expectNothing(asKey, each));
  test.each(personCases)('by an admin of the organisation: $method $path', (each) => expectNothing(asPerson, each));

  const lists = routes.filter(({ method, path, scope }) => method === 'GET' && scope !== null && !path.includes('{'));
  test.each(lists)('$path lists nothing of theirs', async ({ path }) => {
    const { status, text } = await asKey('GET', path);
    expect(status).toBe(200);
    for (const other of Object.values(theirs.ids)) expect(text).not.toContain(other);
  });

  test('a place in the log of another one is only a place in their own', async () => {
    const longer = auditListSchema.parse(JSON.parse((await ask(theirs.key, 'GET', '/v1/audit-log')).text));
    for (const after of [longer.first_id, 'audit_999999']) {
      const { data } = auditListSchema.parse(JSON.parse((await asKey('GET', `/v1/audit-log?after=${after}`)).text));
      for (const { actor, target } of data)
        for (const other of Object.values(theirs.ids)) expect(`${actor.id} ${target}`).not.toContain(other);
    }
  });

  test('and after all these tries it is as it was', async () => {
    const listed = await ask(theirs.key, 'GET', '/v1/keys');
    const states = JSON.parse(listed.text).data.map(({ id, state }: { id: string; state: string }) => [id, state]);
    expect(Object.fromEntries(states)).toEqual({
      [theirs.ids.key ?? '']: 'active',
      [theirs.ids.revokedKey ?? '']: 'revoked',
    });
    const log = auditListSchema.parse(JSON.parse((await ask(theirs.key, 'GET', '/v1/audit-log')).text));
    // Checkpoints are signed when an hour is over, which can be now.
    const actions = log.data.map(({ action }) => action).filter((action) => action !== 'receipt_log.signed');
    expect(actions).toEqual(['key.revoked', 'key.created']);
    const chat = { model: stack.model, messages: [{ role: 'user' as const, content: 'Hello' }] };
    const stream = await openAi(theirs.key, { defaultHeaders: quick }).chat.completions.create({
      ...chat,
      stream: true,
    });
    expect((await collect(stream)).length).toBeGreaterThan(0);
  });
});
