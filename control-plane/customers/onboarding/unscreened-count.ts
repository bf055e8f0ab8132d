/** What the monitoring system reads of screenings that are still to be done. */
import type { Database } from '@gw/prisma/client';
import { Gauge } from 'prom-client';
import { countUnscreened } from './application.ts';

export const unscreenedCount = (db: Database): Gauge =>
  new Gauge({
    name: 'gw_unscreened',
    help: 'Applications that wait for the gateway to screen them, and accounts that work under a name that was not screened yet',
    labelNames: ['what'],
    registers: [],
    async collect() {
      // Without Postgres there is no number: an old one would look like a current one.
      this.reset();
      const counted = await countUnscreened(db).catch(() => null);
      if (counted === null) return;
      this.set({ what: 'applications' }, counted.applications);
      this.set({ what: 'accounts' }, counted.accounts);
    },
  });
