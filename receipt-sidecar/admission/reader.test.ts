import type { ApiError } from '@gw/contract/errors';
import { type PolicyEvent, policyEventSchema, screenedSha256 } from '@gw/contract/internal/policy-event';
import { type PolicyRule, rulesSha256 } from '@gw/contract/internal/policy-rules';
import { err, type Result } from '@gw/contract/internal/result';
import type { Snapshot } from '@gw/contract/internal/snapshot';
import { saltedDigest } from '@gw/evidence/answer-digest';
import { maxFrameSize } from '@gw/grpc/internals/http2/frames';
import { cases } from '@gw/testing/cases';
import { emptySnapshot, plainModel } from '@gw/testing/catalogue';
import { caller } from '@gw/testing/receipt-sidecar/asked';
import type { Endpoint } from '@gw/testing/receipt-sidecar/request-fields/field';
import { type BundleForTests, bodyWorkerForTests } from '@gw/testing/receipt-sidecar/worker';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { serialise } from '../api/provider-body.ts';
import { makeCatalogue } from '../catalogue/snapshot.ts';
import { bodyThreadBounds, crowd, crowdedBytes, inlineBytes } from '../wire/threads/body-threads.ts';
import type { LoopTurns } from '../wire/threads/loop-turns.ts';
import { type Failure, ThreadPool } from '../wire/threads/thread-pool.ts';
import type { ReadBody } from './admission-request.ts';
import type { Classifier } from './classifier.ts';
import type { PromptOutcome } from './prompt-metrics.ts';
import { RequestReader } from './reader.ts';
import type { ScreenOutcome } from './screen-metrics.ts';

// A vocabulary takes half a second of processor time to read, and the machine may be busy.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const rule = (id: string, fields: Partial<PolicyRule>, phrase: string): PolicyRule =>
  ({
    id,
    title: id,
    screen: 'dual_use',
    action: 'block',
    enabled: true,
    kind: 'phrases',
    phrases: [phrase],
    ...fields,
  }) as PolicyRule;
const rules = [
  rule('watched', { action: 'flag', screen: 'acceptable_use' }, 'watched words'),
  rule('off', { enabled: false }, 'Hello'),
  rule('weapons', {}, 'forbidden weapon'),
  rule('abuse', { screen: 'acceptable_use' }, 'forbidden abuse'),
];
const model = (id: string, tokenizer: string | null, contextWindow: number | null = null) => ({
  ...plainModel,
  id,
  tokenizer,
  contextWindow,
});
const snapshot: Snapshot = {
  ...emptySnapshot,
  models: [model('m', 'o200k_base'), model('unread', null), model('small', 'o200k_base', 100)],
  policy: { version: 7, sha256: rulesSha256(rules), rules, exemptions: { exempt: ['weapons', 'watched'] } },
};
const catalogue = makeCatalogue(snapshot);

let bundle: BundleForTests;
let pool: ThreadPool;
beforeAll(async () => {
  bundle = await bodyWorkerForTests();
  pool = new ThreadPool({
    ...bodyThreadBounds,
    threads: 1,
    waitMs: 60_000,
    answerMs: 60_000,
    start: bundle.start,
    clock: () => performance.now(),
    onError: () => undefined,
    onEnd: () => undefined,
    onTurn: () => undefined,
  });
});
afterAll(async () => {
  await pool.stop();
  bundle.remove();
});

