/** How many bytes an account may send, through the whole gateway. */
import { expect, test } from 'vitest';
import { call, chatBody, expectRefusal, invalid, quick, send } from '../input/ask.ts';
import { eventually } from '../sdk/gateway.ts';
import { accountsForFile } from '../sdk/test-account.ts';
import { announceBodies } from './announced-body.ts';
import { accountOf } from './limited-call.ts';

const mib = 1024 * 1024;
const accounts = accountsForFile();
const { redis } = accounts;

/** How much a limit has counted: calls, or the KiB of bodies. */
const counted = async (key: string, limit: 'calls' | 'calls:bytes') =>
  Number(await redis.hget(`gw:limit:{${accountOf(key)}}:${limit}`, 'n'));

test('30 bodies of 1 MiB and 8 of 10 MiB are let in at once; more than the burst are not, and tiny calls go on', async () => {
  const key = await accounts.create();
  const opened = [announceBodies(key, 30, mib), announceBodies(key, 8, 10 * mib)];
  try {
    const first = (30 + 8 * 10) * 1024;
    await eventually('38 bodies to be counted', async () =>
      (await counted(key, 'calls:bytes')) === first ? true : null,
    );
    const more = announceBodies(key, 40, 10 * mib);
    opened.push(more);
    const refused = await more.firstReply;
    expectRefusal(refused, { status: 429, type: 'rate_limit_error', code: 'bytes_per_second_exceeded', param: null });
    expect(Number(refused.headers['retry-after'])).toBeGreaterThanOrEqual(1);
    expect((await call({}, {}, { key })).status).toBe(200);
    // Each call that was let in counts once, and one that was refused for its bytes takes no call.
    await eventually('all to be decided', async () => {
      const before = await counted(key, 'calls:bytes');
      const last = await call({}, {}, { key });
      const [bytes, calls] = [await counted(key, 'calls:bytes'), await counted(key, 'calls')];
      return last.status === 200 &&
        before === bytes &&
        Number(last.headers['x-ratelimit-remaining-day']) === 100_000 - calls
        ? true
        : null;
    });
    expect(await counted(key, 'calls:bytes')).toBeLessThan(first + 40 * 10 * 1024);
    expect(await counted(key, 'calls:bytes')).toBeGreaterThanOrEqual(first + 14 * 10 * 1024);
  } finally {
    for (const each of opened) each.close();
  }
});

test('small bodies cost bytes together, one without a length costs what it may have, and one too large to be read costs none', async () => {
  const key = await accounts.create();
  const say = async (content: string) =>
    expect((await call({ messages: [{ role: 'user', content }] }, {}, { key })).status).toBe(200);
  await say('hi');
  expect(await counted(key, 'calls:bytes')).toBe(0);
  for (let calls = 0; calls < 6; calls++) await say('x '.repeat(30_000));
  // ext-authz and the sidecar, for leased calls, have a sum each; two of these are more than 64 KiB.
  const together = await counted(key, 'calls:bytes');
  expect([2, 3]).toContain(Math.floor(together / (2 * 59)));
  expect((await send({ key, body: chatBody(), headers: quick, chunked: true })).status).toBe(200);
  expect(await counted(key, 'calls:bytes')).toBe(together + 10 * 1024);
  const bucket = () => redis.hget(`gw:limit:{${accountOf(key)}}:calls:bytes`, 'b').then(Number);
  expect(await bucket()).toBe((256 - 10) * 1024 * 1000);
  const tooLarge = announceBodies(key, 1, 17 * mib);
  expectRefusal(await tooLarge.firstReply, invalid('request_too_large'));
  tooLarge.close();
  expect(await counted(key, 'calls:bytes')).toBe(together + 10 * 1024);
  expect(await counted(key, 'calls')).toBe(9);
});
