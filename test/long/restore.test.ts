/**
 * The drill of docs/backup.md, with its commands: a gateway whose keys and receipts have changed since its backup gets the backup back on a new
 * server, and says what it lacks as the page says it; beside a Valkey that is newer, older or empty. Then each secret is lost in turn.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { runAdmin } from '@gw/cli/internals/commands/admin';
import { findTarget, openOperatorApi } from '@gw/cli/internals/commands/admin/api';
import { secretNames } from '@gw/control-plane/internals/secrets/watch';
import { inCheckout } from '@gw/stack/checkout';
import { forFile } from '@gw/testing/for-file';
import { inServer } from '@gw/testing/prisma/postgres';
import { postgresTools } from '@gw/testing/prisma/postgres-tools';
import { Redis } from 'ioredis';
import { beforeAll, expect, test } from 'vitest';
import { apiOf } from '../operator-api.ts';
import { expectComplete } from '../outage/expect-reply.ts';
import { eventually, startOwnGateway } from '../outage/own-gateway.ts';

/** The control plane gets these at its next start. */
const settings: Record<string, string> = {};
const gateway = forFile(() => startOwnGateway({ env: { 'control-plane': settings } }));
const account = 'acct_demo_enterprise';
let tools: string;
beforeAll(async () => {
  tools = await postgresTools();
});

const page = readFileSync(inCheckout('docs', 'backup.md'), 'utf8');

/** Runs the commands of the page that begin so, in the folder of the gateway. */
function runFromPage(program: string): void {
  const commands = page.match(new RegExp(`(?<=^ *)${program} .*$`, 'gm')) ?? [];
  expect(commands).toHaveLength(2);
  const env = { PATH: `${tools}${delimiter}${process.env.PATH}`, GW_DATABASE_URL: gateway.stack.databaseUrl };
  for (const command of commands) execFileSync('sh', ['-c', command], { cwd: gateway.dir, env });
}

async function admin(...args: readonly string[]): Promise<{ code: number; text: string }> {
  let text = '';
  const { controlUrl, operatorToken } = gateway.stack;
  const environment = { GW_CONTROL_URL: controlUrl, GW_OPERATOR_TOKEN: operatorToken };
  const code = await runAdmin(args, {
    openApi: () => openOperatorApi(findTarget(environment, null)),
    print: (part) => {
      text += part;
    },
    tell: () => {},
  });
  return { code, text };
}

async function issueKey(): Promise<{ readonly id: string; readonly key: string }> {
  const issued = JSON.parse((await admin('keys', 'create', account, '--name', 'robot', '--json')).text);
  await eventually('the key to work', async () => (await gateway.client.chat({ key: issued.key })).status === 200);
  return issued;
}
const callWith = async (key: string): Promise<string> => expectComplete(await gateway.client.chat({ key }));
const statusOf = async (key: string): Promise<number> => (await gateway.client.chat({ key })).status;
const untilStored = (ids: readonly string[]) => gateway.ledger.receipts(ids);
/** Whether nothing says that Postgres has gone back. */
const isQuiet = async (): Promise<boolean> => (await admin('restore', 'show')).code === 0;
async function untilWell(): Promise<void> {
  await gateway.whole();
  await eventually('the control plane', async () => (await fetch(`${gateway.stack.controlUrl}/healthz`)).ok);
}

