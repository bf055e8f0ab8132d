/** Refusals and failures arrive as the classes of the official client, with code and param. */
import { randomUUID } from 'node:crypto';
import OpenAI from 'openai';
import { expect, test } from 'vitest';
import { get, messages, openAi, quick, stack } from './gateway.ts';
import { accountsForFile } from './test-account.ts';

const accounts = accountsForFile();

type ErrorClass = abstract new (...args: never[]) => Error;

const chat = (client: OpenAI, more: object = {}, headers: Record<string, string> = {}) =>
  client.chat.completions.create({ model: 'sim-small', messages, ...more }, { headers: { ...quick, ...headers } });

/** The error, which has to be of that class and carry the id of its request. */
async function failure(call: Promise<unknown>, kind: ErrorClass) {
  const error = await call.then(
    () => null,
    (cause: unknown) => cause,
  );
  expect(error).toBeInstanceOf(kind);
  if (!(error instanceof OpenAI.APIError)) throw error;
  expect(error.requestID).toMatch(/^[0-9a-f-]{36}$/);
  return error;
}

test('AuthenticationError: a key that is malformed, unknown, revoked or expired', async () => {
  const past = new Date(Date.now() - 60_000);
  const flipped = stack.keys.audit.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'));
  const cases = [
    ['sk-something-else', 'invalid_api_key'],
    [flipped, 'invalid_api_key'],
    [await accounts.create({}, { revokedAt: past }), 'revoked_api_key'],
    [await accounts.create({}, { revokedAt: past, expiresAt: past }), 'revoked_api_key'],
    [await accounts.create({}, { expiresAt: past }), 'expired_api_key'],
  ] as const;
  for (const [key, code] of cases) {
    const error = await failure(chat(openAi(key)), OpenAI.AuthenticationError);
    expect(error).toMatchObject({ status: 401, code, type: 'auth_error', param: null });
    expect(error.headers?.get('www-authenticate')).toBe('Bearer');
  }
});

test('PermissionDeniedError: a key without the scope, and a suspended account', async () => {
  const readOnly = openAi(await accounts.create({}, { scopes: ['inference:read'] }));
  expect(await failure(chat(readOnly), OpenAI.PermissionDeniedError)).toMatchObject({
    status: 403,
    code: 'insufficient_scope',
    type: 'auth_error',
  });
  expect((await readOnly.models.list()).data.map(({ id }) => id)).toContain('sim-small');
  const suspended = openAi(await accounts.create({ state: 'suspended' }));
  expect(await failure(chat(suspended), OpenAI.PermissionDeniedError)).toMatchObject({
    code: 'customer_suspended',
    type: 'policy_error',
  });
});

test('BadRequestError: each wrong field is named', async () => {
  const cases = [
    [{ temperature: 2.1 }, 'invalid_temperature', 'temperature'],
    [{ top_p: -0.1 }, 'invalid_top_p', 'top_p'],
    [{ max_tokens: 0 }, 'invalid_max_tokens', 'max_tokens'],
    [{ messages: [] }, 'invalid_messages', 'messages'],
    [{ messages: [{ role: 'user', content: 7 }] }, 'invalid_content', 'messages[0].content'],
    [{ messages: undefined }, 'missing_required_parameter', 'messages'],
    [{ model: 'gpt-none' }, 'invalid_model', 'model'],
    [{ model: 'sim-embed' }, 'invalid_model', 'model'],
    [{ gw: { tier: 'best' } }, 'invalid_tier', 'gw.tier'],
    [{ gw: { tier: 'telemetry' } }, 'invalid_tier', 'gw.tier'],
    // The provider reports a total, which does not tell what the narrow boundary counts.
    [{ model: 'sim-measured', gw: { tier: 'telemetry', boundary: 'narrow' } }, 'invalid_tier', 'gw.tier'],
    [{ gw: { boundary: 'wide' } }, 'invalid_boundary', 'gw.boundary'],
    [{ gw: { region: 'mars' } }, 'invalid_region', 'gw.region'],
    [{ model: 'sim-large', gw: { region: 'eu-west' } }, 'invalid_model', 'model'],
    [{ extra_body: { gw: { region: 'mars' } } }, 'invalid_region', 'extra_body.gw.region'],
    [{ extra_body: { gw: { tier: 'telemetry' } } }, 'invalid_tier', 'extra_body.gw.tier'],
    [{ api_base: 'http://127.0.0.1/' }, 'unsupported_field', 'api_base'],
    [{ gw: { boundary: 'narrow' }, extra_body: { gw: { boundary: 'comprehensive' } } }, 'invalid_gw', 'gw'],
  ] as const;
  for (const [fields, code, param] of cases) {
    const error = await failure(chat(openAi(), fields), OpenAI.BadRequestError);
    expect(error, code).toMatchObject({ status: 400, code, param, type: 'validation_error' });
    expect(error.headers?.get('x-gw-receipt-id')).toBeNull();
  }
});

