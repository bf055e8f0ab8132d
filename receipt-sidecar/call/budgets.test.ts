/** A call's reservation is settled or released in every kind of end. */
import { setImmediate as turn } from 'node:timers/promises';
import { apiError } from '@gw/contract/errors';
import { type Amounts, budgetsText, noAmounts } from '@gw/contract/internal/budgets';
import { err, ok } from '@gw/contract/internal/result';
import { credentialMissingHeader, unreachedHeader } from '@gw/contract/internal/snapshot';
import type { RoutingTrace } from '@gw/contract/routing-trace';
import { entryIn } from '@gw/testing/ledger-entry';
import { callForTests, chatBody, contextForTests } from '@gw/testing/receipt-sidecar/call';
import { expect, test } from 'vitest';
import { createAddedFields } from '../attempts/added-fields.ts';
import type { Estimates } from '../guards/budgets/estimate.ts';
import { newReceiptId } from '../wire/receipt-id.ts';

const ofAccount = { id: 'bud_a', scope: 'account', project: '', unit: 'tokens', amount: 10, isHard: true } as const;
const ofProject = { ...ofAccount, id: 'bud_p', scope: 'project', project: 'x' } as const;
const budgets = budgetsText([ofAccount, ofProject]);
const assumed: Amounts = { carbon_g: 1, energy_wh: 2, tokens: 3, cost: 4 };
const at = Date.parse('2026-01-01T00:00:00.000Z');

function budgeted(changed: Parameters<typeof contextForTests>[0] = {}) {
  const told: unknown[] = [];
  const entries: Buffer[] = [];
  const receiptId = newReceiptId(at);
  const { context, ledger } = contextForTests({
    reserve: async (_account, asked) => {
      told.push(asked.map(({ id }) => id).join());
      return ok({
        receiptId,
        at,
        assumed,
        answer: null,
        header: 'tokens;scope=account;kind=hard;used=0.900',
        settle: (used, unstated) => void told.push(used, unstated),
        release: () => void told.push('released'),
        forget: () => void told.push('forgotten'),
      });
    },
    ...changed,
  });
  const keeping = { ...context.ledger };
  keeping.begin = (id, entry) => {
    ledger.begun.push(id);
    entries.push(entry);
  };
  keeping.finish = async (id, entry) => ledger.finished.push(id) > 0 && entries.push(entry) > 0;
  const call = callForTests({ ...context, ledger: keeping });
  return {
    call,
    told,
    ledger,
    receiptId,
    entries: () => entries.map((entry) => entryIn(entry)),
  };
}
const json = { 'content-type': 'application/json' };
const reply = (usage: object | null) =>
  JSON.stringify({
    id: 'x',
    object: 'chat.completion',
    choices: [{ index: 0, message: { content: 'Hi' }, finish_reason: 'stop' }],
    ...(usage && { usage }),
  });

test('a call reserves before its provider is asked, and is settled by its receipt, under the id of that', async () => {
  const { call, entries, ledger, receiptId, told } = budgeted();
  call.ask(chatBody(), { budgets });
  expect(ledger.begun).toEqual([]);
  await turn();
  expect([told, ledger.begun]).toEqual([['bud_a'], [receiptId]]);
  call.replyHeaders(json);
  call.replyBody(reply({ prompt_tokens: 4, completion_tokens: 5, total_tokens: 9 }), true);
  await expect.poll(() => told.length).toBe(3);
  // There is no grid value in this test, so only the tokens are known.
  expect(told[1]).toEqual({ carbon_g: null, energy_wh: null, tokens: 9, cost: null });
  const headers = call.answers.flatMap((each) => each.responseHeaders?.response?.headerMutation?.setHeaders ?? []);
  expect(headers.map(({ header }) => [header?.key, String(header?.rawValue)])).toContainEqual([
    'x-gw-budget',
    'tokens;scope=account;kind=hard;used=0.900',
  ]);
  await expect.poll(() => entries().map((entry) => entry.assumed)).toEqual([assumed, { ...assumed, tokens: 9 }]);
});

