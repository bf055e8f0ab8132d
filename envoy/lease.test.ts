/** Which calls Envoy lets in by a lease, and when it asks for one. */
import { setTimeout as delay } from 'node:timers/promises';
import { leaseOf, leaseTimes, leasingEnvoy, newKey, withTimes } from '@gw/testing/envoy/leases';
import { describe, expect, it, vi } from 'vitest';

const envoy = leasingEnvoy();

describe('a lease', () => {
  it('lets as many calls in as it says, and the next one asks for another', async () => {
    envoy.lease = async () => leaseOf(3);
    const key = newKey();
    expect(await envoy.inTurn(8, key)).toEqual(['checked', ...Array(7).fill('leased')]);
    const question = `lease inference:write ${key}`;
    expect(envoy.asked).toEqual([`check ${key}`, question, question, question]);
  });

  it('is over after its time', async () => {
    envoy.lease = async () => leaseOf(1000);
    const key = newKey();
    expect(await envoy.inTurn(3, key)).toEqual(['checked', 'leased', 'leased']);
    await delay(leaseTimes.lifeMs);
    expect(await envoy.inTurn(2, key)).toEqual(['leased', 'leased']);
    expect(envoy.leasesAsked).toBe(2);
  });

  it('is one of its key alone', async () => {
    envoy.lease = async () => leaseOf(1000);
    const [key, other] = [newKey(), newKey()];
    await envoy.inTurn(2, key);
    envoy.asked = [];
    expect((await envoy.call(other)).caller).toBe('checked');
    expect((await envoy.call(`${key} `)).caller).toBe('leased');
    expect((await envoy.call(`${key}x`)).caller).toBe('checked');
    expect(envoy.asked).toEqual([`check ${other}`, `check ${key}x`]);
  });

  it('takes the key off the call, as the check does, and says that its limits are decided', async () => {
    envoy.lease = async () => leaseOf(1000);
    const key = newKey();
    await envoy.inTurn(2, key);
    const { caller, names = [] } = await envoy.call(key, { 'x-gw-account-id': 'other', 'x-gw-limits-decided': 'no' });
    expect(caller).toBe('leased');
    expect(names).not.toContain('authorization');
    expect(names).not.toContain('x-gw-account-id');
    expect(names.filter((name) => name === 'x-gw-limits-decided')).toHaveLength(1);
  });

  it('says what was left of the limits where the sidecar cannot, and no other call does', async () => {
    envoy.lease = async () => leaseOf(1000);
    const key = newKey();
    const fails = { 'x-sidecar-fails': '1' };
    expect(await envoy.call(key, fails)).toEqual({ status: 503, shown: [null, null] });
    expect(await envoy.call(key, fails)).toEqual({ status: 503, shown: ['7', '3'] });
    expect(envoy.asked).toHaveLength(2);
  });

  it('is asked for while there are calls of the last one left, which lets in who does not wait for it', async () => {
    envoy.lease = async () => leaseOf(6);
    const key = newKey();
    expect(await envoy.inTurn(3, key)).toEqual(['checked', 'leased', 'leased']);
    expect(envoy.leasesAsked).toBe(1);
    const grant = envoy.holdLease();
    const asking = envoy.call(key);
    await vi.waitUntil(() => envoy.leasesAsked === 2, { timeout: leaseTimes.lifeMs });
    expect(await envoy.inTurn(5, key)).toEqual([...Array(4).fill('leased'), 'checked']);
    grant(leaseOf(2));
    expect((await asking).caller).toBe('leased');
    envoy.lease = async () => null;
    expect(await envoy.inTurn(2, key)).toEqual(['leased', 'checked']);
    expect(envoy.leasesAsked).toBe(3);
  });

  it('is left to its end where the next one is not given, and none is asked for again in a while', async () => {
    envoy.lease = async () => leaseOf(3);
    const key = newKey();
    await envoy.inTurn(2, key);
    envoy.lease = async () => null;
    expect(await envoy.inTurn(4, key)).toEqual(['leased', 'leased', 'checked', 'checked']);
    expect(envoy.leasesAsked).toBe(2);
  });

  it('is over after its own time, whatever is left of it and of the one before', async () => {
    envoy.lease = async () => leaseOf(6);
    const key = newKey();
    expect(await envoy.inTurn(4, key)).toEqual(['checked', 'leased', 'leased', 'leased']);
    expect(envoy.leasesAsked).toBe(2);
    await delay(leaseTimes.lifeMs);
    envoy.lease = async () => null;
    expect(await envoy.inTurn(2, key)).toEqual(['checked', 'checked']);
    expect(envoy.leasesAsked).toBe(3);
  });

  it('is over when it comes after its time, which begins with the question', async () => {
    envoy.lease = () => delay(leaseTimes.lifeMs + 100).then(() => leaseOf(9));
    expect(await envoy.inTurn(2, newKey())).toEqual(['checked', 'checked']);
    const key = newKey();
    envoy.lease = async () => leaseOf(6);
    await envoy.inTurn(3, key);
    envoy.lease = () => delay(leaseTimes.lifeMs + 100).then(() => leaseOf(9));
    expect((await envoy.call(key)).caller).toBe('checked');
    expect(envoy.leasesAsked).toBe(3);
  });

  it('is none any more once the clock was set back, also for a call that asks for the next one meanwhile', async () => {
    const behind = "(handle:timestamp() - tonumber(handle:headers():get('x-behind') or '0'))";
    const other = await envoy.another({ ...withTimes(), 'handle:timestamp()': behind });
    await envoy.on(other, async () => {
      envoy.lease = async () => leaseOf(6);
      const key = newKey();
      expect(await envoy.inTurn(3, key)).toEqual(['checked', 'leased', 'leased']);
      const grant = envoy.holdLease();
      const asking = envoy.call(key);
      await vi.waitUntil(() => envoy.leasesAsked === 2, { timeout: leaseTimes.lifeMs });
      expect((await envoy.call(key, { 'x-behind': '60000' })).caller).toBe('checked');
      grant(leaseOf(6));
      expect((await asking).caller).toBe('checked');
    });
  });

  it('is not asked for before the last one is over, if that will have calls left then', async () => {
    envoy.lease = async () => leaseOf(9);
    const key = newKey();
    await envoy.inTurn(3, key);
    await delay(leaseTimes.lifeMs / 2);
    expect(await envoy.inTurn(3, key)).toEqual(Array(3).fill('leased'));
    expect(envoy.leasesAsked).toBe(1);
  });

  it('is not asked for by calls beside the one that asks', async () => {
    const grant = envoy.holdLease();
    const key = newKey();
    await envoy.call(key);
    const asking = envoy.call(key);
    await vi.waitUntil(() => envoy.asked.length === 2);
    expect(await envoy.inTurn(3, key)).toEqual(['checked', 'checked', 'checked']);
    grant(leaseOf(2));
    expect((await asking).caller).toBe('leased');
    expect(envoy.leasesAsked).toBe(1);
  });
});
