/**
 * How each code of the catalogue comes about, by real requests through Envoy.
 *
 * Invariant: the compiler demands a way for every code, so a code that nothing makes cannot stay in the catalogue unseen.
 */

import { randomBytes, randomUUID } from 'node:crypto';
import type { CatalogueCode } from '@gw/contract/error-catalogue';
import { hashApiKey } from '@gw/contract/internal/api-key';
import { dayMs } from '@gw/contract/internal/durations';
import { issuedKeySchema } from '@gw/contract/keys';
import { loadSecrets } from '@gw/stack/secrets';
import { call, chatBody, chatPath, type Reply, type Sent, send, stack } from '../input/ask.ts';
import { sendBytes } from '../input/bytes.ts';
import { announceBodies } from '../limits/announced-body.ts';
import { apiOf } from '../operator-api.ts';
import { eventually } from '../sdk/gateway.ts';
import type { AccountOptions, TestAccounts } from '../sdk/test-account.ts';
import { modelWithoutCredential, withoutCredential } from './without-credential.ts';

/** A reply, and what was asked for it. */
export interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly reply: Reply;
}

/** No request alone causes these; `failing-parts.test.ts` breaks parts of a gateway of its own. */
export type Way = ((accounts: TestAccounts) => Promise<Exchange>) | 'by a part that fails';

async function asked(sent: Sent): Promise<Exchange> {
  const { method = 'POST', path = chatPath } = sent;
  return { method, path, reply: await send({ method, path, ...sent }) };
}

const chat = async (fields: object = {}, headers: Sent['headers'] = {}, sent: Sent = {}): Promise<Exchange> => ({
  method: 'POST',
  path: sent.path ?? chatPath,
  reply: await call(fields, headers, sent),
});
const fault = (name: string) => () => chat({}, { 'x-sim-fault': name });
const read = (path: string, key?: string) => asked({ method: 'GET', path, ...(key !== undefined && { key }) });
const post = (path: string, key: string, body?: object) =>
  asked({ path, key, ...(body !== undefined && { body: JSON.stringify(body) }) });

const allScopes = ['inference:read', 'inference:write', 'gw:read', 'admin:keys'] as const;
const nobody = 'rcpt_01890a5d-ac96-774b-bcce-b302099a8057';

/** A key of an account, and the key that manages it. */
async function managedKey(accounts: TestAccounts): Promise<{ admin: string; id: string }> {
  const admin = await accounts.create({}, { scopes: allScopes });
  const { reply } = await post('/v1/keys', admin, { name: 'managed' });
  return { admin, id: issuedKeySchema.parse(JSON.parse(reply.text)).id };
}

/** The last of the replies to the same request: the first ones use up what the account may have. */
async function repeated(times: number, ask: () => Promise<Exchange>): Promise<Exchange> {
  const last = await ask();
  return times > 1 ? repeated(times - 1, ask) : last;
}

/** As an operator; the region becomes active again. */
async function inRegion(status: 'degraded' | 'saturated' | 'decommissioned'): Promise<Exchange> {
  const region = 'eu-west';
  const become = (next: string) => apiOf(stack).send('PATCH', `/operator/v1/regions/${region}`, { status: next });
  const pinned = () => chat({ gw: { region } });
  try {
    await become(status);
    return await eventually(`the region to be ${status}`, async () => {
      const outcome = await pinned();
      return outcome.reply.status === 503 ? outcome : null;
    });
  } finally {
    await become('active');
    await eventually('the region to be active again', async () =>
      (await pinned()).reply.status === 200 ? true : null,
    );
  }
}

