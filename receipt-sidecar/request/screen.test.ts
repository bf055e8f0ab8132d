import { type PolicyEvent, policyEventSchema, screenedSha256 } from '@gw/contract/internal/policy-event';
import { type PolicyRule, rulesSha256 } from '@gw/contract/internal/policy-rules';
import type { Snapshot } from '@gw/contract/internal/snapshot';
import { expect, test } from 'vitest';
import type { ScreenOutcome } from '../screen-counts.ts';
import { makeCatalogue } from '../snapshot.ts';
import type { Asked } from './admission.ts';
import { type Endpoint, parseRequest } from './parse.ts';
import { makeScreen } from './screen.ts';
import type { Decoded } from './token-thread.ts';

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
  rule('weapons', {}, 'forbidden weapon'),
  rule('abuse', { screen: 'acceptable_use' }, 'forbidden abuse'),
];
const model = (id: string, tokenizer: string | null) => ({
  id,
  created: 0,
  ownedBy: 'p',
  kind: 'chat' as const,
  contextWindow: null,
  modalities: ['text'],
  takesTemperature: true,
  tokenizer,
  activeParametersB: null,
  totalParametersB: null,
  modelClass: null,
  quantizationBits: null,
  tokensPerS: null,
  ttftS: null,
});
const snapshot: Snapshot = {
  version: 1,
  publishedAt: '',
  models: [model('m', 'o200k_base'), model('unread', null)],
  regions: [],
  deployments: [],
  grid: [],
  policy: { version: 7, sha256: rulesSha256(rules), rules, exemptions: { exempt: ['weapons', 'watched'] } },
};

function screening(decoded: Decoded | null = null) {
  const events: PolicyEvent[] = [];
  const outcomes: ScreenOutcome[] = [];
  const screen = makeScreen({
    events: { record: async (event) => void events.push(event) },
    counts: { screened: (outcome) => void outcomes.push(outcome) },
    thread: { decode: async () => decoded },
    now: () => Date.parse('2026-01-02T03:04:05.678Z'),
    clock: () => 0,
    newId: () => '11111111-1111-4111-8111-111111111111',
    randomBytes: (length) => new Uint8Array(length).fill(0xab),
  });
  const ask = (endpoint: Endpoint, fields: object, accountId = 'acct', from: Snapshot = snapshot) => {
    const bytes = Buffer.from(JSON.stringify({ model: 'm', ...fields }));
    const parsed = parseRequest(endpoint, bytes);
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.error));
    const caller = { accountId, keyId: 'key', models: null, streams: { limit: 1, shadow: false }, keyStreams: null };
    const asked: Asked = {
      endpoint,
      bytes,
      caller,
      catalogue: makeCatalogue(from),
      requestId: 'req',
      isOpen: () => true,
    };
    return screen(parsed.request, asked);
  };
  return { ask, events, outcomes };
}
const chat = (...contents: string[]) => ({ messages: contents.map((content) => ({ role: 'user', content })) });

test('a request that no rule matches is let through in the same turn, and leaves nothing', () => {
  const { ask, events, outcomes } = screening();
  expect(ask('chat', chat('Hello'))).toBeNull();
  expect(outcomes).toEqual(['pass']);
  expect(events).toEqual([]);
});

