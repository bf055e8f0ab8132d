/** The worst bodies and the largest reply, one after the other and all at once: no service holds its event loop for over 25 ms. */
import { forFile } from '@gw/testing/for-file';
import { expect, test } from 'vitest';
import { quick, send } from '../input/ask.ts';
import { besideTinyCalls, turnsOver } from '../input/long-turns.ts';
import { document, manyNumbers, worstBodies } from '../input/worst-bodies.ts';
import { startOwnGateway } from '../outage/own-gateway.ts';

const gateway = forFile(startOwnGateway);

const ask = (body: string, path?: string) => {
  const { publicUrl: url, keys } = gateway.stack;
  return send({ url, key: keys.enterprise, headers: quick, body, ...(path && { path }) });
};

test('no turn is long, whatever is read', async () => {
  // The first call has compiled its code.
  for (let call = 0; call < 20; call += 1) expect((await ask(document(10))).status).toBe(200);
  expect((await ask(manyNumbers, '/v1/embeddings')).status).toBe(200);
  const before = await turnsOver('0.025', gateway.stack);
  const { publicUrl: url, keys } = gateway.stack;
  const { statuses } = await besideTinyCalls({ url, key: keys.enterprise }, async () => {
    for (const { body, name, path } of worstBodies) {
      expect([200, 400, 503], name).toContain((await ask(body(), path)).status);
      expect(await turnsOver('0.025', gateway.stack), name).toEqual(before);
    }
    expect((await ask(manyNumbers, '/v1/embeddings')).status).toBe(200);
    expect(await turnsOver('0.025', gateway.stack), 'the largest reply').toEqual(before);
    await Promise.all(worstBodies.map(({ body, path }) => ask(body(), path)));
    expect(await turnsOver('0.025', gateway.stack), 'all at once').toEqual(before);
  });
  expect(statuses.filter((status) => status !== 200)).toEqual([]);
});