/** Steps 1 to 5 of the page, on a server that is new. `meanwhile`: while nothing but Valkey and the sidecars runs. */
async function restore(meanwhile: () => Promise<unknown> = async () => undefined): Promise<void> {
  const { db, dir, owner, stack } = gateway;
  for (const name of ['ext-authz', 'control-plane'] as const) await stack.part(name).stop();
  await Promise.all([db.$disconnect(), owner.$disconnect()]);
  await stack.part('postgres').stop();
  const data = join(dir, 'postgres', 'data');
  renameSync(data, `${data}.gone`);
  await stack.part('postgres').start();
  rmSync(`${data}.gone`, { recursive: true });
  // `./gw test` may have given it tables.
  for (const statement of ['DROP DATABASE gw', 'CREATE DATABASE gw']) await inServer(stack.databaseUrl, statement);
  runFromPage('pg_restore');
  await meanwhile();
  execFileSync(process.execPath, [inCheckout('dist', 'migrate.js')], {
    env: { PATH: process.env.PATH, GW_DATABASE_URL: stack.databaseUrl },
    stdio: 'ignore',
  });
  await stack.part('control-plane').start();
  await eventually('the control plane', async () => (await admin('accounts', 'list')).code === 0, 60_000);
}

async function backUp(): Promise<void> {
  runFromPage('pg_dump');
  expect((await admin('restore', 'check')).code).toBe(0);
}

/** A file of what clients have kept: ids, and replies. */
function keepReceipts(before: readonly string[], after: readonly string[]): string {
  const kept = join(gateway.dir, 'kept.jsonl');
  writeFileSync(kept, [...before, ...after.map((id) => JSON.stringify({ receipt: { id, version: 1 } }))].join('\n'));
  return kept;
}

const withValkey = async (ask: (redis: Redis) => Promise<unknown>): Promise<void> => {
  const redis = new Redis(gateway.stack.redisUrl);
  await ask(redis).finally(() => redis.disconnect());
};

test('Valkey is newer: the backup lacks what came later, and says which keys, batches and kept receipts', async () => {
  const { stack } = gateway;
  const { id, key } = await issueKey();
  const before = [await callWith(key), await callWith(key)];
  await untilStored(before);
  await backUp();

  const after = [await callWith(key), await callWith(key), await callWith(key)];
  await untilStored(after);
  await admin('keys', 'revoke', account, id);
  await eventually('the key to be shut', async () => (await statusOf(key)) === 401);
  const kept = keepReceipts(before, after);
  expect((await admin('restore', 'check', '--receipts', kept)).code).toBe(0);
  // A sidecar of now would put the receipts in again.
  await stack.part('receipt-sidecar').restart();

  await restore();
  const { code, text } = await admin('restore', 'check', '--receipts', kept);
  expect(code).toBe(1);
  expect(text).toMatch(/^keys +\d+ changes of keys or accounts are gone/m);
  expect(text).toMatch(/^receipts +Batches of receipts up to number \d+ were stored/m);
  for (const each of after) expect(text).toMatch(new RegExp(`^${each} +1 +-$`, 'm'));
  for (const each of before) expect(text).not.toContain(each);
  // A backup is no wrong secret.
  expect((await admin('secrets')).code).toBe(0);
  await stack.part('ext-authz').start();
  await untilWell();
  expect(await statusOf(key)).toBe(401);
  expect((await admin('restore', 'confirm', '--reason', 'a drill')).code).toBe(0);
  await eventually('the alarm to end', isQuiet);
  expect(await statusOf(key)).toBe(401);
  expect((await admin('receipts', 'verify')).code).toBe(0);
});

test('Valkey is older: nothing is in doubt, and what it has again is stored once', async () => {
  const { dir, ledger, stack } = gateway;
  const { id, key } = await issueKey();
  const from = new Date();
  await stack.part('control-plane').stop();
  const waiting = [await callWith(key), await callWith(key)];
  await stack.part('valkey').stop();
  const [folder, copy] = [join(dir, 'valkey'), join(dir, 'valkey-copy')];
  cpSync(folder, copy, { recursive: true });
  await stack.part('valkey').start();
  await stack.part('control-plane').start();
  await untilWell();
  const later = [await callWith(key), await callWith(key)];
  await untilStored([...waiting, ...later]);
  await admin('keys', 'revoke', account, id);
  await eventually('the key to be shut', async () => (await statusOf(key)) === 401);

  await stack.part('valkey').stop();
  rmSync(folder, { recursive: true });
  renameSync(copy, folder);
  await stack.part('valkey').start();
  await untilWell();
  expect(await statusOf(key)).toBe(401);
  expect(await isQuiet()).toBe(true);
  const check = await admin('restore', 'check', '--receipts', keepReceipts(waiting, later));
  expect(check).toMatchObject({ code: 0, text: expect.stringContaining('No kept receipt is missing.') });
  await eventually('nothing to wait', async () => (await admin('restore', 'check')).text.includes('0 receipts are on'));
  const { ids, rows } = await ledger.count(from);
  expect(rows).toBe(ids);
});

