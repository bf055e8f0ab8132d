/** A time-stamp service that fails, in whatever way, costs a pack its time-stamp and nothing else. */
import { signingKeyOf } from '@gw/contract/internal/evidence-keys';
import { checkSeal, sealed } from '@gw/evidence/seal';
import { Authority, derOf, hasOpenssl, openssl, stampExtensions, stampServer } from '@gw/testing/evidence/authority';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { openTimestamps } from './timestamps.ts';

const key = signingKeyOf('01'.repeat(32));
const value = { text: 'a manifest' };

describe.skipIf(!hasOpenssl)(`time-stamps${openssl}`, () => {
  let authority: Authority;
  beforeAll(() => {
    authority = new Authority();
    authority.issue('tsa', '/O=Example Time/CN=Stamps', { isRsa: true, extensions: stampExtensions });
    authority.issue('client', '/CN=Client');
  });
  afterAll(() => authority.remove());

  /** The fault that is logged, the seal that is made all the same, and the counts. */
  async function stamped(answer: Parameters<typeof stampServer>[0], timeoutMs?: number) {
    const server = await stampServer(answer);
    onTestFinished(server.stop);
    const error = vi.fn();
    const log = { error } as unknown as Parameters<typeof openTimestamps>[0]['log'];
    const timestamps = openTimestamps({
      url: `${server.url}?customer=7`,
      log,
      ...(timeoutMs !== undefined && { timeoutMs }),
    });
    const registry = new Registry();
    timestamps.register(registry);
    const seal = await sealed(value, { ...key, timestamp: timestamps.timestamp });
    const trust = { keys: [key.publicJwk], timestampAuthorities: [derOf(authority.pem('root'))] };
    const issued = '2026-11-30T10:00:00.000Z';
    const { mismatches, signature, timestamp } = await checkSeal(value, seal, { issued, trust });
    const metrics = await registry.metrics();
    const countOf = (outcome: string) => Number(new RegExp(`{outcome="${outcome}"} (\\d)`).exec(metrics)?.[1]);
    for (const [told] of error.mock.calls) expect(told.origin).toBe(new URL(server.url).origin);
    expect(JSON.stringify(error.mock.calls)).not.toContain('customer');
    return {
      fault: error.mock.calls.map(([told]) => told.fault).join(),
      isStamped: 'timestamp' in seal,
      signature,
      name: timestamp?.name,
      found: mismatches.map((each) => each.found).join(),
      counts: { stamped: countOf('stamped'), failed: countOf('failed') },
    };
  }
  const without = (fault: unknown) => ({
    fault,
    isStamped: false,
    signature: 'trusted',
    counts: { stamped: 0, failed: 1 },
  });

  test('a pack is stamped by OpenSSL', async () => {
    expect(await stamped((request) => authority.stamp(request, 'tsa'))).toEqual({
      fault: '',
      isStamped: true,
      signature: 'trusted',
      name: 'O=Example Time, CN=Stamps',
      found: '',
      counts: { stamped: 1, failed: 0 },
    });
  });

  test('the reply to an earlier request is not put beside a signature', async () => {
    let first: Buffer | undefined;
    const again = (request: Buffer) => {
      first ??= authority.stamp(request, 'tsa');
      return first;
    };
    expect(await stamped(again)).toMatchObject({ isStamped: true });
    // The signature is the same, so only the nonce tells.
    expect(await stamped(again)).toMatchObject(without(expect.stringContaining('nonce')));
  });

  test('a time-stamp over something else is not put beside a signature', async () => {
    const other = (request: Buffer) => {
      const changed = Buffer.from(request);
      // The digest stands behind its tag and length.
      const at = changed.indexOf(Buffer.from([0x04, 0x20]));
      changed[at + 2] = Number(changed[at + 2]) ^ 1;
      return authority.stamp(changed, 'tsa');
    };
    expect(await stamped(other)).toMatchObject(without('a time-stamp over something else'));
  });

  test('an altered time-stamp is not put beside a signature', async () => {
    const altered = (request: Buffer) => {
      const reply = authority.stamp(request, 'tsa');
      reply[reply.length - 1] = Number(reply.at(-1)) ^ 1;
      return reply;
    };
    expect(await stamped(altered)).toMatchObject(without('a time-stamp whose own signature does not fit'));
  });

  test('a refusal, an error, rubbish, too much and silence each cost the time-stamp alone', async () => {
    expect(await stamped(() => Uint8Array.from([0x30, 0x05, 0x30, 0x03, 0x02, 0x01, 0x02]))).toMatchObject(
      without('a refusal, with status 2'),
    );
    expect(await stamped(() => 503)).toMatchObject(without('status 503'));
    expect(await stamped(() => Buffer.from('<html>'))).toMatchObject(
      without('what is no reply of a time-stamp service'),
    );
    expect(await stamped(() => Buffer.alloc(100_000))).toMatchObject(without('more than 65536 bytes'));
    expect(await stamped(() => null, 200)).toMatchObject(without(expect.stringContaining('timeout')));
  });
});
