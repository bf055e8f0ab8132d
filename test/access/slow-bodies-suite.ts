/** These tests revoke a key between the headers of a request and the end of its body. */
import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { issuedKeySchema } from '@gw/contract/keys';
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { apiOf } from '../operator-api.ts';
import { gateway } from '../outage/broken-gateway.ts';

describe('bodies that are slow', () => {
  const account = '/operator/v1/accounts/acct_demo_enterprise/keys';

  const issue = async (scopes: readonly string[]) =>
    issuedKeySchema.parse(await apiOf(gateway.stack).send('POST', account, { name: 'slow', scopes }));

  interface HalfSentRequest {
    /** Sends the rest of the body. */
    finish(): void;
    readonly reply: Promise<readonly [status: number, code: string | undefined]>;
  }

  /** Headers and half of the body, which Envoy and ext-authz have seen when this resolves. */
  async function begin(key: string, path: string, body: object): Promise<HalfSentRequest> {
    const text = JSON.stringify(body);
    const headers = {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'content-length': String(text.length),
    };
    const sent = request(`${gateway.stack.publicUrl}${path}`, { method: 'POST', agent: false, headers });
    const reply = new Promise<readonly [number, string | undefined]>((resolve, reject) => {
      sent.on('error', reject);
      sent.on('response', async (incoming) => {
        const { error } = JSON.parse(await textOf(incoming));
        resolve([incoming.statusCode ?? 0, error?.code]);
      });
    });
    sent.write(text.slice(0, 10));
    // Nothing tells from outside that the key is checked; a good many times as long as it takes.
    await delay(500);
    return { finish: () => sent.end(text.slice(10)), reply };
  }

  const revoke = (id: string) => apiOf(gateway.stack).send('POST', `${account}/${id}/revoke`);

  test('a key that is revoked while bodies come makes, rotates and restores no key with them', async () => {
    const { id, key } = await issue(['admin:keys']);
    const [other, gone] = [await issue(['gw:read']), await issue(['gw:read'])];
    await revoke(gone.id);
    const before = await gateway.db.apiKey.count();
    const held = await Promise.all([
      begin(key, '/v1/keys', { name: 'an heir of the thief' }),
      begin(key, `/v1/keys/${other.id}/rotate`, { name: 'another one' }),
      begin(key, `/v1/keys/${gone.id}/restore`, { 'a body': 'that nobody reads' }),
    ]);
    await revoke(id);
    for (const each of held) each.finish();
    for (const { reply } of held) expect(await reply).toEqual([401, 'revoked_api_key']);
    expect(await gateway.db.apiKey.count()).toBe(before);
    const holder = await issue(['admin:keys']);
    const inTime = await begin(holder.key, '/v1/keys', { name: 'in time' });
    inTime.finish();
    expect(await inTime.reply).toEqual([200, undefined]);
  });

  test('a body that is not whole within the time for it is refused, so that a call cannot begin later than that', async () => {
    const file = join(gateway.dir, 'envoy.json');
    const config = readFileSync(file, 'utf8');
    // The bound that docs/keys.md states; here a shorter one, so that the test need not wait for it.
    expect(config).toContain('"request_timeout":"60s"');
    await gateway.stack.part('envoy').stop();
    writeFileSync(file, config.replaceAll('"request_timeout":"60s"', '"request_timeout":"2s"'));
    await gateway.start('envoy');
    onTestFinished(async () => {
      await gateway.stack.part('envoy').stop();
      writeFileSync(file, config);
      await gateway.start('envoy');
    });
    const { key } = await issue(['inference:read', 'inference:write']);
    const body = { model: 'sim-small', messages: [{ role: 'user', content: 'hi' }] };
    const inTime = await begin(key, '/v1/chat/completions', body);
    inTime.finish();
    expect(await inTime.reply).toEqual([200, undefined]);
    const asked = async () =>
      z.object({ count: z.number() }).parse(await (await fetch(`${gateway.stack.simulatorUrl}/sim/count`)).json());
    const before = await asked();
    const late = await begin(key, '/v1/chat/completions', body);
    expect(await late.reply).toEqual([408, 'request_timeout']);
    expect(await asked()).toEqual(before);
  });
});
