/** No test with a gateway, and no file of them, begins shortly before midnight UTC. */
import { awayFromMidnight } from '@gw/testing/one-day';
import { beforeEach } from 'vitest';

// Some files make their calls while they are loaded.
await awayFromMidnight();
beforeEach(awayFromMidnight, 120_000);
