/** Changes of API keys with an `Idempotency-Key` while what makes them, or knows of the key, fails. */
import { randomUUID } from 'node:crypto';
import { scopes } from '@gw/contract/access';
import { issuedKeySchema } from '@gw/contract/keys';
import { describe, expect, test } from 'vitest';
import { openTestAccounts } from '../sdk/test-account.ts';
import { gateway } from './broken-gateway.ts';
import { eventually } from './own-gateway.ts';

describe('changes with an idempotency key', () => {
  async function newAccount() {
    const accounts = openTestAccounts({ databaseUrl: gateway.stack.databaseUrl, dir: gateway.dir });
    const key = await accounts.create({}, { scopes });
    await accounts.close();
    const accountId = `acct_test_${key.slice(3, 15)}`;
    const headers = {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'idempotency-key': randomUUID(),
    };
    const url = `${gateway.stack.publicUrl}/v1/keys`;
    const ask = async () => {
      const reply = await fetch(url, { method: 'POST', headers, body: '{"name":"another"}' });
      const told = ['idempotent-reexecuted', 'idempotent-replayed'].map((name) => reply.headers.get(name));
      return { status: reply.status, told, text: await reply.text() };
    };
    return {
      ask,
      /** How many keys were made. */
      made: async () => (await gateway.db.apiKey.count({ where: { accountId } })) - 1,
      /** Begins a change, and does `meanwhile` while it waits for its lock. */
      duringChange: (meanwhile: () => Promise<unknown>) =>
        gateway.owner.$transaction(
          async (tx) => {
            await tx.$queryRaw`SELECT 1 FROM accounts WHERE id = ${accountId} FOR UPDATE`;
            const reply = ask();
            let early: string | null = null;
            void reply.then(({ status, text }) => {
              early = `${status} ${text}`;
            });
            // Not in this transaction: what it has seen of others once stays as it was until its end.
            await eventually('the change to wait', async () => {
              const found = await gateway.db.$queryRaw<unknown[]>`
                SELECT 1 FROM pg_stat_activity
                WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%accounts%'`;
              return found.length > 0 || early !== null;
            });
            expect(early).toBeNull();
            await meanwhile();
            return { reply };
          },
          { timeout: 30_000 },
        ),
    };
  }
  const told = ['change-may-have-been-made', null];

  test('a control plane killed in the middle of one frees its key, and who asks again is told', async () => {
    const { ask, duringChange, made } = await newAccount();
    const { reply } = await duringChange(async () => gateway.kill('control-plane'));
    expect((await reply).status).toBe(500);
    await eventually('the control plane', async () => (await fetch(`${gateway.stack.controlUrl}/healthz`)).ok);
    // It waits until the lease of the dead one is over.
    const again = await ask();
    expect([again.status, again.told]).toEqual([200, told]);
    expect(await ask()).toEqual({ status: 200, told: ['change-may-have-been-made', 'true'], text: again.text });
    expect(await made()).toBe(1);
  });

  test('one that Valkey cannot note is confirmed, and who asks again is told of the first', async () => {
    const { ask, duringChange, made } = await newAccount();
    const { reply } = await duringChange(() => gateway.killForGood('valkey'));
    const first = await reply;
    expect([first.status, first.told]).toEqual([200, [null, null]]);
    expect((await ask()).status).toBe(503);
    expect(await made()).toBe(1);
    await gateway.start('valkey');
    let again = await ask();
    await eventually('Valkey to be asked again', async () => {
      if (again.status === 503) again = await ask();
      return again.status !== 503;
    });
    expect([again.status, again.told]).toEqual([200, told]);
    const [one, two] = [first, again].map(({ text }) => issuedKeySchema.parse(JSON.parse(text)).id);
    expect(one).not.toBe(two);
    expect(await made()).toBe(2);
  });
});