function reader(
  threads: Pick<ThreadPool, 'run' | 'waiting'> = pool,
  classifier: Classifier = { ask: () => Promise.reject(new Error('a classifier was asked')) },
  loop: Pick<LoopTurns, 'run' | 'waiting'> = { run: ({ run }) => run(), waiting: 0 },
) {
  const events: PolicyEvent[] = [];
  const outcomes: ScreenOutcome[] = [];
  const counted: PromptOutcome[] = [];
  const faults: unknown[] = [];
  const requests = new RequestReader({
    threads,
    loop,
    classifier,
    events: { record: async (event) => void events.push(event) },
    screenMetrics: { screened: (outcome) => void outcomes.push(outcome) },
    promptMetrics: { note: (outcome) => void counted.push(outcome) },
    now: () => Date.parse('2026-01-02T03:04:05.678Z'),
    clock: () => 0,
    newId: () => '11111111-1111-4111-8111-111111111111',
    onFault: (fault) => void faults.push(fault),
    randomBytes: (length) => new Uint8Array(length).fill(0xab),
  });
  const askBytes = (
    endpoint: Endpoint,
    bytes: Buffer,
    accountId = 'acct',
    from: Snapshot = snapshot,
    key: string | null = null,
  ) => {
    return requests.read({
      endpoint,
      bytes,
      caller: caller({ accountId }),
      requestId: 'req',
      path: '/v1/x',
      arrivedAt: 0,
      idempotencyKey: key,
      isOpen: () => true,
      onGone: () => undefined,
      catalogue: from === snapshot ? catalogue : makeCatalogue(from),
    });
  };
  const ask = (endpoint: Endpoint, fields: object, accountId?: string, from?: Snapshot) =>
    askBytes(endpoint, Buffer.from(JSON.stringify({ model: 'm', ...fields })), accountId, from);
  return { ask, askBytes, events, outcomes, counted };
}
const never = { run: () => Promise.reject(new Error('a thread was asked')), waiting: () => 0 } as never;
const chat = (...contents: string[]) => ({ messages: contents.map((content) => ({ role: 'user', content })) });
const refused = (fields: object) => ({ ok: false, error: expect.objectContaining(fields) });

test('a small body that finds no turn is not read and told to come again, and its cost counts its letters', () => {
  const costs: number[] = [];
  const loop: Pick<LoopTurns, 'run' | 'waiting'> = {
    waiting: 0,
    run: ({ costOf, refuse }) => {
      costs.push(costOf());
      return refuse('late');
    },
  };
  const { ask, outcomes } = reader(never, undefined, loop);
  for (const sign of ['a', '\ufdfb']) {
    const answer = ask('chat', chat(sign.repeat(60_000 / Buffer.byteLength(sign))));
    expect(answer).toEqual(refused({ code: 'overloaded', status: 503 }));
  }
  expect(outcomes).toEqual([]);
  expect((costs[1] ?? 0) / (costs[0] ?? 1)).toBeGreaterThan(1.2);
});

test('in a crowd a body of some size is read on a thread, and goes behind those that wait for one', async () => {
  const where: string[] = [];
  const placed = (waiting: { readonly loop: number; readonly threads: number }, bytes: number) => {
    const threads: Pick<ThreadPool, 'run' | 'waiting'> = {
      waiting: () => waiting.threads,
      run: (work) => {
        where.push('thread');
        return pool.run(work);
      },
    };
    const loop: Pick<LoopTurns, 'run' | 'waiting'> = {
      waiting: waiting.loop,
      run: ({ run }) => {
        where.push('here');
        return run();
      },
    };
    return reader(threads, undefined, loop).ask('chat', chat('a'.repeat(bytes)));
  };
  const size = 2 * crowdedBytes;
  const calm = { loop: crowd - 1, threads: 0 };
  const placings = [
    [calm, size],
    [{ ...calm, loop: crowd }, size],
    [{ ...calm, threads: 1 }, size],
    [{ loop: crowd, threads: 1 }, 100],
  ] as const;
  for (const [waiting, bytes] of placings) expect(await placed(waiting, bytes)).toMatchObject({ ok: true });
  expect(where).toEqual(['here', 'thread', 'thread', 'here']);
});

test('a request that no rule matches is let through in the same turn, and leaves nothing', () => {
  const { ask, events, outcomes } = reader(never);
  expect(ask('chat', chat('Hello'))).toMatchObject({ ok: true, value: { request: { model: 'm' } } });
  expect(outcomes).toEqual(['pass']);
  expect(events).toEqual([]);
});

