/** A screened call leaves an entry in the audit log that proves what it says, and no word of the text. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { auditListSchema } from '@gw/contract/audit';
import { ChainCheck } from '@gw/contract/internal/audit-chain';
import { readAudit, readHead } from '@gw/control-plane/internals/people/audit/read';
import { openDatabase } from '@gw/prisma/client';
import { inCheckout } from '@gw/stack/checkout';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { run } from '../cli/gateway-of-its-own.ts';
import { eventually, get, stack } from '../sdk/gateway.ts';
import { accountsForFile } from '../sdk/test-account.ts';
import { accountOf, addRules, becomes, blockingPhrase, chat, rollBackTo, rulesInForce, send } from './rules.ts';

const canary = `kanarienvogel${Math.random().toString(36).slice(2)}`;
const phrase = 'sing of the quokkafinch';
const doubtful = 'hum of the quokkafinch';
const accounts = accountsForFile();
let before: number;
let version: number;
let key: string;
let dir: string;
beforeAll(async () => {
  dir = mkdtempSync(join(stack.dir, 'policy-'));
  before = (await rulesInForce()).version;
  version = await addRules(blockingPhrase('test-audit', phrase), {
    ...blockingPhrase('test-flag', doubtful),
    screen: 'dual_use',
    action: 'flag',
  });
  key = await accounts.create({ perS: 200 });
  const other = await accounts.create({ perS: 100 });
  await becomes('acceptable_use_violation', () => send(other, 'chat/completions', chat(phrase)));
});
afterAll(async () => {
  await rollBackTo(before);
  rmSync(dir, { recursive: true, force: true });
});

const afterSchema = z.object({
  code: z.string(),
  rule_ids: z.array(z.string()),
  policy_version: z.number(),
  policy_sha256: z.string(),
  calls: z.array(
    z.object({
      event: z.string(),
      at: z.string(),
      request_id: z.string(),
      text_salt: z.string(),
      text_sha256: z.string(),
    }),
  ),
});
const entries = async (action: string) => {
  const { data } = auditListSchema.parse((await get(`/v1/audit-log?limit=100&action=${action}`, key)).body);
  return data.map((entry) => ({ ...entry, after: afterSchema.parse(entry.after) }));
};
const entryOf = (action: string, requestId: string) =>
  eventually(`an entry of ${requestId}`, async () =>
    (await entries(action)).find(({ after }) => after.calls.some((call) => call.request_id === requestId)),
  );

test('the customer reads of each blocked and flagged call, and its hash is that of the request alone', async () => {
  const body = {
    ...chat(`${canary}: ${phrase}, please. ä \u{1F512} "quoted"\n`),
    temperature: 0.7,
    metadata: { b: '1', a: 'é' },
    top_p: 0.00001,
    gw: { boundary: 'narrow' },
  };
  const blocked = await send(key, 'chat/completions', body);
  expect(blocked).toMatchObject({ outcome: 'acceptable_use_violation' });
  expect(blocked.text).not.toContain('quokka');
  const entry = await entryOf('policy.blocked', blocked.requestId);
  const keyId = key.split('_')[1];
  expect(entry).toMatchObject({
    target: `policy:${version}`,
    request_id: blocked.requestId,
    actor: { kind: 'api_key', id: keyId, name: 'Test' },
    after: {
      code: 'acceptable_use_violation',
      rule_ids: ['test-audit'],
      policy_version: version,
      calls: { length: 1 },
    },
  });
  const [call] = entry.after.calls;
  const hashOf = async (request: object) => {
    writeFileSync(join(dir, 'request.json'), JSON.stringify(request));
    const args = [inCheckout('docs/examples/policy_hash.py'), join(dir, 'request.json'), call?.text_salt ?? ''];
    const { code, err, out } = await run('python3', args, process.env);
    expect(code, err).toBe(0);
    return out.trim();
  };
  expect(await hashOf(body)).toBe(call?.text_sha256);
  expect(await hashOf({ ...body, temperature: 0.8 })).not.toBe(call?.text_sha256);
  const flagged = await send(key, 'embeddings', { model: 'sim-embed', input: `${canary} ${doubtful}` });
  expect(flagged.outcome).toBe('200');
  expect(await entryOf('policy.flagged', flagged.requestId)).toMatchObject({
    after: { code: 'dual_use_screen_block', rule_ids: ['test-flag'] },
  });
});

test('a flood of blocked calls is written call by call, each once, in a chain that verifies', async () => {
  const flood = await Promise.all(
    Array.from({ length: 150 }, () => send(key, 'chat/completions', chat(`${canary} ${phrase}`))),
  );
  expect(new Set(flood.map(({ outcome }) => outcome))).toEqual(new Set(['acceptable_use_violation']));
  const asked = flood.map(({ requestId }) => requestId).sort();
  const db = openDatabase(stack.databaseUrl, { connections: 1 });
  const chain = await accountOf(db, key);
  const written = () => readAudit(db, chain, { action: 'policy.blocked', order: 'asc', limit: 1000 });
  const found = await eventually('150 calls in the log', async () => {
    const ids = (await written()).flatMap(({ after }) => afterSchema.parse(after).calls.map((call) => call.request_id));
    return asked.every((id) => ids.includes(id)) ? ids : null;
  });
  expect(found.filter((id) => asked.includes(id)).sort()).toEqual(asked);
  const check = new ChainCheck();
  for (const entry of await readAudit(db, chain, { order: 'asc', limit: 1000 })) check.next(entry);
  expect(check.end(await readHead(db, chain))).toEqual([]);
  await db.$disconnect();
});

/** The places of everything that is stored in which the word stands. */
async function placesOf(word: string): Promise<Set<string>> {
  const places = new Set<string>();
  const tables = await accounts.db.$queryRaw<{ name: string }[]>`
    SELECT quote_ident(tablename) AS name FROM pg_tables
    WHERE schemaname = 'public' AND tablename <> '_prisma_migrations'`;
  for (const { name } of tables) {
    const rows = `SELECT 1 FROM ${name} t WHERE t::text LIKE '%${word}%' LIMIT 1`;
    if ((await accounts.db.$queryRawUnsafe<unknown[]>(rows)).length > 0) places.add(name);
  }
  const redis = new Redis(stack.redisUrl);
  for (const name of await redis.keys('*'))
    if (name.includes(word) || (await redis.dumpBuffer(name))?.includes(word)) places.add(name);
  redis.disconnect();
  for (const name of readdirSync(stack.dir, { recursive: true, encoding: 'utf8' })) {
    const file = join(stack.dir, name);
    // The files of this test hold its requests.
    if (file.startsWith(dir) || !statSync(file, { throwIfNoEntry: false })?.isFile()) continue;
    if (readFileSync(file).includes(word)) places.add(name.split('/')[0] ?? '');
  }
  return places;
}

test('no word of a screened text stands in the database, in Valkey, in a log or on disk', async () => {
  await send(key, 'chat/completions', { ...chat(`${canary} ${phrase}`), stream: true });
  const { requestId } = await send(key, 'chat/completions', chat(`${canary} ${phrase}`));
  await entryOf('policy.blocked', requestId);
  // The same search finds an existing text, once Envoy has written its log.
  await eventually('the call to stand in the log', async () => ((await placesOf(requestId)).has('logs') ? true : null));
  expect(await placesOf(requestId)).toEqual(new Set(['audit', 'logs', 'postgres']));
  expect(await placesOf(canary)).toEqual(new Set());
});
