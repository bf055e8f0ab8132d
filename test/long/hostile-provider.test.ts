/** 10,000 replies of a provider that means harm, half of them read by each official client. Takes several minutes. */
import { forFile } from '@gw/testing/for-file';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { addHostileProvider, expectHonest, seenByNode, seenByPython } from '../hostile/gateway.ts';
import { median, quarter, watchMemory } from '../outage/memory.ts';
import { startOwnGateway } from '../outage/own-gateway.ts';

const each = 5000;
/** In portions, so that no process of the test holds more than it has to. */
const portion = 500;

const own = forFile(startOwnGateway);
let hostile: Awaited<ReturnType<typeof addHostileProvider>>;
beforeAll(async () => {
  hostile = await addHostileProvider(own.stack);
});
afterAll(() => hostile?.close());

it('shows no receipt but ours, nothing impossible, ends no part and leaves memory flat', async () => {
  const { stack } = own;
  const before = stack.pids();
  const watched = ['envoy', 'receipt-sidecar'].map((name) => [name, Number(before[name])] as const);
  // Until then caches fill and code is compiled.
  await seenByNode(stack, 1_000_000, 1000);
  const memory = watchMemory(new Map(watched));
  let replies = 0;
  let receipts = 0;
  for (let from = 0; from < each; from += portion) {
    // Replies of its own for each: the same seed is the same reply.
    const seenByEach = [await seenByNode(stack, from, portion), await seenByPython(stack, each + from, portion)];
    for (const seen of seenByEach) {
      replies += seen.length;
      receipts += (await expectHonest(hostile.db, seen)).length;
    }
  }
  const samples = memory.stop();
  expect(replies).toBe(2 * each);
  expect(receipts).toBeGreaterThan(each / 2);
  expect(stack.pids()).toEqual(before);
  for (const [name, values] of samples) {
    const [early, late] = [median(quarter(values, 0)), median(quarter(values, 3))];
    console.log(`${name}: ${early.toFixed(0)} MB in the first quarter, ${late.toFixed(0)} MB in the last`);
    expect(late, name).toBeLessThan(early * 1.25 + 30);
  }
});