describe.each([
  ['here', ''],
  ['on a thread', 'x '.repeat(inlineBytes / 2)],
])('screened %s', (_, padding) => {
  test('a blocked request gets its code, words that name no rule, and one event for the audit log', async () => {
    const { ask, events, outcomes } = reader();
    const body = { ...chat(`${padding}a forbidden wea`, 'pon and watched words'), gw: { region: 'eu' } };
    const answer = await ask('chat', body);
    const error = answer.ok ? null : answer.error;
    expect(error).toMatchObject({ code: 'dual_use_screen_block', type: 'policy_error', status: 403, param: null });
    expect(error?.message).toContain('the audit log of the account has an entry');
    expect(error?.message).not.toMatch(/forbidden|weapon|watched/);
    expect(outcomes).toEqual(['block']);
    expect(policyEventSchema.parse(events[0])).toEqual(events[0]);
    expect(events).toEqual([
      {
        id: '11111111-1111-4111-8111-111111111111',
        at: '2026-01-02T03:04:05.678Z',
        account_id: 'acct',
        key_id: 'key',
        request_id: 'req',
        action: 'block',
        code: 'dual_use_screen_block',
        rule_ids: ['watched', 'weapons'],
        policy_version: 7,
        policy_sha256: rulesSha256(rules),
        text_salt: 'ab'.repeat(16),
        text_sha256: screenedSha256(Buffer.alloc(16, 0xab), { messages: body.messages, model: 'm' }),
      },
    ]);
    expect(JSON.stringify(events)).not.toMatch(/forbidden|words/);
  });

  test('a classifier sees what the rules let through, and decides together with them', async () => {
    const judging = { ...rule('judge', { screen: 'acceptable_use' }, ''), kind: 'classifier', on_failure: 'pass' };
    const { phrases: _, ...judge } = judging as { phrases?: unknown } & typeof judging;
    const set = [...rules, judge as PolicyRule];
    const from = { ...snapshot, policy: { ...(snapshot.policy as object), sha256: rulesSha256(set), rules: set } };
    const asked: (readonly string[])[] = [];
    const { ask, events } = reader(undefined, {
      ask: async (texts, held) => {
        asked.push(texts);
        return texts.join().includes('a paraphrase') ? held : [];
      },
    });
    expect(await ask('chat', chat(`${padding}Hello`), 'acct', from)).toMatchObject({ ok: true });
    expect(events).toEqual([]);
    const answer = await ask('chat', chat(`${padding}watched words in a paraphrase`), 'acct', from);
    expect(answer).toEqual(refused({ code: 'acceptable_use_violation' }));
    expect(answer.ok ? '' : answer.error.message).toContain('by the rule judge of the use policy');
    expect(events).toMatchObject([{ action: 'block', rule_ids: ['watched', 'judge'] }]);
    expect(asked).toHaveLength(2);
    await ask('chat', chat(`${padding}a forbidden weapon`), 'acct', from);
    expect(asked, 'what is blocked already is not sent anywhere').toHaveLength(2);
  });

  test('a flagged request goes on and is recorded', async () => {
    const { ask, events, outcomes } = reader();
    expect(await ask('chat', chat(`${padding}watched words`))).toMatchObject({ ok: true });
    expect(outcomes).toEqual(['flag']);
    expect(events).toMatchObject([{ action: 'flag', code: 'acceptable_use_violation', rule_ids: ['watched'] }]);
  });

  test('rules from which an account is exempt are passed over for it alone', async () => {
    const { ask, events } = reader();
    expect(await ask('chat', chat(`${padding}forbidden weapon, watched words`), 'exempt')).toMatchObject({ ok: true });
    expect(events).toEqual([]);
    expect(await ask('chat', chat(`${padding}forbidden weapon, forbidden abuse`), 'exempt')).toEqual(
      refused({ code: 'acceptable_use_violation' }),
    );
    expect(events).toMatchObject([{ rule_ids: ['abuse'] }]);
    expect(await ask('chat', chat(`${padding}forbidden weapon`), 'constructor')).toEqual(
      refused({ code: 'dual_use_screen_block' }),
    );
  });

  test('the rules of the catalogue that a call began with are those that it is screened by', async () => {
    const { ask } = reader();
    const other = [rule('new', {}, 'brand new')];
    const next: Snapshot = {
      ...snapshot,
      version: 2,
      policy: { version: 8, sha256: rulesSha256(other), rules: other, exemptions: {} },
    };
    const blocked = refused({ code: 'dual_use_screen_block' });
    for (const [text, from, outcome] of [
      ['brand new', snapshot, { ok: true }],
      ['brand new', next, blocked],
      ['forbidden weapon', next, { ok: true }],
      ['forbidden weapon', snapshot, blocked],
    ] as const)
      expect(await ask('chat', chat(`${padding}${text}`), 'acct', from)).toMatchObject(outcome);
  });
});

