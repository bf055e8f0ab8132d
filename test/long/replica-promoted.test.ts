/**
 * A replica that lags is promoted under load, and the books afterwards: no receipt that a client was shown is gone, and what was revoked stays revoked.
 * `GW_CHAOS_S`: for how many seconds calls are made; `GW_CHAOS_LAG_S`: how far the replica lags.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { hourMs } from '@gw/contract/internal/durations';
import { startStandby } from '@gw/testing/prisma/standby';
import { expect, test } from 'vitest';
import { differencesOf, shownReceipts } from '../chaos/books.ts';
import { watchProvider } from '../chaos/provider-calls.ts';
import { startTraffic } from '../chaos/traffic.ts';
import { apiOf } from '../operator-api.ts';
import { eventually, startOwnGateway } from '../outage/own-gateway.ts';
import { openTestAccounts } from '../sdk/test-account.ts';
import { rowsSince, usageDifferences } from './ledger-claims.ts';

const durationS = Number(process.env.GW_CHAOS_S ?? 120);
const lagS = Number(process.env.GW_CHAOS_LAG_S ?? 6);
const perDay = 1_000_000;
/** Leases run out, statements of the second witness come, and sums are made. */
const settleMs = 120_000;

test('the books balance behind a replica that was promoted', { timeout: (2 * durationS + 400) * 1000 }, async () => {
  const keep = process.env.GW_LEDGER_KEEP_S;
  const env = keep === undefined ? {} : { GW_LEDGER_KEEP_S: keep };
  const gateway = await startOwnGateway({
    instances: 2,
    controlPlanes: 2,
    env: { 'receipt-sidecar': env, 'receipt-sidecar-2': env },
  });
  const { client, stack } = gateway;
  const data = join(gateway.dir, 'postgres', 'data');
  const standby = await startStandby({ data, url: stack.databaseUrl });
  try {
    const from = new Date(Date.now() - hourMs);
    const accounts = openTestAccounts({ databaseUrl: stack.databaseUrl, dir: gateway.dir });
    const own = () => accounts.create({ perDay, perS: 1000, streams: 500 });
    const [apiKey, revoked, other] = [await own(), await own(), await own()];
    await accounts.close();
    const api = apiOf(stack);
    const statusOf = async (key: string) => (await client.get('/v1/models', key)).status;
    await eventually('all keys to work', async () =>
      (await Promise.all([apiKey, revoked, other].map(statusOf))).every((status) => status === 200),
    );
    const provider = watchProvider(stack.simulatorUrl);
    const traffic = startTraffic({ publicUrls: stack.publicUrls, apiKey, seed: 16 });
    await delay((durationS * 1000) / 2);

    await standby.cut();
    const cutAt = Date.now();
    const [, id = ''] = revoked.split('_');
    await api.send('POST', `/operator/v1/accounts/acct_test_${id}/keys/${id}/revoke`);
    await eventually('the key to be refused', async () => (await statusOf(revoked)) === 401);
    await delay(lagS * 1000);
    await gateway.killForGood('postgres');
    await standby.promote();
    await stack.part('postgres').start();
    const promotedAt = Date.now();
    await eventually(
      'the alarm',
      async () => ((await api.get('/operator/v1/restore')) as { alarm: unknown }).alarm !== null,
    );
    console.log(`  the alarm came ${Date.now() - promotedAt} ms after the start of the promoted replica`);
    const { alarm } = (await api.get('/operator/v1/restore')) as {
      alarm: Record<string, { known: number; found: number }>;
    };
    console.log(`  receipts: ${JSON.stringify(alarm.receipts)}, heartbeat: ${JSON.stringify(alarm.heartbeat)}`);
    expect(alarm.why).toBe('older');
    await eventually('the other key to work', async () => (await statusOf(other)) === 200);
    expect(await statusOf(revoked)).toBe(401);
    await delay((durationS * 1000) / 2);
    await traffic.stop();
    const endedAt = Date.now();
    const reply = await api.send('POST', '/operator/v1/restore/confirm', { alarm: alarm.id, reason: 'a drill' });
    expect(reply).toMatchObject({
      revoked_again: [id],
      batches_given_up: expect.arrayContaining([expect.any(Number)]),
    });
    await eventually(
      'the alarm to end',
      async () => ((await api.get('/operator/v1/restore')) as { alarm: unknown }).alarm === null,
    );
    expect([await statusOf(revoked), await statusOf(other)]).toEqual([401, 200]);

    // The database has lost what ext-authz had stated since the cut, and nobody states it again.
    const atMs = cutAt - 60_000;
    const blow = {
      part: 'ext-authz',
      trouble: 'away',
      forMs: endedAt - atMs,
      atMs,
      back: Promise.resolve(null),
    } as const;
    const usedToday =
      perDay - Number((await client.get('/v1/models', apiKey)).headers.get('x-ratelimit-remaining-day')) - 1;
    let open: string[] = [];
    for (const deadline = Date.now() + settleMs; ; await delay(2000)) {
      const [, accountPart = ''] = apiKey.split('_');
      const accountId = `acct_test_${accountPart}`;
      const counted = await gateway.db.callCount.findMany({ where: { accountId } });
      const rows = await rowsSince(gateway.db, from, accountId);
      const books = {
        attempts: traffic.attempts,
        providerCalls: await provider.calls(),
        rows,
        counted,
        usedToday,
        blows: [blow],
        envoyEnds: [],
        forgotten: [],
      };
      open = [
        ...differencesOf(books),
        ...(await usageDifferences(client, from, rows, apiKey)).map((line) => `usage: ${line}`),
      ];
      if (open.length > 0 && Date.now() < deadline) continue;
      const shown = shownReceipts(books).length;
      console.log(`  ${traffic.attempts.length} requests, ${shown} receipts shown, ${rows.length} rows`);
      expect(shown).toBeGreaterThan(5 * durationS);
      break;
    }
    provider.stop();
    expect(open).toEqual([]);
    const health = await fetch(`${stack.controlUrl}/healthz`).then((response) => response.json());
    console.log(`  health: ${JSON.stringify(health)}`);
  } finally {
    await gateway.stop();
    await standby.stop();
    rmSync(`${data}.lost`, { recursive: true, force: true });
  }
});