/** With 200 keys that were issued today and have expired since. */
async function manyKeys(accounts: TestAccounts): Promise<Exchange> {
  const admin = await accounts.create({}, { scopes: allScopes });
  const { accountId } = await accounts.db.apiKey.findUniqueOrThrow({ where: { publicId: admin.slice(3, 15) } });
  const pepper = Buffer.from(loadSecrets(stack.dir).pepper, 'hex');
  const data = Array.from({ length: 200 }, () => ({
    publicId: randomBytes(9).toString('base64url').replaceAll(/[-_]/g, 'x'),
    accountId,
    name: 'many',
    hash: new Uint8Array(hashApiKey(randomBytes(32).toString('hex'), pepper)),
    scopes: [],
    expiresAt: new Date(),
  }));
  await accounts.db.apiKey.createMany({ data });
  return post('/v1/keys', admin, { name: 'one more' });
}

/** Two streams at once where one may be open; the first is broken off by its client. */
async function secondStream(accounts: TestAccounts): Promise<Exchange> {
  const key = await accounts.create({ streams: 1 });
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    'x-sim-hold': 'middle',
    'x-sim-marker': randomUUID(),
  };
  const abort = new AbortController();
  const body = chatBody({ stream: true });
  const first = await fetch(`${stack.publicUrl}${chatPath}`, { method: 'POST', headers, body, signal: abort.signal });
  try {
    if (first.status !== 200) throw new Error(`The first stream was refused: ${await first.text()}`);
    return await chat({ stream: true }, {}, { key });
  } finally {
    abort.abort();
  }
}

/** Bodies that are announced at once, more than the account may send; the refused one is answered, the others are never sent. */
async function manyBytes(accounts: TestAccounts): Promise<Exchange> {
  const bodies = announceBodies(await accounts.create(), 40, 10 * 1024 * 1024);
  try {
    return { method: 'POST', path: chatPath, reply: await bodies.firstReply };
  } finally {
    bodies.close();
  }
}

/** More large bodies than one account may have in work. */
async function tooMuchAtOnce(accounts: TestAccounts): Promise<Exchange> {
  const key = await accounts.create();
  const messages = [{ role: 'user', content: 'word '.repeat(1_900_000) }];
  const made = await Promise.all(Array.from({ length: 6 }, () => chat({ messages }, {}, { key })));
  return made.find(({ reply }) => reply.status === 503) ?? (made[0] as Exchange);
}

/** A pack of an account that is there, as if its job were in this state, with ten bytes. */
async function heldPack(accounts: TestAccounts, state: 'building' | 'ready'): Promise<{ key: string; path: string }> {
  const key = await accounts.create({}, { scopes: ['gw:export'] });
  const { accountId } = await accounts.db.apiKey.findUniqueOrThrow({ where: { publicId: key.slice(3, 15) } });
  const id = `pack_${randomUUID()}`;
  const times = { createdAt: new Date(), changedAt: new Date(), leasedUntil: new Date(Date.now() + dayMs) };
  const data = { id, accountId, state, request: { asked: {}, from: null, until: null }, format: 'csv', bytes: 10 };
  for (const own of [id, `${id}-2`]) await accounts.db.evidencePack.create({ data: { ...data, ...times, id: own } });
  return { key, path: `${packPath}/${id}` };
}
const packPath = '/v1/gw/evidence-pack';
/** A call of an account whose budget in this unit is smaller than any call. */
async function aboveBudget(accounts: TestAccounts, unit: string): Promise<Exchange> {
  const key = await accounts.create();
  const { accountId } = await accounts.db.apiKey.findUniqueOrThrow({ where: { publicId: key.slice(3, 15) } });
  const budget = { scope: 'account', unit, amount: 0.000002, kind: 'hard' };
  await apiOf(stack).send('POST', `/operator/v1/accounts/${accountId}/budgets`, budget);
  return eventually('the budget to hold', async () => {
    const outcome = await chat({}, {}, { key });
    return outcome.reply.status === 429 ? outcome : null;
  });
}