test('each screen has its own code, and a prompt, an input, a tool and an unknown field are screened like a message', async () => {
  const { ask } = reader(never);
  const text = 'forbidden abuse';
  const tools = [
    { type: 'function', function: { name: 'f', parameters: { properties: { a: { description: text } } } } },
  ];
  for (const answer of [
    ask('chat', chat(text)),
    ask('chat', { ...chat('Hello'), stream: true, tools }),
    ask('chat', { ...chat('Hello'), unknown: [{ deep: text }] }),
    ask('completions', { prompt: ['Hello', text] }),
    ask('completions', { prompt: 'Hello', suffix: text }),
    ask('embeddings', { input: text }),
  ])
    expect(await answer).toEqual(refused({ code: 'acceptable_use_violation', status: 403 }));
});

test('lists of tokens are screened as the text that they stand for, and refused where they cannot be read', async () => {
  const { ask } = reader();
  // As o200k_base has them: 'a forbidden', ' weapon', and 'Hello'.
  const prompt = [[64, 74_435], [26_856]];
  const hello = [13_225];
  expect(await ask('completions', { prompt })).toEqual(refused({ code: 'dual_use_screen_block' }));
  expect(await ask('embeddings', { input: hello })).toMatchObject({ ok: true });
  expect(await ask('embeddings', { input: [1, 999_999] })).toEqual(refused({ code: 'invalid_input', status: 400 }));
  expect(await ask('embeddings', { model: 'unread', input: [1, 2] })).toEqual(refused({ code: 'invalid_input' }));
});

test('a prompt that has to be counted is counted on a thread, and noted', async () => {
  const { ask, counted } = reader();
  const words = (count: number) => ({ model: 'small', prompt: Array(count).fill('word').join(' ') });
  expect(await ask('completions', words(100))).toMatchObject({ ok: true });
  expect(await ask('completions', words(101))).toEqual(
    refused({
      code: 'prompt_too_long',
      message: 'The prompt is too long: it has 101 tokens, which exceeds the context window of small (100).',
    }),
  );
  expect(counted).toEqual(['fits', 'too_long']);
});

test.each([
  ['full', 503, 'overloaded'],
  ['late', 503, 'overloaded'],
  ['stuck', 503, 'overloaded'],
  ['died', 503, 'overloaded'],
  ['failed', 500, 'internal_error'],
] as const)('a body that no thread has read goes nowhere: %s is %i', async (why: Failure, status, code) => {
  const { ask, outcomes } = reader({
    run: () => ({ outcome: Promise.resolve(err(why)), cancel: () => undefined }),
    waiting: () => 0,
  });
  const large = chat('Hello '.repeat(inlineBytes / 6));
  for (const answer of [ask('chat', large), ask('embeddings', { input: [1] }), ask('completions', { prompt: [[1]] })])
    expect(await answer).toEqual(refused({ code, status }));
  expect(outcomes).toEqual([]);
});

test('a snapshot without rules is screened by those that the software came with', async () => {
  const { ask, events } = reader();
  const { policy: _none, ...older } = snapshot;
  expect(await ask('chat', chat('How do I make sarin?'), 'acct', older)).toEqual(
    refused({ code: 'dual_use_screen_block' }),
  );
  expect(events).toMatchObject([{ policy_version: 0 }]);
});

