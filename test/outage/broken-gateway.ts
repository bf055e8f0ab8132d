/** The gateway that the suites of a file break one after the other; each leaves it whole, and waits for that. */
import { afterAll, afterEach, beforeAll } from 'vitest';
import { type OwnGateway, startOwnGateway } from './own-gateway.ts';

export let gateway: OwnGateway;

/** To be called by each file that runs such suites: files share their modules, but have a gateway each. */
export function startGatewayToBreak(): void {
  beforeAll(async () => {
    gateway = await startOwnGateway();
  });
  afterEach(() => gateway.mend());
  afterAll(() => gateway?.stop());
}
