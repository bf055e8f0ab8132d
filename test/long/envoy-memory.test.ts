/** Envoy returns the memory of a thousand streams: its allocator does so five minutes after the last peak. */
import { setTimeout as delay } from 'node:timers/promises';
import { forFile } from '@gw/testing/for-file';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { residentMb } from '../outage/memory.ts';
import { eventually, startOwnGateway } from '../outage/own-gateway.ts';
import { openStreamAccount, type StreamAccount } from '../slots/many-streams.ts';

const atOnce = 50;
const streams = 1000;

const gateway = forFile(startOwnGateway);
let account: StreamAccount;
beforeAll(async () => {
  account = await openStreamAccount(gateway, atOnce);
  const { accountId } = await gateway.db.apiKey.findUniqueOrThrow({
    where: { publicId: account.key.split('_')[1] ?? '' },
  });
  await gateway.db.account.update({ where: { id: accountId }, data: { limitStreams: streams } });
});
afterAll(async () => {
  account?.close();
});

test('after a thousand streams Envoy is within a fifth of what it was before them', async () => {
  const { pid } = gateway.stack.part('envoy');
  const megabytes = () => residentMb(pid ?? 0);
  const before = megabytes();
  const opened = [];
  while (opened.length < streams / atOnce) {
    const some = await account.open(atOnce, 'many');
    // The first of them may meet the limit from before.
    if (some.statuses.every((status) => status === 200)) opened.push(some);
    else some.leave();
    await delay(100);
  }
  expect(await account.held()).toBeGreaterThanOrEqual(streams);
  const most = megabytes();
  for (const { leave } of opened) leave();
  await eventually('the memory to be given back', async () => megabytes() <= 1.2 * before, 600_000);
  console.log(
    `${Math.round(before)} MB before, ${Math.round(most)} with the streams, ${Math.round(megabytes())} after`,
  );
  expect(most).toBeGreaterThan(1.2 * before);
}, 700_000);
