/** The gateway with two ext-authz and two sidecars that the suites of `pairs.test.ts` break one after the other. */
import { afterAll, afterEach, beforeAll } from 'vitest';
import { type OwnGateway, startOwnGateway } from './own-gateway.ts';

export let gateway: OwnGateway;

beforeAll(async () => {
  gateway = await startOwnGateway({ instances: 2 });
});
afterEach(() => gateway.mend());
afterAll(() => gateway?.stop());
