/** At a load that leaves other tests their time; `test/long/changes-under-load.test.ts` has the same at full load. */
import { changesHold } from './changes-hold.ts';

changesHold({ pauseMs: 400 });