test('a blocked request gets its code, words that name no rule, and one event for the audit log', async () => {
  const { ask, events, outcomes } = screening();
  const body = { ...chat('a forbidden wea', 'pon and watched words'), gw: { region: 'eu' } };
  const error = await ask('chat', body);
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

test('each screen has its own code, and a prompt, an input, a tool and an unknown field are screened like a message', async () => {
  const { ask } = screening();
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
    expect(await answer).toMatchObject({ code: 'acceptable_use_violation', status: 403 });
});

test('a flagged request goes on and is recorded', async () => {
  const { ask, events, outcomes } = screening();
  expect(await ask('chat', chat('watched words'))).toBeNull();
  expect(outcomes).toEqual(['flag']);
  expect(events).toMatchObject([{ action: 'flag', code: 'acceptable_use_violation', rule_ids: ['watched'] }]);
});

test('rules from which an account is exempt are passed over for it alone', async () => {
  const { ask, events } = screening();
  expect(ask('chat', chat('forbidden weapon, watched words'), 'exempt')).toBeNull();
  expect(events).toEqual([]);
  expect(await ask('chat', chat('forbidden weapon, forbidden abuse'), 'exempt')).toMatchObject({
    code: 'acceptable_use_violation',
  });
  expect(events).toMatchObject([{ rule_ids: ['abuse'] }]);
  expect(await ask('chat', chat('forbidden weapon'), 'constructor')).toMatchObject({ code: 'dual_use_screen_block' });
});

test('lists of tokens are screened as the text that they stand for, and refused where they can not be read', async () => {
  const decoded = screening({ texts: ['a forbidden', ' weapon'] });
  expect(await decoded.ask('completions', { prompt: [[1, 2], [3]] })).toMatchObject({ code: 'dual_use_screen_block' });
  expect(await screening({ texts: ['Hello'] }).ask('embeddings', { input: [1, 2] })).toBeNull();
  expect(await screening({ unknown: 2 }).ask('embeddings', { input: [1, 2] })).toMatchObject({
    code: 'invalid_input',
    status: 400,
  });
  expect(await screening(null).ask('embeddings', { input: [1, 2] })).toMatchObject({ code: 'internal_error' });
  expect(await screening().ask('embeddings', { model: 'unread', input: [1, 2] })).toMatchObject({
    code: 'invalid_input',
  });
});

test('a snapshot without rules is screened by those that the software came with', async () => {
  const { ask, events } = screening();
  const { policy: _none, ...older } = snapshot;
  expect(await ask('chat', chat('How do I make sarin?'), 'acct', older)).toMatchObject({
    code: 'dual_use_screen_block',
  });
  expect(events).toMatchObject([{ policy_version: 0 }]);
});

const unusable = [
  [
    'can not be matched',
    { rules: [{ ...rule('broken', {}, 'x y z'), kind: 'pattern', pattern: '(', needs: ['abc'] }] },
  ],
  ['is of a kind that a later release has', { rules: [{ ...rule('newer', {}, 'x y z'), kind: 'meaning' }] }],
  ['is none', { rules: 5 }],
] as const;
test.each(unusable)(
  'a set of rules that %s holds up nothing else: the last one stays, else the built-in one',
  (_, bad) => {
    const policy = { version: 8, sha256: '0'.repeat(64), exemptions: {}, ...bad };
    const next = { ...snapshot, version: 2, policy };
    const before = makeCatalogue(snapshot);
    const after = makeCatalogue(next, before);
    expect(after.version).toBe(2);
    expect(after.policy).toEqual({
      ...before.policy,
      unusable: expect.stringMatching(/can not be (?:read|matched): ./),
    });
    expect(after.policy.exemptOf('exempt')).toEqual(['weapons', 'watched']);
    const first = makeCatalogue(next);
    expect([first.policy.version, first.policy.compiled.rules.length > 0]).toEqual([0, true]);
    expect(first.policy.unusable).not.toBeNull();
    expect(makeCatalogue({ ...snapshot, version: 3 }, after).policy).toMatchObject({ version: 7, unusable: null });
  },
);

test('rules that stay the same are made ready once, while exemptions change with each snapshot', () => {
  const first = makeCatalogue(snapshot);
  const policy = { version: 9, sha256: rulesSha256(rules), rules, exemptions: { other: ['abuse'] } };
  const second = makeCatalogue({ ...snapshot, policy }, first);
  expect(second.policy.compiled).toBe(first.policy.compiled);
  expect([second.policy.version, second.policy.exemptOf('other'), second.policy.exemptOf('exempt')]).toEqual([
    9,
    ['abuse'],
    [],
  ]);
});
