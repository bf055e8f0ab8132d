import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ClassifierRule } from '@gw/contract/internal/policy-rules';
import { seam } from '@gw/policy/normalise';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openClassifier } from './classifier.ts';

type Answer = (request: IncomingMessage, reply: ServerResponse, body: string) => void;
let answer: Answer;
const server = createServer(async (request, reply) => {
  let body = '';
  for await (const part of request) body += part;
  answer(request, reply, body);
});
beforeAll(() => new Promise<void>((done) => server.listen(0, '127.0.0.1', done)));
afterAll(() => server.closeAllConnections());

const rule = (fields: Partial<ClassifierRule>): ClassifierRule => ({
  id: 'judge',
  title: 'What the classifier finds',
  screen: 'acceptable_use',
  action: 'block',
  enabled: true,
  kind: 'classifier',
  on_failure: 'pass',
  ...fields,
});
const judged =
  (...results: object[]): Answer =>
  (_request, reply) =>
    void reply.end(JSON.stringify({ id: 'm', results }));
const violent = {
  flagged: true,
  categories: { violence: true, hate: false },
  category_scores: { violence: 0.8, hate: 0.3 },
};
const harmless = {
  flagged: false,
  categories: { violence: false, hate: false },
  category_scores: { violence: 0, hate: 0 },
};

function classifier(timeoutMs = 2000) {
  const outcomes: string[] = [];
  const warnings: string[] = [];
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/moderations`;
  const { ask } = openClassifier(
    { url, key: 'secret-key', model: 'judge-1', timeoutMs },
    {
      metrics: { classified: (outcome) => void outcomes.push(outcome) },
      log: { warn: (fields: object) => void warnings.push(String((fields as { err: Error }).err)) } as never,
      clock: () => 0,
    },
  );
  const ids = async (...rules: ClassifierRule[]) => (await ask(['one', `two${seam}parts`], rules)).map(({ id }) => id);
  return { ids, outcomes, warnings };
}

test('it is asked as a moderation endpoint is, once for all rules', async () => {
  const asked: unknown[] = [];
  answer = (request, reply, body) => {
    asked.push([request.method, request.headers.authorization, JSON.parse(body)]);
    judged(harmless, violent)(request, reply, body);
  };
  const { ids, outcomes } = classifier();
  expect(await ids(rule({}), rule({ id: 'hate', categories: ['hate'] }))).toEqual(['judge']);
  expect(asked).toEqual([['POST', 'Bearer secret-key', { model: 'judge-1', input: ['one', 'two\nparts'] }]]);
  expect(outcomes).toEqual(['answered']);
});

test.each([
  [{ categories: ['violence'] }, true],
  [{ categories: ['hate', 'violence'] }, true],
  [{ categories: ['hate'] }, false],
  [{ categories: ['hate'], threshold: 0.3 }, true],
  [{ categories: ['hate'], threshold: 0.31 }, false],
  [{ categories: ['unknown'], threshold: 0 }, false],
  [{}, true],
] as const)('a rule %j applies: %s', async (fields, applies) => {
  answer = judged(violent);
  expect(await classifier().ids(rule(fields as Partial<ClassifierRule>))).toEqual(applies ? ['judge'] : []);
});

const failures: [string, Answer][] = [
  ['an error', (_request, reply) => void reply.writeHead(500).end('no')],
  ['no JSON', (_request, reply) => void reply.end('<html>')],
  ['another form', (_request, reply) => void reply.end('{"results":[]}')],
  ['a redirect', (_request, reply) => void reply.writeHead(307, { location: 'http://127.0.0.1:1/' }).end()],
  ['a torn connection', (request) => void request.socket.destroy()],
  ['too much', (_request, reply) => void reply.end(' '.repeat(5 * 1024 * 1024))],
  ['nothing in time', () => undefined],
];

test.each(failures)('with %s each rule passes or blocks as it says, and it is told once', async (_, failing) => {
  answer = failing;
  const { ids, outcomes, warnings } = classifier(300);
  expect(await ids(rule({ id: 'open' }), rule({ id: 'closed', on_failure: 'block' }))).toEqual(['closed']);
  await ids(rule({}));
  expect(outcomes).toEqual(['failed', 'failed']);
  expect(warnings).toHaveLength(1);
  expect(warnings.join()).not.toMatch(/one|secret-key/);
});

test('without an address its rules are left to their on_failure', async () => {
  const outcomes: string[] = [];
  const metrics = { classified: (outcome: string) => void outcomes.push(outcome) };
  const { ask } = openClassifier(null, { metrics, log: { warn: () => undefined } as never, clock: () => 0 });
  const rules = [rule({ id: 'open' }), rule({ id: 'closed', on_failure: 'block' })];
  expect((await ask(['one'], rules)).map(({ id }) => id)).toEqual(['closed']);
  expect(outcomes).toEqual(['not_configured']);
});