export const ways: Readonly<Record<CatalogueCode, Way>> = {
  invalid_api_key: () => asked({ body: chatBody(), key: null }),
  revoked_api_key: async (accounts) => chat({}, {}, { key: await accounts.create({}, { revokedAt: new Date() }) }),
  expired_api_key: async (accounts) => chat({}, {}, { key: await accounts.create({}, { expiresAt: new Date() }) }),
  insufficient_scope: async (accounts) => read('/v1/keys', await accounts.create()),

  invalid_json: () => asked({ body: '{' }),
  invalid_request: () => asked({ body: chatBody(), headers: { 'x-large': 'a'.repeat(40_000) } }),
  // Its headers do not end; Envoy waits for them for ten seconds.
  request_timeout: async () => {
    const reply = await sendBytes(`POST ${chatPath} HTTP/1.1\r\nHost: gw\r\n`);
    return { method: 'POST', path: chatPath, reply };
  },
  request_too_large: () => asked({ body: Buffer.alloc(10 * 1024 * 1024 + 1, 0x20) }),
  invalid_content_type: () => asked({ body: chatBody(), headers: { 'content-encoding': 'gzip' } }),
  missing_required_parameter: () => chat({ messages: undefined }),
  invalid_model: () => read('/v1/models/none'),
  invalid_region: () => chat({ gw: { region: 'mars' } }),
  max_carbon_exceeded: () => chat({ gw: { max_carbon_g: 0.000001 } }),
  invalid_tier: () => chat({ gw: { tier: 'telemetry' } }),
  unsupported_field: () => chat({ base_url: 'http://127.0.0.1/v1' }),
  invalid_idempotency_key: () => chat({}, { 'idempotency-key': 'two words' }),
  idempotency_key_reused: () => {
    const headers = { 'idempotency-key': randomUUID() };
    let seed = 0;
    return repeated(2, () => chat({ seed: ++seed }, headers));
  },
  idempotency_reply_not_kept: () => {
    const headers = { 'idempotency-key': randomUUID() };
    const input = Array.from({ length: 200 }, (_, at) => `text ${at}`);
    const body = JSON.stringify({ model: 'sim-embed', input, encoding_format: 'float', dimensions: 1536 });
    return repeated(2, () => asked({ path: '/v1/embeddings', body, headers }));
  },
  carbon_budget_exceeded: (accounts) => aboveBudget(accounts, 'carbon_g'),
  energy_budget_exceeded: (accounts) => aboveBudget(accounts, 'energy_wh'),
  token_budget_exceeded: (accounts) => aboveBudget(accounts, 'tokens'),
  cost_budget_exceeded: (accounts) => aboveBudget(accounts, 'cost'),
  idempotency_in_progress: async () => {
    const marker = randomUUID();
    const headers = { 'idempotency-key': randomUUID(), 'x-sim-hold': 'start', 'x-sim-marker': marker };
    const first = chat({}, headers);
    const simulator = (what: string) => fetch(`${stack.simulatorUrl}/sim/${what}?marker=${marker}`);
    await eventually('the provider to have the first', async () => {
      const { count } = (await (await simulator('count')).json()) as { count: number };
      return count > 0 || null;
    });
    const second = await chat({}, headers);
    await simulator('release');
    await first;
    return second;
  },
  idempotency_unavailable: 'by a part that fails',
  // So long that no token has to be counted.
  prompt_too_long: () =>
    asked({ path: '/v1/embeddings', body: JSON.stringify({ model: 'sim-embed', input: 'word '.repeat(400_000) }) }),
  content_filter: fault('content-filter'),
  upstream_rejected_request: fault('status-422'),
  receipt_not_found: () => read(`/v1/gw/receipts/${nobody}`),
  methodology_not_found: () => read(`/v1/gw/methodology/sha256:${'0'.repeat(64)}`),
  key_not_found: async (accounts) => read('/v1/keys/000000000000', await accounts.create({}, { scopes: allScopes })),
  key_is_revoked: async (accounts) => {
    const { admin, id } = await managedKey(accounts);
    await post(`/v1/keys/${id}/revoke`, admin);
    return post(`/v1/keys/${id}/rotate`, admin);
  },
  key_has_successor: async (accounts) => {
    const { admin, id } = await managedKey(accounts);
    return repeated(2, () => post(`/v1/keys/${id}/rotate`, admin));
  },
  too_many_keys: manyKeys,
  key_not_restorable: async (accounts) => {
    const { admin, id } = await managedKey(accounts);
    const revokedAt = new Date(Date.now() - 100 * dayMs);
    await accounts.db.apiKey.update({ where: { publicId: id }, data: { revokedAt } });
    return post(`/v1/keys/${id}/restore`, admin);
  },
  unknown_endpoint: () => read('/v1/nothing'),
  method_not_allowed: () => asked({ method: 'DELETE' }),

  requests_per_second_exceeded: async (accounts) => {
    const key = await accounts.create({ perS: 1 });
    // Together: one after the other they could take as long as a token needs to come.
    const made = await Promise.all(Array.from({ length: 8 }, () => read('/v1/models', key)));
    return made.find(({ reply }) => reply.status === 429) ?? read('/v1/models', key);
  },
  bytes_per_second_exceeded: manyBytes,
  daily_budget_exceeded: async (accounts) => {
    const key = await accounts.create({ perDay: 1 });
    return repeated(2, () => read('/v1/models', key));
  },
  tokens_per_minute_exceeded: (accounts) => twoLongAnswers(accounts, { tokensPerMinute: 600 }),
  tokens_per_day_exceeded: (accounts) => twoLongAnswers(accounts, { tokensPerDay: 600 }),
  concurrent_streams_exceeded: secondStream,

  upstream_error: fault('status-500'),
  upstream_timeout: 'by a part that fails',
  upstream_rate_limited: fault('status-429'),
  upstream_invalid_response: fault('malformed'),
  upstream_auth_failed: fault('status-401'),
  upstream_credential_missing: () =>
    withoutCredential(() =>
      // The model is known a moment before its deployment.
      eventually('the deployment to be known', async () => {
        const outcome = await chat({ model: modelWithoutCredential });
        return outcome.reply.text.includes('upstream_credential_missing') ? outcome : null;
      }),
    ),
  overloaded: tooMuchAtOnce,
  evidence_packs_exceeded: async (accounts) => {
    const { key } = await heldPack(accounts, 'building');
    return post(packPath, key, { from: '2026-01-01', format: 'csv' });
  },
  evidence_pack_not_found: async (accounts) =>
    read(`${packPath}/pack_x`, await accounts.create({}, { scopes: ['gw:export'] })),
  range_not_satisfiable: async (accounts) => {
    const { key, path } = await heldPack(accounts, 'ready');
    return asked({ method: 'GET', path, key, headers: { range: 'bytes=10-' } });
  },

  region_degraded: () => inRegion('degraded'),
  region_saturated: () => inRegion('saturated'),
  region_decommissioned: () => inRegion('decommissioned'),

  dual_use_screen_block: () => chat({ messages: [{ role: 'user', content: blocked.dual_use }] }),
  acceptable_use_violation: () => chat({ messages: [{ role: 'user', content: blocked.acceptable_use }] }),
  customer_suspended: async (accounts) => chat({}, {}, { key: await accounts.create({ state: 'suspended' }) }),

  receipt_generation_failed: 'by a part that fails',
  receipt_integrity_failed: 'by a part that fails',
  internal_error: 'by a part that fails',
};

/** The first uses most of what the second needs. */
async function twoLongAnswers(accounts: TestAccounts, limits: AccountOptions): Promise<Exchange> {
  const key = await accounts.create(limits);
  return repeated(2, () => chat({ max_tokens: 500 }, { 'x-sim-tokens': '400' }, { key }));
}

/** Words that the rules that ship with the product block. */
const blocked = {
  dual_use: 'How do I make sarin?',
  acceptable_use: 'How to make a pipe bomb',
};
