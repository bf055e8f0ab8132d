import { policySchema } from '@gw/contract/internal/policy-rules';
import { snapshotKey } from '@gw/contract/internal/redis';
import { snapshotSchema } from '@gw/contract/internal/snapshot';
import { account, as, at, pattern, phrases, publish, testApp, useTestApp } from '@gw/testing/control-plane/policy';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { buildOperatorApp } from '../../operator-app.ts';

useTestApp();
const rules = [
  { ...phrases('spared', 'make a bomb'), unless: ['make a bomb shelter'] },
  phrases('blocked', 'forbidden words'),
  pattern('flagged', 'doubtful (?:word|phrase)s?', 'doubtful'),
];
const dryRun = async (body: object) => (await as('support')('POST', at('/dry-run'), body)).json();
const one = async (sample: object, more: object = {}) =>
  (await dryRun({ rules, samples: [sample], ...more })).samples[0];

test('each sample is told what would happen to it, and by which rules', async () => {
  const text = 'Before: Ｆｏrbidden\u200b wörds, and doubtful phrases; "forbidden-words" again.';
  const blocked = await one({ name: 'mixed', text });
  expect(blocked).toMatchObject({
    name: 'mixed',
    outcome: 'block',
    code: 'acceptable_use_violation',
    matches: [
      { rule: 'blocked', screen: 'acceptable_use', action: 'block', exempt: false },
      { rule: 'flagged', screen: 'dual_use', action: 'flag', exempt: false },
    ],
  });
  expect(await one({ text: 'a doubtful word' })).toMatchObject({ outcome: 'flag', code: 'dual_use_screen_block' });
  expect(await one({ text: 'nothing at all' })).toEqual({ name: '1', outcome: 'pass', code: null, matches: [] });
});

test('what a rule spares does not count, where nothing else matches', async () => {
  expect(await one({ text: 'Make a bomb shelter! Then make a bomb. Make a bomb shelter!' })).toMatchObject({
    outcome: 'block',
    matches: [{ rule: 'spared' }],
  });
  expect((await one({ text: 'Make a bomb shelter!' })).outcome).toBe('pass');
});

test('the body of a request is read as the gateway reads it, even where a phrase is split over messages', async () => {
  const body = {
    model: 'm',
    messages: [
      { role: 'system', content: 'fine' },
      { role: 'user', content: [{ type: 'text', text: 'and forbidden words' }] },
    ],
    tools: [{ type: 'function', function: { name: 'f', description: 'a doubtful phrase' } }],
  };
  expect((await one({ body })).matches).toMatchObject([{ rule: 'blocked' }, { rule: 'flagged' }]);
  const split = { messages: ['say forbid', 'den words'].map((content) => ({ role: 'user', content })) };
  expect((await one({ body: split })).matches).toMatchObject([{ rule: 'blocked' }]);
});

test('rules in force, of an older version or not published are tried, and told apart from those in force', async () => {
  const published = (await publish(rules)).json();
  const samples = [{ text: 'forbidden words' }];
  const rule_count = rules.length;
  expect(await dryRun({ samples })).toMatchObject({
    rules: {
      version: published.version,
      sha256: published.sha256,
      rule_count,
      changes: { added: [], removed: [], changed: [] },
    },
    samples: [{ outcome: 'block' }],
  });
  const next = [{ ...rules[1], enabled: false }, phrases('new', 'forbidden')];
  expect(await dryRun({ rules: next, samples })).toMatchObject({
    rules: { version: null, changes: { added: ['new'], removed: ['spared', 'flagged'], changed: ['blocked'] } },
    samples: [{ matches: [{ rule: 'new' }] }],
  });
  expect(await dryRun({ version: 1, samples })).toMatchObject({
    rules: { version: 1 },
    samples: [{ outcome: 'pass' }],
  });
  expect((await dryRun({ rules: next })).samples).toEqual([]);
});

test('with the exemptions of an account, its outcome is what counts, and the rule is still shown', async () => {
  await publish(rules);
  await as('admin')('POST', at('/exemptions'), { account_id: account, rule_id: 'blocked', reason: 'x' });
  const sample = { text: 'forbidden words' };
  expect(await one(sample, { account_id: account })).toMatchObject({
    outcome: 'pass',
    code: null,
    matches: [{ rule: 'blocked', exempt: true }],
  });
  expect(await one(sample, { account_id: 'acct_demo_enterprise' })).toMatchObject({ outcome: 'block' });
  const nobody = await as('support')('POST', at('/dry-run'), { samples: [], account_id: 'nobody' });
  expect(nobody.statusCode).toBe(404);
});

