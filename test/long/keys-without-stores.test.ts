/** Keys while neither Postgres nor Redis can say whether they still hold: for a minute, to the second, and then not. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { forFile } from '@gw/testing/for-file';
import { expect, test } from 'vitest';
import { eventually, startOwnGateway } from '../outage/own-gateway.ts';

const graceMs = 60_000;
const gateway = forFile(startOwnGateway);

const confirmed = async (): Promise<string | undefined> => {
  const text = await (await fetch(`${gateway.stack.healthUrls['ext-authz']}/metrics`)).text();
  return /^gw_up\{dependency="keys_confirmed"[^}]*\} (\d)$/m.exec(text)?.[1];
};
const log = () => readFileSync(join(gateway.stack.logs, 'ext-authz.log'), 'utf8');

test('without both stores known keys are honoured for 60 s and then refused; metrics, health and log say so', async () => {
  await gateway.whole();
  expect(await confirmed()).toBe('1');
  expect(log()).not.toContain('keys cannot be confirmed');
  const killing = performance.now();
  await Promise.all([gateway.killForGood('valkey'), gateway.killForGood('postgres')]);
  const killed = performance.now();
  await eventually('the metrics to say so', async () => (await confirmed()) === '0', 3000);
  expect((await fetch(`${gateway.stack.healthUrls['ext-authz']}/healthz`)).status).toBe(503);
  expect(log().split('keys cannot be confirmed')).toHaveLength(2);

  let lastPassed = killed;
  let refused: string | null = null;
  while (refused === null && performance.now() < killed + graceMs + 5000) {
    const sent = performance.now();
    const { status, text } = await gateway.client.chat();
    if (status === 200) lastPassed = sent;
    else refused = `${status} ${JSON.parse(text).error.code}`;
    await delay(100);
  }
  expect(refused).toBe('503 overloaded');
  // The last confirmation was some time before the end of the stores: a poll takes at most 0.6 s.
  expect(lastPassed - killing).toBeGreaterThan(graceMs - 1000);
  expect(lastPassed - killed).toBeLessThan(graceMs + 1000);

  await gateway.start('postgres');
  await gateway.start('valkey');
  await eventually('the metrics to say so', async () => (await confirmed()) === '1');
  expect(log()).toContain('keys are confirmed again');
}, 180_000);
