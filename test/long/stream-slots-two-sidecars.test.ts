/** Two sidecars share the streams of an account: exactly, while Valkey is away for their shares, and exactly again. */
import { forFile } from '@gw/testing/for-file';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { instancesOf } from '../outage/instances.ts';
import { eventually, startOwnGateway } from '../outage/own-gateway.ts';
import { openStreamAccount, type StreamAccount, watchProvider } from '../slots/many-streams.ts';

const limit = 40;

const gateway = forFile(() => startOwnGateway({ instances: 2 }));
let account: StreamAccount;

beforeAll(async () => {
  account = await openStreamAccount(gateway, limit);
});
afterAll(async () => {
  account?.close();
});

const answered = async () => (await instancesOf(gateway.stack, 'receipt-sidecar')).map(({ calls }) => calls);
const letIn = (statuses: readonly number[]): number => statuses.filter((status) => status === 200).length;
const allFree = () => eventually('all slots to be free', async () => (await account.held()) === 0, 31_000);

test('of four times as many that ask at once exactly as many streams open as were agreed, on both', async () => {
  const before = await answered();
  const { statuses, leave } = await account.open(4 * limit, 'at-once');
  expect(letIn(statuses)).toBe(limit);
  expect(statuses.filter((status) => status === 429)).toHaveLength(3 * limit);
  expect(await account.held()).toBe(limit);
  const after = await answered();
  expect(after).toHaveLength(2);
  for (const [at, count] of after.entries()) expect(count - (before[at] ?? 0)).toBeGreaterThan(limit);
  leave();
  await allFree();
});

test('the streams of one that is killed count until their leases end, and then all slots are given again', async () => {
  const streams = await account.open(limit, 'killed');
  expect(letIn(streams.statuses)).toBe(limit);
  const watching = watchProvider(gateway.stack, 'killed');
  await gateway.killForGood('receipt-sidecar-2');
  await gateway.start('receipt-sidecar-2');
  const more = await account.open(limit, 'killed');
  expect(letIn(more.statuses)).toBe(0);
  for (const each of [streams, more]) each.leave();
  await allFree();
  await watching.stop();
  expect(watching.mostFor(500)).toBeLessThanOrEqual(limit);
  const again = await account.open(limit, 'killed');
  expect(letIn(again.statuses)).toBe(limit);
  again.leave();
  await allFree();
});

test('without Valkey each allows its share, and both count again what they let in when it is back', async () => {
  const before = await account.open(limit / 4, 'away');
  await gateway.killForGood('valkey');
  const meanwhile = await account.open(2 * limit, 'away');
  expect(letIn([...before.statuses, ...meanwhile.statuses])).toBe(limit);
  await gateway.start('valkey');
  await eventually('all that runs to be counted', async () => (await account.held()) === limit);
  const more = await account.open(limit, 'away');
  expect(letIn(more.statuses)).toBe(0);
  for (const each of [before, meanwhile]) each.leave();
  await allFree();
});