/** Returns what the provider would get, or the error. */
const outcomeOf = (answer: Result<ReadBody, ApiError>) =>
  answer.ok
    ? {
        request: answer.value.request,
        sent: Buffer.concat(
          serialise(answer.value.bodies.outgoing, { providerModel: 'p', takesTemperature: true, refused: [] }),
        ).toString(),
      }
    : answer;

test('the same body has the same outcome here and on a thread', async () => {
  const here = reader(never);
  const there = reader();
  const text = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.constantFrom('forbidden weapon', 'watched words', '\ufdfa'),
  );
  const fields = fc.record(
    {
      model: fc.constantFrom('m', 'unread', 'none', 5),
      messages: fc.array(fc.record({ role: fc.constantFrom('user', 'system', 'nobody'), content: text })),
      stream: fc.boolean(),
      temperature: fc.oneof(fc.double(), fc.constant(null)),
      unknown: fc.jsonValue(),
      n: fc.nat(3),
      max_tokens: fc.nat(),
      gw: fc.record({ tier: fc.constantFrom('auto', 'best') }),
      prompt: text,
      input: fc.oneof(text, fc.array(text)),
      stream_options: fc.record({ include_usage: fc.boolean() }),
    },
    { requiredKeys: ['model'] },
  );
  const endpoint = fc.constantFrom<Endpoint>('chat', 'completions', 'embeddings');
  await fc.assert(
    fc.asyncProperty(fields, endpoint, fc.boolean(), async (body, at, isBroken) => {
      const json = JSON.stringify(body);
      const small = Buffer.from(isBroken ? json.slice(1) : json);
      // Space that stands behind the body makes it large, and means nothing.
      const large = Buffer.concat([small, Buffer.alloc(inlineBytes, 0x20)]);
      // Its memory goes to the thread.
      const sent = Buffer.from(large);
      const [one, other] = [outcomeOf(await here.askBytes(at, small)), outcomeOf(await there.askBytes(at, large))];
      if ('request' in one && 'request' in other) {
        const { binding, promptBytes, mostPromptTokens: most } = one.request;
        for (const [{ request }, bytes] of [
          [one, small],
          [other, sent],
        ] as const)
          expect(request.binding?.requestDigest).toBe(saltedDigest(request.binding?.salt ?? '', bytes));
        expect(other.request.binding?.salt).not.toBe(binding?.salt);
        expect(other.request.promptBytes).toBe(promptBytes + inlineBytes);
        expect(other.request.mostPromptTokens).toBe(most === null ? null : most + inlineBytes);
        Object.assign(other.request, { binding, promptBytes, mostPromptTokens: most });
      }
      // JSON.parse names the place at which a text ends.
      if (!isBroken) expect(other).toEqual(one);
      expect('ok' in other).toBe('ok' in one);
      expect(there.events.splice(0)).toEqual(here.events.splice(0));
    }),
    { numRuns: cases(300, 20) },
  );
  expect(there.outcomes).toEqual(here.outcomes);
});

test('what goes to a thread came in several frames, so that it shares its memory with no other message', () => {
  expect(2 * maxFrameSize).toBeLessThanOrEqual(inlineBytes);
});

test('bodies with an idempotency key are told apart by what they say and not by how, alike here and on a thread', async () => {
  const shaOf = async (text: string, key: string | null = 'once', threads?: Pick<ThreadPool, 'run' | 'waiting'>) => {
    const read = await reader(threads).askBytes('chat', Buffer.from(text), 'acct', snapshot, key);
    return read.ok ? read.value.request.bodySha256 : read.error.code;
  };
  const body = '{"model":"m","messages":[{"role":"user","content":"x"}],"gw":{"region":"eu"}}';
  const sha = await shaOf(body, 'once', never);
  expect(sha).toMatch(/^[\w-]{43}$/);
  expect(await shaOf(`{ "gw":{"region":"\\u0065u"},"messages":[{"content":"x", "role":"user"}],"model":"m"}`)).toBe(
    sha,
  );
  expect(await shaOf(body + ' '.repeat(inlineBytes))).toBe(sha);
  expect(await shaOf(body.replace('"eu"', '"us"'))).not.toBe(sha);
  expect(await shaOf(body, null)).toBeUndefined();
});