test('BadRequestError: an Idempotency-Key of another form, and one of another request', async () => {
  const about = { status: 400, param: 'Idempotency-Key', type: 'validation_error' };
  const refused = (key: string, fields: object = {}) =>
    failure(chat(openAi(), fields, { 'Idempotency-Key': key }), OpenAI.BadRequestError);
  expect(await refused('two words')).toMatchObject({ ...about, code: 'invalid_idempotency_key' });
  const key = randomUUID();
  await chat(openAi(), {}, { 'Idempotency-Key': key });
  expect(await refused(key, { seed: 1 })).toMatchObject({ ...about, code: 'idempotency_key_reused' });
});

test('BadRequestError: what the provider itself refused names its param', async () => {
  const error = await failure(chat(openAi(), {}, { 'x-sim-fault': 'status-400' }), OpenAI.BadRequestError);
  expect(error).toMatchObject({ code: 'invalid_max_tokens', param: 'max_tokens', type: 'validation_error' });
});

test('NotFoundError: a model, an endpoint, a receipt that is not there', async () => {
  const client = openAi();
  expect(await failure(client.models.retrieve('gpt-none'), OpenAI.NotFoundError)).toMatchObject({
    code: 'invalid_model',
    param: 'model',
  });
  const unknown = client.images.generate({ prompt: 'a cat' });
  expect(await failure(unknown, OpenAI.NotFoundError)).toMatchObject({ code: 'unknown_endpoint', param: null });
  const nobody = client.get('/gw/receipts/rcpt_01890a5d-ac96-774b-bcce-b302099a8057');
  expect(await failure(nobody, OpenAI.NotFoundError)).toMatchObject({ code: 'receipt_not_found', param: 'receipt_id' });
});

test('RateLimitError: a spent day budget is told once, without a retry', async () => {
  const key = await accounts.create({ perDay: 1 });
  let sent = 0;
  const counting: typeof fetch = (...args) => {
    sent += 1;
    return fetch(...args);
  };
  const client = openAi(key, { maxRetries: 3, fetch: counting });
  await chat(client);
  const error = await failure(chat(client), OpenAI.RateLimitError);
  expect(error).toMatchObject({ status: 429, code: 'daily_budget_exceeded', type: 'rate_limit_error' });
  expect(Number(error.headers?.get('retry-after'))).toBeGreaterThanOrEqual(1);
  expect(error.headers?.get('x-ratelimit-remaining-day')).toBe('0');
  expect(sent).toBe(2);
  // Receipts have a budget of their own.
  expect((await get('/v1/gw/receipts', key)).status).toBe(200);
});

test('InternalServerError: every way in which a provider can fail before it has answered', async () => {
  const cases = [
    ['status-500', 'upstream_error'],
    ['status-503', 'upstream_error'],
    ['status-429', 'upstream_rate_limited'],
    ['status-401', 'upstream_auth_failed'],
    ['reset', 'upstream_error'],
    ['html', 'upstream_error'],
    ['malformed', 'upstream_invalid_response'],
    ['empty', 'upstream_error'],
    ['error-event', 'upstream_error'],
  ] as const;
  for (const [fault, code] of cases) {
    const error = await failure(chat(openAi(), {}, { 'x-sim-fault': fault }), OpenAI.InternalServerError);
    expect(error, fault).toMatchObject({ status: 502, code, type: 'inference_error' });
    expect(error.headers?.get('x-gw-receipt-id'), fault).toMatch(/^rcpt_/);
  }
});