test.each([
  ['x', 'bud_a,bud_p'],
  ['y', 'bud_a'],
])('a call of the project %s reserves of %s', async (project, ids) => {
  const { call, told } = budgeted();
  call.ask(chatBody({ metadata: { project } }), { budgets });
  await turn();
  expect(told).toEqual([ids]);
});

test('a call without budgets of its own is decided in the same turn, and asks nobody', () => {
  const { call, ledger, told } = budgeted();
  call.ask(chatBody(), { budgets: budgetsText([ofProject]) });
  expect([told, ledger.begun.length]).toEqual([[], 1]);
});

/** Returns the estimates that the budgets were given, and the bound that the trace tells, of a call whose reservation allows answers of this length. */
async function boundedTo(answer: number | null, body: object, refused: readonly string[] = []) {
  let estimates: Estimates | null = null;
  const addedFields = createAddedFields(() => 0, { warn: () => undefined });
  const { call, entries } = budgeted({
    addedFields: {
      ...addedFields,
      shownBy: () => new Map([['d', { taken: [], refused, until: 1 }]]),
    },
    reserve: async (_account, _budgets, estimateAt) => {
      estimates = estimateAt(new Date(at).toISOString());
      const none = () => undefined;
      const ends = { settle: none, release: none, forget: none };
      return ok({ receiptId: newReceiptId(at), at, assumed, answer, header: null, ...ends });
    },
  });
  call.ask(chatBody(body), { budgets });
  await turn();
  call.replyHeaders(json);
  call.replyBody(reply({ prompt_tokens: 4, completion_tokens: 5, total_tokens: 9 }), true);
  await expect.poll(() => entries().length).toBe(2);
  const trace = entries().at(-1)?.routingTrace as RoutingTrace;
  return { estimates: estimates as Estimates | null, bound: trace.answer_bound };
}

test('an answer without a limit is open, and the trace tells the bound that the gateway has set', async () => {
  const { bound, estimates } = await boundedTo(77, {});
  expect(bound).toEqual({ tokens: 77, set_by: 'hard_budget' });
  expect(estimates).toMatchObject({ open: { from: 400, to: 4096 } });
  const whole = await boundedTo(null, {});
  expect([whole.bound, whole.estimates?.open]).toMatchObject([undefined, { whole: { tokens: expect.any(Number) } }]);
});

test('a limit of the client is reserved as it is, and the longest answer where the provider refuses the field', async () => {
  const limited = await boundedTo(null, { max_tokens: 10_000 });
  expect(limited.estimates?.open).toBeNull();
  expect(limited.estimates?.estimate.tokens).toBeGreaterThanOrEqual(10_000);
  const refusing = await boundedTo(null, {}, ['max_tokens']);
  expect(refusing.estimates?.open).toBeNull();
  expect(refusing.estimates?.estimate.tokens).toBeGreaterThan(100_000);
});

test('a refusal is the answer, and no provider is asked', async () => {
  const { call, ledger } = budgeted({
    reserve: async () => err(apiError('carbon_budget_exceeded', { retryAfterS: 90_000 })),
  });
  call.ask(chatBody(), { budgets });
  await turn();
  const refusal = call.answers.at(-1)?.immediateResponse;
  const headers = refusal?.headers?.setHeaders?.map(({ header }) => `${header?.key}: ${String(header?.rawValue)}`);
  expect([refusal?.status?.code, ledger.begun]).toEqual([429, []]);
  expect(headers).toEqual(expect.arrayContaining(['retry-after: 90000', 'x-should-retry: false']));
});

test('a client that goes before the answer of the budgets gets its reservation back', async () => {
  const { call, ledger, told } = budgeted();
  call.ask(chatBody(), { budgets });
  call.close();
  await turn();
  expect([told, ledger.begun]).toEqual([['bud_a', 'released'], []]);
});

test('a call that no provider was asked for gives it back', async () => {
  const { call, told } = budgeted();
  call.ask(chatBody(), { budgets });
  await turn();
  call.replyHeaders({ ':status': '503', 'content-type': 'text/plain', [credentialMissingHeader]: '1' });
  await turn();
  expect(told).toEqual(['bud_a', 'released']);
});

