/** What an orderly end leaves of idempotency keys. */
import { startTestApp } from '@gw/testing/control-plane/app';
import { startStores } from '@gw/testing/control-plane/fixtures';
import { expect, test } from 'vitest';

test('the key of a change that was still made is free, and the next one is told', async () => {
  const stores = await startStores();
  const [ending, another] = [
    await startTestApp(undefined, { ...stores, stop: async () => {} }),
    await startTestApp(undefined, stores),
  ];
  const change = { accountId: 'a', path: 'POST /v1/keys', key: 'once', body: 'sha' };
  expect(await ending.services.idempotency.claim(change, null)).toMatchObject({ is: 'claimed' });
  await ending.stop();
  const found = await another.services.idempotency.claim(change, null);
  expect(found).toMatchObject({ is: 'claimed', claim: { mayHaveRun: true } });
  await another.stop();
});