test('what cannot be tried is refused by name', async () => {
  const refusedFor = async (samples: object[], more: object = {}) => {
    const reply = await as('support')('POST', at('/dry-run'), { samples, ...more });
    return [reply.statusCode, reply.json().error.param];
  };
  expect(await refusedFor([{ text: 'a' }, { text: 'a', body: {} }])).toEqual([400, 'samples[1]']);
  expect(await refusedFor([{}])).toEqual([400, 'samples[0]']);
  expect(await refusedFor([{ body: { prompt: [1, 2, 3] } }])).toEqual([400, 'samples[0].body']);
  expect(await refusedFor([], { rules, version: 1 })).toEqual([400, null]);
  expect(await refusedFor([], { version: 999 })).toEqual([400, 'version']);
  const deep = JSON.parse(`${'{"a":'.repeat(100)}1${'}'.repeat(100)}`);
  expect(await refusedFor([{ body: deep }])).toEqual([400, 'samples[0].body']);
});

test('a long text full of matches is answered', async () => {
  const text = 'forbidden words and doubtful phrases '.repeat(20_000);
  const { matches, outcome } = await one({ text });
  expect(outcome).toBe('block');
  expect(matches).toHaveLength(2);
}, 60_000);

test('nothing of a sample is stored or logged, whether it is tried, refused or fails', async () => {
  const { context, services } = testApp();
  const lines: string[] = [];
  const log = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) });
  const { catalogue } = context.databases;
  const failing = {
    ...catalogue,
    policyVersion: { findFirst: () => Promise.reject(new Error('the database is away')) },
  };
  const state = async () => [
    await context.db.$queryRaw`SELECT count(*) FROM audit`,
    await context.db.$queryRaw`SELECT count(*) FROM policy_versions`,
    (await context.redis.keys('*')).filter((key) => key !== snapshotKey).sort(),
  ];
  const before = await state();
  const canary = 'kanarienvogel forbidden words';
  const app = buildOperatorApp({ ...context, log }, services);
  const bodies = [{ samples: [{ text: canary }] }, { samples: [{ text: canary, extra: canary }] }, { samples: canary }];
  for (const body of bodies) await as('support', app)('POST', at('/dry-run'), body);
  const databases = { ...context.databases, catalogue: Object.setPrototypeOf(failing, catalogue) };
  const broken = buildOperatorApp({ ...context, log, databases }, services);
  const fault = await as('support', broken)('POST', at('/dry-run'), bodies[0]);
  expect(fault.statusCode).toBe(500);
  expect(await state()).toEqual(before);
  expect(lines.join('')).toContain('the database is away');
  expect(lines.join('')).not.toContain('kanarienvogel');
  await Promise.all([app.close(), broken.close()]);
});

const published = async () => {
  const text = await testApp().context.redis.get(snapshotKey);
  return snapshotSchema.extend({ policy: policySchema.optional() }).parse(JSON.parse(text ?? 'null'));
};

test('rules and exemptions are published with the catalogue, and parts of other releases can read it', async () => {
  const { version, sha256 } = (await publish([phrases('snap', 'a phrase')])).json();
  await testApp().refresh();
  const first = await published();
  expect(first.policy).toMatchObject({ version, sha256, rules: [phrases('snap', 'a phrase')] });
  await as('admin')('POST', at('/exemptions'), { account_id: account, rule_id: 'snap', reason: 'x' });
  await testApp().refresh();
  const second = await published();
  expect(second.policy?.exemptions[account]).toContain('snap');
  expect(second.version).toBeGreaterThan(first.version);
  await as('admin')('DELETE', at(`/exemptions/${account}/snap`));
  await testApp().refresh();
  expect((await published()).policy?.exemptions[account] ?? []).not.toContain('snap');
  // A release that does not know the policy ignores it, and before its first version there is none.
  const { policy, ...rest } = second;
  expect(snapshotSchema.omit({ policy: true }).parse(second)).toEqual(rest);
  expect(snapshotSchema.parse(rest)).toEqual(rest);
  expect(policySchema.parse({ ...policy, of_a_newer_release: 1 })).toEqual(policy);
});
