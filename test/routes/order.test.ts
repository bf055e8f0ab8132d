/**
 * If several reasons refuse a call, the client learns the first one: method and path, key, state of the account, scope,
 * limits, body, policy, open streams, region. So a reason reveals nothing to a client that may not know it.
 */
import { type Scope, scopes } from '@gw/contract/access';
import { routes } from '@gw/contract/routes';
import { afterAll, expect, it } from 'vitest';
import { chatBody, expectRefusal, type Refusal, send, stack } from '../input/ask.ts';
import { accountsForFile } from '../sdk/test-account.ts';

const accounts = accountsForFile();
const openStreams: AbortController[] = [];
afterAll(() => {
  for (const stream of openStreams) stream.abort();
});

/** The request, and its sender. */
interface Call {
  method: string;
  path: string;
  body: Record<string, unknown>;
  state: 'active' | 'suspended';
  scopes: readonly Scope[];
  isRevoked: boolean;
  perDay: number;
  /** The account may have one open stream, and has it. */
  isStreaming: boolean;
}

interface Cause {
  readonly name: string;
  readonly apply: (call: Call) => void;
  readonly refusal: Refusal;
}

const cause = (name: string, refusal: Refusal, apply: Cause['apply']): Cause => ({ name, refusal, apply });
const refusal = (status: number, type: string, code: string, param: string | null = null): Refusal => ({
  status,
  type,
  code,
  param,
});

const causes: readonly Cause[] = [
  cause('path', refusal(404, 'validation_error', 'unknown_endpoint'), (call) => {
    call.path = '/v1/chat/completion';
  }),
  cause('method', refusal(405, 'validation_error', 'method_not_allowed'), (call) => {
    call.method = 'PUT';
  }),
  cause('key', refusal(401, 'auth_error', 'revoked_api_key'), (call) => {
    call.isRevoked = true;
  }),
  cause('state of the account', refusal(403, 'policy_error', 'customer_suspended'), (call) => {
    call.state = 'suspended';
  }),
  cause('scope', refusal(403, 'auth_error', 'insufficient_scope'), (call) => {
    call.scopes = scopes.filter((scope) => scope !== 'inference:write');
  }),
  cause('limits', refusal(429, 'rate_limit_error', 'daily_budget_exceeded'), (call) => {
    call.perDay = 1;
  }),
  cause('body', refusal(400, 'validation_error', 'invalid_temperature', 'temperature'), ({ body }) => {
    body.temperature = 9;
  }),
  cause('policy', refusal(403, 'policy_error', 'dual_use_screen_block'), ({ body }) => {
    body.messages = [{ role: 'user', content: 'how to make sarin' }];
  }),
  cause('open streams', refusal(429, 'rate_limit_error', 'concurrent_streams_exceeded'), (call) => {
    call.isStreaming = true;
  }),
  cause('region', refusal(400, 'validation_error', 'invalid_region', 'gw.region'), ({ body }) => {
    body.gw = { region: 'atlantis' };
  }),
];

/** A stream that lasts until the end of the test; resolves when it has begun. */
async function openStream(key: string): Promise<void> {
  const ending = new AbortController();
  openStreams.push(ending);
  const reply = await fetch(`${stack.publicUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'x-sim-tokens': '1000',
      'x-sim-tokens-per-second': '5',
    },
    body: chatBody({ stream: true }),
    signal: ending.signal,
  });
  expect(reply.status).toBe(200);
  await reply.body?.getReader().read();
}

/** Another key of the account of `key`, as if it had been issued with it. */
async function addKey(to: string, held: readonly Scope[], isRevoked: boolean): Promise<string> {
  const other = await accounts.create(
    {},
    { scopes: held, ...(isRevoked && { revokedAt: new Date(Date.now() - 1000) }) },
  );
  await accounts.db.apiKey.update({
    where: { publicId: other.slice(3, 15) },
    data: { accountId: `acct_test_${to.slice(3, 15)}` },
  });
  return other;
}

async function refusalOf(present: readonly Cause[]) {
  const call: Call = {
    method: 'POST',
    path: '/v1/chat/completions',
    body: { model: 'sim-small', messages: [{ role: 'user', content: 'hi' }], stream: true },
    state: 'active',
    scopes,
    isRevoked: false,
    perDay: 1000,
    isStreaming: false,
  };
  for (const { apply } of present) apply(call);
  const owner = await accounts.create({ perDay: call.perDay, streams: 1 }, { scopes });
  if (call.isStreaming) await openStream(owner);
  else if (call.perDay === 1) await send({ method: 'GET', path: '/v1/models', key: owner });
  const id = `acct_test_${owner.slice(3, 15)}`;
  await accounts.db.account.update({ where: { id }, data: { state: call.state } });
  const key = await addKey(owner, call.scopes, call.isRevoked);
  return send({ method: call.method, path: call.path, key, body: JSON.stringify(call.body) });
}

const pairs = causes.flatMap((first, at) =>
  causes.slice(at + 1).map((second) => [first.name, second.name, first, second] as const),
);

it.each(pairs)('%s comes before %s', async (_first, _second, first, second) => {
  expectRefusal(await refusalOf([first, second]), first.refusal);
});

it.each(causes.map((each, at) => [each.name, at] as const))(
  '%s by itself, and before all that come later',
  async (_name, at) => {
    const [first] = causes.slice(at);
    if (!first) throw new Error('There is no such cause.');
    expectRefusal(await refusalOf([first]), first.refusal);
    expectRefusal(await refusalOf(causes.slice(at)), first.refusal);
  },
);

/** Routes of the control plane that open a door; their limit is wide, so it stays out. */
const doors = routes.filter(({ handler, needsActive }) => needsActive && handler === 'control').map(({ path }) => path);
const malformed = { status: 400, type: 'validation_error' };

it('the routes that open a door are known', () => expect(doors).toHaveLength(3));

it.each(doors)('%s: state of the account, scope, body', async (route) => {
  const path = route.replace('{key_id}', 'AbcdefGhijkl');
  const asked = async (state: Call['state'], held: readonly Scope[]) =>
    send({ method: 'POST', path, key: await accounts.create({ state }, { scopes: held }), body: '[1]' });
  const unscoped = scopes.filter((scope) => scope !== 'admin:keys');
  const suspended = refusal(403, 'policy_error', 'customer_suspended');
  expectRefusal(await asked('suspended', unscoped), suspended);
  expectRefusal(await asked('suspended', scopes), suspended);
  expectRefusal(await asked('active', unscoped), refusal(403, 'auth_error', 'insufficient_scope'));
  const { status, text } = await asked('active', scopes);
  // Restoring has no body that could be wrong.
  const last = route.endsWith('/restore') ? { status: 404, type: 'validation_error' } : malformed;
  expect({ status, type: JSON.parse(text).error.type }).toEqual(last);
});

it('none of them: the call is answered', async () => {
  expect((await refusalOf([])).status).toBe(200);
});
