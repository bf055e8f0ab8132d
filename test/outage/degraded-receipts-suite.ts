/**
 * Receipts that cannot be made, through the whole gateway: the completion arrives as ever, JSON or stream, and its
 * receipt says why it has no numbers. What was shown is what the ledger gives.
 *
 * Others have their tests elsewhere: `sidecar_unavailable` in services-suite.ts, `tier_unavailable` where measured energy
 * is tested, calls that broke off in `test/sdk/unfinished-calls.test.ts`.
 */

import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { constants, existsSync, readdirSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { degradedDefinitions } from '@gw/contract/degraded-reasons';
import { elementAt } from '@gw/contract/internal/defined';
import type { DegradedReason, Receipt } from '@gw/contract/receipt';
import { openSeals } from '@gw/control-plane/internals/ledger/receipts/sealed-rows';
import { Prisma } from '@gw/prisma/client';
import { loadSecrets } from '@gw/stack/secrets';
import { isLongRun } from '@gw/testing/cases';
import { factsOf, firstVersions, rowsOf } from '@gw/testing/control-plane/calls';
import { storeEntries } from '@gw/testing/control-plane/store-entries';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { gateway } from './broken-gateway.ts';
import type { Call, Reply } from './client.ts';
import { expectError } from './expect-reply.ts';
import { eventually } from './own-gateway.ts';

describe('receipts that cannot be made', () => {
  /** Model → what is wrong with it in the catalogue. All are the simulator's `sim-small` under another name. */
  const parametersB = (value: number) => ({
    activeParametersMinB: value,
    activeParametersMaxB: value,
    totalParametersMinB: value,
    totalParametersMaxB: value,
  });
  const models = [
    { id: 'of-unknown-size' },
    // Allowed by the schema, and more than the arithmetic of the machine can hold.
    { id: 'overflowing', ...parametersB(1e308) },
    { id: 'of-unknown-grid', ...parametersB(8) },
  ];

  beforeAll(async () => {
    const { db } = gateway;
    const described = { ownedBy: 'test', kind: 'chat' as const, modalities: ['text'] };
    await db.model.createMany({ data: models.map((model) => ({ ...described, ...model })) });
    await db.region.create({
      data: { code: 'nowhere', name: 'Nowhere', country: 'XX', gridZone: 'NOWHERE', preference: 9 },
    });
    const place = { providerId: 'simulator', pue: 1.2, telemetry: null };
    await db.deployment.createMany({
      data: [
        {
          ...place,
          id: 'odd',
          regionCode: 'us-east',
          models: { 'of-unknown-size': 'sim-small', overflowing: 'sim-small' },
        },
        { ...place, id: 'nowhere', regionCode: 'nowhere', models: { 'of-unknown-grid': 'sim-small' } },
      ],
    });
    for (const { id } of models) {
      await eventually(`calls of ${id}`, async () => (await gateway.client.chat({ model: id })).status === 200);
    }
  });

  /** The completion is whole, and the receipt says why it has no numbers. */
  function expectDegradedBy(reply: Reply, reason: DegradedReason, recalculable: boolean): Receipt {
    expect(reply).toMatchObject({ status: 200, broken: false, receipt: { degraded_reason: reason } });
    const { receipt } = reply;
    if (receipt === null) throw new Error('There is no receipt.');
    expect(receipt).toMatchObject({
      status: 'complete',
      tier: 'degraded',
      version: 1,
      // Both numbers of impossible counts are named.
      explanation:
        reason === 'usage_implausible'
          ? expect.stringMatching(/states 1000000000000000 prompt tokens, and no more than \d+ can be true/)
          : degradedDefinitions[reason].explanation,
      recalculable,
      energy_wh: null,
      carbon_g: null,
      water_ml: null,
    });
    expect(reply.headers.get('x-gw-receipt-id')).toBe(receipt.id);
    return receipt;
  }

  describe.each([false, true])('stream: %s', (stream) => {
    test.each<[DegradedReason, Call, boolean]>([
      ['usage_implausible', { sim: { 'x-sim-usage': '{"prompt_tokens":1e15,"completion_tokens":1}' } }, false],
      ['model_parameters_unknown', { model: 'of-unknown-size' }, true],
      ['calculator_fault', { model: 'overflowing' }, true],
      ['grid_intensity_missing', { model: 'of-unknown-grid' }, true],
    ])(
      '%s: the completion, and the same receipt from the ledger; its lineage says why it has none',
      async (reason, call, recalculable) => {
        const plain = await gateway.client.chat({ stream });
        const reply = await gateway.client.chat({ ...call, stream });
        const receipt = expectDegradedBy(reply, reason, recalculable);
        expect(reply.content).toMatch(/\w/);
        expect(reply.content).toBe(plain.content);
        expect(receipt.prompt_tokens).toBe(reason === 'usage_implausible' ? null : plain.receipt?.prompt_tokens);
        const { client } = gateway;
        expect((await client.get(`/v1/gw/receipts/${receipt.id}?version=1`)).json).toEqual(receipt);
        const lineage = await client.get(`/v1/gw/lineage/${receipt.id}?version=1`);
        expect(lineage).toMatchObject({ status: 200, json: { lineage: null, explanation: receipt.explanation } });
      },
    );
  });

  test('the monitoring system is told how many receipts there are of each reason', async () => {
    const reply = await fetch(`${gateway.stack.healthUrls['receipt-sidecar']}/metrics`);
    const text = await reply.text();
    const count = (reason: string): number =>
      Number(new RegExp(`^gw_receipts_total\\{degraded_reason="${reason}",.*\\} (\\d+)$`, 'm').exec(text)?.[1]);
    expect(count('none')).toBeGreaterThan(0);
    expect(count('model_parameters_unknown')).toBeGreaterThanOrEqual(2);
    expect(count('sidecar_unavailable')).toBe(0);
    expect(text).toMatch(/^gw_receipts_kept\{.*\} 0$/m);
  });

  describe('receipt_not_stored: Redis away and the volume of the spool hung', () => {
    const spoolFile = () => join(gateway.spoolDir, `${hostname()}.spool`);
    /** Opening a pipe that nobody reads does not come back, as on a volume that hangs. Returns how to let go. */
    async function hangDisk(): Promise<() => Promise<void>> {
      // Earlier entries of a busy machine go home first. The sidecar looks for more once a second, and then removes the pipe.
      await eventually('a pipe that stays', async () => {
        if (spawnSync('mkfifo', [spoolFile()]).status !== 0) return false;
        await delay(1500);
        if (existsSync(spoolFile())) return true;
        // Whoever reads it comes to its end.
        for (const name of readdirSync(gateway.spoolDir).filter((each) => each.endsWith('.replay')))
          await open(join(gateway.spoolDir, name), constants.O_WRONLY | constants.O_NONBLOCK).then((pipe) =>
            pipe.close(),
          );
        return false;
      });
      return async () => {
        const reader = await open(spoolFile(), constants.O_RDONLY | constants.O_NONBLOCK);
        rmSync(spoolFile());
        await eventually('the write to come back', async () => (await reader.read()).bytesRead > 0);
        await reader.close();
      };
    }
    let letGo: (() => Promise<void>) | null = null;
    afterEach(() => letGo?.());

    /** In the end the ledger has the receipt that the client was shown under this id. */
    async function expectLedgerToAgree(receipts: readonly Receipt[]): Promise<void> {
      for (const receipt of receipts) {
        const { id } = receipt;
        const at = () => firstVersions(gateway.db, Prisma.sql`r.id = ${id}`);
        await expect.poll(at, { timeout: 20_000, interval: 200 }).toEqual([{ id, body: receipt }]);
      }
    }

    const calls = () => {
      const { client } = gateway;
      return Promise.all([client.chat(), client.chat({ stream: true }), client.completion(), client.embedding()]);
    };

    test.each(isLongRun ? ['away', 'standing still'] : ['away'])(
      'Redis %s: completions pass, and what was shown comes home',
      async (how) => {
        const plain = await calls();
        letGo = await hangDisk();
        const goOn = how === 'away' ? null : gateway.pause('valkey');
        if (goOn === null) await gateway.killForGood('valkey');
        const replies = [...(await calls()), ...(await calls())];
        if (goOn === null) await gateway.start('valkey');
        else goOn();
        for (const [at, reply] of replies.entries()) {
          const receipt = expectDegradedBy(reply, 'receipt_not_stored', true);
          expect(receipt.prompt_tokens).toBe(plain[at % plain.length]?.receipt?.prompt_tokens);
          expect(reply.content).toBe(plain[at % plain.length]?.content);
        }
        await expectLedgerToAgree(replies.flatMap(({ receipt }) => receipt ?? []));
      },
      90_000,
    );

    test('and the sidecar dies before either is back: what was shown is in the ledger all the same, and gets its numbers', async () => {
      // The pipe is taken away below.
      letGo = null;
      const kept = async () => {
        const metrics = await (await fetch(`${gateway.stack.healthUrls['ext-authz']}/metrics`)).text();
        return Number(/^gw_receipts_kept\{.*\} (\d+)$/m.exec(metrics)?.[1]);
      };
      // Receipts of the calls before cannot come home while Redis is away.
      await eventually('nothing to be kept elsewhere', async () => (await kept()) === 0);
      await hangDisk();
      await gateway.killForGood('valkey');
      const replies = await calls();
      for (const reply of replies) expectDegradedBy(reply, 'receipt_not_stored', true);
      const refused = await gateway.client.chat({ sim: { 'x-sim-fault': 'status-400' } });
      expect(refused.status).toBe(400);
      // Envoy has told ext-authz of each.
      await eventually('what was shown to be kept elsewhere', async () => (await kept()) === replies.length + 1);
      await gateway.killForGood('receipt-sidecar');
      rmSync(spoolFile());
      await gateway.mend();
      const receipts = replies.flatMap(({ receipt }) => receipt ?? []);
      await expectLedgerToAgree(receipts);
      const where = { id: String(refused.headers.get('x-gw-receipt-id')), status: 'upstream_error' };
      await expect.poll(() => gateway.db.receipt.count({ where }), { timeout: 20_000 }).toBe(1);
      for (const { id } of receipts) {
        const newer = () => gateway.db.receipt.count({ where: { id, version: 2, tier: { not: 'degraded' } } });
        await expect.poll(newer, { timeout: 60_000, interval: 500 }).toBe(1);
      }
    }, 180_000);
  });

  describe('receipt_generation_failed, where there is no completion to give', () => {
    test.each([
      ['whose facts do not give its numbers', 'receipt'],
      ['whose facts cannot be read', 'facts'],
    ])('the lineage of a receipt %s', async (_, part) => {
      const { client, db, ledger } = gateway;
      const { receipt } = await client.chat();
      if (receipt === null) throw new Error('There is no receipt.');
      await ledger.receipts([receipt.id]);
      expect((await client.get(`/v1/gw/lineage/${receipt.id}`)).status).toBe(200);
      // Only somebody with the key of the ledger can have stored it, since the ingester takes no such entry.
      const rows = await rowsOf(db, receipt.id);
      const row = elementAt(rows, 0);
      const id = `${receipt.id.slice(0, -12)}${randomBytes(6).toString('hex')}`;
      const entry = {
        accountId: row.account_id,
        keyId: row.key_id,
        endpoint: row.endpoint,
        routingTrace: JSON.parse(row.routing_trace ?? 'null'),
        receipt: { ...receipt, id, ...(part === 'receipt' && { energy_wh: 2 * (receipt.energy_wh ?? 1) }) },
        facts: part === 'facts' ? { boundary: 'comprehensive' } : (await factsOf(db, rows))[0],
      };
      const secret = Buffer.from(loadSecrets(gateway.dir).ledgerKey, 'hex');
      const keys = { current: { id: 1, secret }, others: [] };
      await storeEntries(db, [entry], openSeals({ keys, report: async () => undefined }));
      const path = `/v1/gw/lineage/${id}`;
      expectError(await client.get(path), 500, 'methodology_error', 'receipt_generation_failed');
      expect((await client.get(`/v1/gw/receipts/${id}`)).status).toBe(200);
    });
  });
});
