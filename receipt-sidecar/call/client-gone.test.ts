/** A call with a key whose client goes while it is being asked for. */
import { setTimeout as delay } from 'node:timers/promises';
import { callForTests, chatBody, contextForTests } from '@gw/testing/receipt-sidecar/call';
import { expect, test } from 'vitest';
import type { CallContext } from './call-context.ts';

const keyed = { 'idempotency-key': 'once' };
const reply = { status: 200, headers: {}, body: [Buffer.from('kept')] };

function asked(claim: CallContext['claims']['find']) {
  const call = callForTests(contextForTests({ claim }).context);
  call.ask(chatBody(), {}, keyed);
  return call;
}

test('who begins to wait for a call that is over already hears of it at once', async () => {
  const told: string[] = [];
  const call = asked(async ({ onGone }) => {
    await delay(20);
    onGone(() => told.push('gone'));
    return { outcome: 'replayed', reply };
  });
  call.close();
  await delay(40);
  expect([told, call.errors]).toEqual([['gone'], []]);
});

test('whoever let a replay go out hears when its call is over, and not before', async () => {
  const told: string[] = [];
  const call = asked(async ({ onGone }) => {
    onGone(() => told.push('over'));
    return { outcome: 'replayed', reply };
  });
  await delay(5);
  expect([call.answers.length, told]).toEqual([2, []]);
  call.close();
  expect(told).toEqual(['over']);
});
