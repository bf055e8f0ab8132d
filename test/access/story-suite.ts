/**
 * A customer from the application to the end of the first key: everything through the interfaces that people and programs
 * have. Only the 90 days do not pass: the job that deletes hashes is run with a clock that is ahead.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { auditListSchema } from '@gw/contract/audit';
import { dayMs } from '@gw/contract/internal/durations';
import { issuedKeySchema, keySchema } from '@gw/contract/keys';
import { deleteOldHashes } from '@gw/control-plane/internals/people/keys/delete-hashes';
import { writeFailedVerifications } from '@gw/control-plane/internals/people/keys/failed-verifications';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { gateway } from '../outage/broken-gateway.ts';
import { eventually } from '../outage/own-gateway.ts';
import { Browser, shellOf } from './people.ts';

describe('a customer and their keys', () => {
  const silent = { error: () => {} };

  let shell: ReturnType<typeof shellOf>;
  let redis: Redis;
  beforeAll(async () => {
    shell = shellOf(gateway.stack);
    redis = new Redis(gateway.stack.redisUrl);
  });
  afterAll(() => redis?.disconnect());

  /** The chapters hand these values on. */
  let account = '';
  const first = { id: '', key: '' };
  const second = { id: '', key: '' };
  let lin: Browser;

  /** `200`, or status and code. */
  async function chat(key: string): Promise<string> {
    const { status, text } = await gateway.client.chat({ key });
    return status === 200 ? '200' : `${status} ${JSON.parse(text).error.code}`;
  }

  /** Calls one after the other until it is stopped; then what came of them. */
  function traffic(key: string) {
    const outcomes: string[] = [];
    let over = false;
    const calls = (async () => {
      while (!over) {
        outcomes.push(await chat(key));
        await delay(20);
      }
    })();
    return {
      count: () => outcomes.length,
      stop: async () => {
        over = true;
        await calls;
        return new Set(outcomes);
      },
    };
  }

  async function organisation(action: 'rotate' | 'revoke' | 'restore', id: string) {
    const { status, text } = await lin.call('POST', `/organisation/v1/keys/${id}/${action}`, {});
    return { status, body: JSON.parse(text) };
  }

  const contacts = [
    ...['--billing-name', 'Ada Beck', '--billing-email', 'ada@lighthouse.example'],
    ...['--technical-name', 'Lin Weber', '--technical-email', 'lin@lighthouse.example'],
  ];

  test('an applicant gets a key after all six steps, and the first completion', async () => {
    const create = ['--name', 'Lighthouse Analytics', '--tier', 'audit', ...contacts];
    account = (await shell.json('onboarding', 'create', ...create)).account_id;
    const early = await shell.admin('onboarding', 'issue-key', account, '--name', 'too early');
    expect(early).toMatchObject({ code: 1, err: expect.stringContaining('invalid_transition') });
    const use = ['--use', 'Summaries of tide tables for our own crews.', '--uses', 'summaries'];
    await shell.json('onboarding', 'declare', account, ...use, '--industry', 'software', '--countries', 'DE');
    await eventually('the screenings', async () => {
      return (await shell.json('onboarding', 'show', account)).stage === 'contract_pending';
    });
    const document = join(gateway.dir, 'contract.pdf');
    writeFileSync(document, 'the signed contract');
    const signed = ['--reference', 'contracts/7', '--signed-at', new Date().toISOString()];
    await shell.json('onboarding', 'sign', account, '--document', document, ...signed);
    const issued = await shell.json('onboarding', 'issue-key', account, '--name', 'first');
    Object.assign(first, issued.key);
    const reply = await gateway.client.chat({ key: first.key });
    expect(reply.status, reply.text).toBe(200);
    expect(reply.receipt?.status).toBe('complete');
  });

  test('an admin of the organisation rotates the key while both carry traffic, and no call fails', async () => {
    const person = ['--name', 'Lin Weber', '--email', 'lin@lighthouse.example'];
    const { credential } = await shell.json('admins', 'create', account, ...person);
    lin = new Browser(gateway.stack);
    expect((await lin.logIn('lin@lighthouse.example', credential, 'organisation_admin')).status).toBe(200);

    const old = traffic(first.key);
    await eventually('calls with the first key', () => old.count() > 5);
    const rotated = issuedKeySchema.parse((await organisation('rotate', first.id)).body);
    expect(rotated).toMatchObject({ name: 'first', predecessor: first.id });
    Object.assign(second, rotated);
    const [olds, news] = [old.count(), traffic(second.key)];
    await eventually('calls with both keys', () => old.count() > olds + 5 && news.count() > 5);
    expect(await old.stop()).toEqual(new Set(['200']));

    expect((await organisation('revoke', first.id)).body.state).toBe('revoked');
    await delay(1000);
    expect(await chat(first.key)).toBe('401 revoked_api_key');
    const restored = keySchema.parse((await organisation('restore', first.id)).body);
    expect(restored).toMatchObject({ state: 'active', revoked_at: null });
    await delay(1000);
    expect(await chat(first.key)).toBe('200');
    expect((await organisation('revoke', first.id)).body.state).toBe('revoked');
    await delay(1000);
    expect(await chat(first.key)).toBe('401 revoked_api_key');
    expect(await news.stop()).toEqual(new Set(['200']));
  });

  test('ninety days after its revocation a key is gone for good', async () => {
    const { db } = gateway;
    await deleteOldHashes({ db, log: silent, now: () => new Date(Date.now() + 89 * dayMs) });
    expect(await chat(first.key)).toBe('401 revoked_api_key');
    await deleteOldHashes({ db, log: silent, now: () => new Date(Date.now() + 91 * dayMs) });
    await delay(1000);
    expect(await chat(first.key)).toBe('401 invalid_api_key');
    const late = await organisation('restore', first.id);
    expect([late.status, late.body.error.code]).toEqual([409, 'invalid_transition']);
    expect(await shell.json('keys', 'show', account, first.id)).toMatchObject({
      state: 'revoked',
      restorable_until: null,
    });
    expect(await chat(second.key)).toBe('200');
  });

  const verificationFailed = 'key.verification_failed';

  test('the audit log tells exactly this story, to the customer and to operators', async () => {
    // The minute is over by that clock.
    const later = { db: gateway.db, redis, log: silent, now: () => new Date(Date.now() + 120_000) };
    const entriesOf = async () => {
      const reply = await gateway.client.get('/v1/audit-log?order=asc&limit=100', second.key);
      return auditListSchema.parse(reply.json).data;
    };
    const failures = async () => {
      await writeFailedVerifications(later);
      const counted: Record<string, number> = {};
      for (const { action, after } of await entriesOf())
        if (action === verificationFailed)
          for (const [code, count] of Object.entries((after as { failures: Record<string, number> }).failures))
            counted[code] = (counted[code] ?? 0) + count;
      return counted;
    };
    await eventually('the failed verifications', async () => Object.keys(await failures()).length === 2);
    expect(await failures()).toEqual({ revoked_api_key: 3, invalid_api_key: 1 });

    const entries = (await entriesOf()).filter(
      ({ action }) => action !== verificationFailed && action !== 'receipt_log.signed',
    );
    const [applied, its] = [`application:${account}`, `key:${first.id}`];
    expect(entries.map(({ action, actor, target }) => `${actor.kind} ${action} ${target}`)).toEqual([
      `operator application.created ${applied}`,
      `operator application.declared ${applied}`,
      `operator application.contract_signed ${applied}`,
      `operator key.created ${its}`,
      `operator application.completed ${applied}`,
      expect.stringMatching(/^operator organisation_admin\.created organisation_admin:oadm_\S+$/),
      expect.stringMatching(/^organisation_admin session\.started organisation_admin:oadm_\S+$/),
      `organisation_admin key.rotated ${its}`,
      `organisation_admin key.revoked ${its}`,
      `organisation_admin key.restored ${its}`,
      `organisation_admin key.revoked ${its}`,
      `system key.hash_deleted ${its}`,
    ]);
    // With the session by which she did it.
    const byLin = entries.filter(({ actor }) => actor.name?.startsWith('Lin Weber (session '));
    expect(byLin).toHaveLength(5);
    for (const entry of byLin) expect(entry.request_id).not.toBeNull();
    expect(entries.find(({ action }) => action === 'key.rotated')?.after).toMatchObject({
      successor: { id: second.id },
    });
    const chain = await shell.json('audit', 'list', '--chain', account, '--limit', '1000');
    const hashesOf = (list: { hash: string }[]) => list.map(({ hash }) => hash);
    expect(hashesOf(chain.data).reverse()).toEqual(hashesOf(await entriesOf()));
  });

  describe('what somebody with the rights of a superuser changes in the log is found', () => {
    const verify = async (...args: string[]) => (await shell.admin('audit', 'verify', ...args)).code;
    const unguarded = (sql: string) =>
      gateway.owner.$transaction([
        gateway.owner.$executeRawUnsafe('SET LOCAL session_replication_role = replica'),
        gateway.owner.$executeRawUnsafe(sql),
      ]);
    let head = '';
    let seq = 0;
    beforeAll(async () => {
      const [found] = await shell.json('audit', 'verify', '--chain', account);
      seq = found.seq;
      head = `${account}:${found.seq}:${found.hash}`;
      // No temporary ones: a connection that rests for ten seconds is closed, and they with it.
      await gateway.owner.$executeRawUnsafe('CREATE TABLE audit_before AS TABLE audit');
      await gateway.owner.$executeRawUnsafe('CREATE TABLE heads_before AS TABLE audit_heads');
    });

    test('untouched, every chain verifies', async () => {
      expect(await verify('--head', head)).toBe(0);
    });

    const chain = () => `chain = '${account}'`;
    test.each([
      ['one entry altered', true, () => [`UPDATE audit SET actor_name = 'Nobody' WHERE ${chain()} AND seq = 3`]],
      ['one entry deleted', true, () => [`DELETE FROM audit WHERE ${chain()} AND seq = 3`]],
      ['the tail cut off', true, () => [`DELETE FROM audit WHERE ${chain()} AND seq > ${seq - 2}`]],
      [
        // Whole in itself: only who has noted the head elsewhere can know.
        'the tail cut off together with the head',
        false,
        () => [
          `DELETE FROM audit WHERE ${chain()} AND seq > ${seq - 2}`,
          `UPDATE audit_heads SET seq = ${seq - 2}, hash =
          (SELECT hash FROM audit WHERE ${chain()} AND seq = ${seq - 2}) WHERE ${chain()}`,
        ],
      ],
    ])('%s', async (_name, showsByItself, statements) => {
      for (const sql of statements()) await unguarded(sql);
      expect(await verify()).toBe(showsByItself ? 1 : 0);
      expect(await verify('--head', head)).toBe(1);
      await unguarded(`DELETE FROM audit WHERE ${chain()}`);
      await unguarded(`INSERT INTO audit SELECT * FROM audit_before WHERE ${chain()}`);
      await unguarded(`DELETE FROM audit_heads WHERE ${chain()}`);
      await unguarded(`INSERT INTO audit_heads SELECT * FROM heads_before WHERE ${chain()}`);
      expect(await verify('--head', head)).toBe(0);
    });
  });
});