test('Valkey is empty: only kept receipts show what the backup lacks, and revocations are made again', async () => {
  const { stack } = gateway;
  const { id, key } = await issueKey();
  const before = [await callWith(key)];
  await untilStored(before);
  await backUp();
  const after = [await callWith(key)];
  await untilStored(after);
  await admin('keys', 'revoke', account, id);
  await eventually('the key to be shut', async () => (await statusOf(key)) === 401);
  const kept = keepReceipts(before, after);
  await stack.part('receipt-sidecar').restart();

  await restore(() => withValkey((redis) => redis.flushall()));
  const { code, text } = await admin('restore', 'check', '--receipts', kept);
  expect(code).toBe(1);
  expect(text).toMatch(/^valkey +/m);
  expect(text).toContain(after[0]);
  for (const each of before) expect(text).not.toContain(each);
  expect(await isQuiet()).toBe(true);
  await stack.part('ext-authz').start();
  await untilWell();
  await admin('keys', 'revoke', account, id);
  await eventually('the key to be shut again', async () => (await statusOf(key)) === 401);
});

/** The secrets whose verdict is so. */
const judged = async (verdict: string): Promise<string[]> => {
  const data = JSON.parse((await admin('secrets', '--json')).text) as { id: string; verdict: string }[];
  return data.filter((each) => each.verdict === verdict).map(({ id }) => id);
};

async function restartControlPlane(): Promise<void> {
  await gateway.stack.part('control-plane').start();
  await eventually('the control plane', async () => (await admin('secrets')).text !== '', 60_000);
}

test.each(secretNames)(
  '%s is lost: the control plane names it alone, and nothing is lost when it is back',
  async (name) => {
    const { client, stack } = gateway;
    const [{ publicUrl, keys }, headers] = [stack, { 'content-type': 'application/json', 'idempotency-key': name }];
    const credential = { value: 'a-credential', base_url: 'https://llm.example' };
    await apiOf(stack).send('PUT', '/operator/v1/credentials/ACME', credential);
    await fetch(`${publicUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { ...headers, authorization: `Bearer ${keys.enterprise}` },
      body: JSON.stringify({ model: 'sim-small', messages: [{ role: 'user', content: 'hi' }] }),
    });
    const comparable = [...(await judged('fits')), 'GW_LEDGER_ENTRY_KEY'];
    expect(await judged('does_not_fit')).toEqual([]);
    await stack.part('control-plane').stop();
    const waits = expectComplete(await client.chat());
    settings[name] = 'ab'.repeat(32);
    try {
      await restartControlPlane();
      if (name === 'GW_LEDGER_ENTRY_KEY')
        await eventually('the receipt to be set aside', async () =>
          / [1-9]\d* are set aside/.test((await admin('restore', 'check')).text),
        );
      else {
        expect(comparable).toContain(name);
        expect(await judged('does_not_fit')).toEqual([name]);
        expect(await (await fetch(`${stack.controlUrl}/healthz`)).json()).toMatchObject({ secrets_unfit: [name] });
      }
    } finally {
      delete settings[name];
      await stack.part('control-plane').stop();
      await restartControlPlane();
    }
    expect(await judged('does_not_fit')).toEqual([]);
    await untilWell();
    await admin('receipts', 'retry');
    await untilStored([waits]);
  },
);
