/**
 * The drill of docs/backup.md: a gateway whose keys and receipts have changed since its backup gets the backup back, and says what it lacks as
 * the page says it. The backup is a copy of the database inside of its server, which a dump gives elsewhere.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runAdmin } from '@gw/cli/internals/commands/admin';
import { findTarget, openOperatorApi } from '@gw/cli/internals/commands/admin/api';
import { forFile } from '@gw/testing/for-file';
import { inServer } from '@gw/testing/prisma/postgres';
import { expect, test } from 'vitest';
import { expectComplete } from '../outage/expect-reply.ts';
import { eventually, startOwnGateway } from '../outage/own-gateway.ts';

const gateway = forFile(() => startOwnGateway());

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

/** Runs statements in the server while nobody is in the database of the gateway. */
async function whileAlone(...statements: readonly string[]): Promise<void> {
  const { db, owner, stack } = gateway;
  for (const name of ['ext-authz', 'control-plane'] as const) await stack.part(name).stop();
  await Promise.all([db.$disconnect(), owner.$disconnect()]);
  const end = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname IN ('gw', 'gw_backup')`;
  for (const statement of [end, ...statements]) await inServer(stack.databaseUrl, statement);
  for (const name of ['control-plane', 'ext-authz'] as const) await stack.part(name).start();
  await gateway.whole();
  await eventually('the control plane to be well', async () => (await fetch(`${stack.controlUrl}/healthz`)).ok);
}

test('a restored backup lacks what came later, and says which keys, batches and kept receipts', async () => {
  const { client, ledger } = gateway;
  const account = 'acct_demo_enterprise';
  const issued = JSON.parse((await admin('keys', 'create', account, '--name', 'robot', '--json')).text);
  const call = async () => expectComplete(await client.chat({ key: issued.key }));
  const before = [await call(), await call()];
  await eventually('the receipts to be stored', async () => (await ledger.receipts(before)).size === 2);
  await whileAlone('CREATE DATABASE gw_backup TEMPLATE gw');
  expect((await admin('restore', 'check')).code).toBe(0);

  const after = [await call(), await call(), await call()];
  await eventually('the later receipts to be stored', async () => (await ledger.receipts(after)).size === 3);
  await admin('keys', 'revoke', account, issued.id);
  await eventually('the key to be shut', async () => (await client.chat({ key: issued.key })).status === 401);
  const kept = join(gateway.dir, 'kept.jsonl');
  writeFileSync(kept, [...before, ...after.map((id) => JSON.stringify({ receipt: { id, version: 1 } }))].join('\n'));
  expect((await admin('restore', 'check', '--receipts', kept)).code).toBe(0);

  await whileAlone('DROP DATABASE gw', 'CREATE DATABASE gw TEMPLATE gw_backup');
  const { code, text } = await admin('restore', 'check', '--receipts', kept);
  expect(code).toBe(1);
  expect(text).toMatch(/^keys +\d+ changes of keys or accounts are gone/m);
  expect(text).toMatch(/^receipts +Batches of receipts up to number \d+ were stored/m);
  for (const id of after) expect(text).toMatch(new RegExp(`^${id} +1 +-$`, 'm'));
  for (const id of before) expect(text).not.toContain(id);
  // A backup is no wrong secret.
  expect((await admin('secrets')).code).toBe(0);
  await admin('keys', 'revoke', account, issued.id);
  await eventually('the key to be shut again', async () => (await client.chat({ key: issued.key })).status === 401);
});