test.each([
  ['nobody', 'finished without the sidecar is forgotten, and left to whoever ingests its receipt', 'forgotten'],
  ['unsent', 'given up before it heard from the sidecar is given back, and has no receipt', 'released'],
] as const)('%s: what Envoy has %s', async (by, _what, became) => {
  const { call, ledger, told } = budgeted({ ends: { ask: async (_call, record) => void (await record(by)) } });
  call.ask(chatBody(), { budgets });
  await turn();
  call.close();
  await turn();
  expect([told, ledger.begun.length, ledger.finished]).toEqual([['bud_a', became], 1, []]);
});

test('what a provider has answered was sent, whatever is said of it', async () => {
  const { call, ledger } = budgeted({ ends: { ask: async (_call, record) => void (await record('unsent')) } });
  call.ask(chatBody(), { budgets });
  await turn();
  call.replyHeaders(json);
  call.close();
  await turn();
  expect(ledger.finished).toHaveLength(1);
});

const noNumbers = { carbon_g: null, energy_wh: null, tokens: null, cost: null };
const event = (data: object) => `data: ${JSON.stringify(data)}\n\n`;
const failure = { error: { message: 'Too much to do', code: 503 } };

test.each([
  ['a 401', { ':status': '401' }, '{}', noAmounts],
  ['a 403', { ':status': '403' }, '{}', noAmounts],
  ['a 404', { ':status': '404' }, '{}', noAmounts],
  ['a 429', { ':status': '429' }, '{}', noAmounts],
  ['a 500', { ':status': '500' }, JSON.stringify(failure), noAmounts],
  ['a 502 of HTML', { ':status': '502', 'content-type': 'text/html' }, '<h1>Bad gateway</h1>', noAmounts],
  ['an error in a 200', {}, JSON.stringify(failure), noAmounts],
  ['a whole answer without text or counts', {}, JSON.stringify({ choices: [{}] }), noAmounts],
  ['a reply without an answer', {}, JSON.stringify({ choices: [], usage: { prompt_tokens: 5 } }), noAmounts],
  ['an error as the first event', { 'content-type': 'text/event-stream' }, event(failure), noAmounts],
  ['HTML in a 200', {}, '<h1>Welcome</h1>', assumed],
])('%s takes what it shows, and no longest answer', async (_what, headers, body, unstated) => {
  const { call, entries, told } = budgeted();
  call.ask(chatBody({ stream: 'content-type' in headers && headers['content-type'] === 'text/event-stream' }), {
    budgets,
  });
  await turn();
  call.replyHeaders({ ...json, ...headers });
  call.replyBody(body, true);
  await expect.poll(() => told.slice(1)).toEqual([noNumbers, unstated]);
  await expect.poll(() => entries().at(-1)?.assumed).toEqual(unstated);
});

test.each([
  ['502 without a connection', { ':status': '502', [unreachedHeader]: '1' }, noAmounts],
  ['502 after the connection was lost', { ':status': '502' }, noAmounts],
  ['504 before the first byte', { ':status': '504' }, noAmounts],
])("Envoy's own %s takes what it shows", async (_what, headers, unstated) => {
  const { call, told } = budgeted();
  call.ask(chatBody(), { budgets });
  await turn();
  call.envoyReplies(headers);
  await expect.poll(() => told.slice(1)).toEqual([noNumbers, unstated]);
});

test('a stream that breaks off takes what was delivered', async () => {
  const { call, told } = budgeted();
  call.ask(chatBody({ stream: true }), { budgets });
  await turn();
  call.replyHeaders({ 'content-type': 'text/event-stream' });
  call.replyBody(event({ choices: [{ index: 0, delta: { content: 'Hello there' } }] }), false);
  await turn();
  call.close();
  await expect.poll(() => told.length).toBe(3);
  // 6 tokens of the prompt and 3 of the text, and not the longest answer.
  expect(told[1]).toMatchObject({ tokens: 9 });
});
