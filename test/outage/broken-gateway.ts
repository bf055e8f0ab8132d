/** The gateway that the suites of `broken.test.ts` break one after the other; each leaves it whole, and waits for that. */
import { afterAll, afterEach, beforeAll } from 'vitest';
import { type OwnGateway, startOwnGateway } from './own-gateway.ts';

export let gateway: OwnGateway;

beforeAll(async () => {
  gateway = await startOwnGateway();
});
afterEach(() => gateway.mend());
afterAll(() => gateway?.stop());
