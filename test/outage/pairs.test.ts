/** Suites that need two of each service. They share one gateway, since to start it takes longer than most tests. */

import { describe } from 'vitest';
import { changesHold } from '../access/changes-hold.ts';
import { gateway } from './paired-gateway.ts';
// First, since it counts the budget of an account from its beginning.
import '../limits/two-instances-suite.ts';
import '../budgets/two-instances-suite.ts';
import './two-of-each-suite.ts';
import './keys-at-two-suite.ts';
import '../catalogue/full-everywhere-suite.ts';

// At a load that leaves other tests their time; `test/long/changes-under-load.test.ts` has the same at full load.
describe('changes hold', () => changesHold(() => gateway, { isShort: true, pauseMs: 400 }));
