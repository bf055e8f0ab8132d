/** One `Idempotency-Key` at two sidecars: Envoy sends each call to either of them. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { gateway } from './paired-gateway.ts';

test('200 calls at once with one Idempotency-Key ask the provider once, at two sidecars, and all get its bytes', async () => {
  const marker = randomUUID();
  for (const stream of [false, true]) {
    const sim = { 'idempotency-key': randomUUID(), 'x-sim-marker': marker, 'x-sim-delay-ms': '1000' };
    const replies = await Promise.all(Array.from({ length: 200 }, () => gateway.client.chat({ stream, sim })));
    expect(new Set(replies.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(replies[0]?.status).toBe(200);
    expect(replies.filter(({ headers }) => headers.get('idempotent-replayed') === 'true')).toHaveLength(199);
    expect(await gateway.client.reachedProvider(marker)).toBe(stream ? 2 : 1);
  }
});
