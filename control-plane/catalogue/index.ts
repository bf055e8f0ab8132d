/** The catalogue: what can be asked for, where it runs, and the rules for asking; Envoy is configured from it. */
import { hourMs } from '@gw/contract/internal/durations';
import { annualReading } from '@gw/methodology/grid-annual';
import type { FastifyInstance } from 'fastify';
import type { Context } from '../shared/context.ts';
import { allJobs, type RepeatedJob, repeat } from '../shared/repeat.ts';
import { type CatalogueKeeper, type CatalogueView, createCatalogueKeeper } from './keeper.ts';
import { catalogueOperatorRoutes } from './operator-routes.ts';
import { forgetFindings, openFindingsJob } from './policy/findings-job.ts';
import { openFirstVersion } from './policy/first-version.ts';
import { policyOperatorRoutes } from './policy/operator-routes.ts';
import { catalogueRoutes } from './routes.ts';
import { type SurroundingNames, type Surroundings, surroundingsOf } from './surroundings.ts';
import { xdsRoutes } from './xds/routes.ts';

export type { CatalogueView } from './keeper.ts';

export interface CatalogueServices {
  readonly keeper: CatalogueKeeper;
  readonly surroundings: Surroundings;
}

export const openCatalogue = (context: Context, names: SurroundingNames): CatalogueServices => ({
  keeper: createCatalogueKeeper({ ...context, annualReading }),
  surroundings: surroundingsOf(names),
});

export function publicRoutes(app: FastifyInstance, context: Context, catalogue: CatalogueView): void {
  catalogueRoutes(app, context, catalogue);
}

/** Registers the routes from which Envoy fetches its own configuration. */
export const envoyRoutes = xdsRoutes;

export function operatorRoutes(app: FastifyInstance, context: Context, { surroundings }: CatalogueServices): void {
  catalogueOperatorRoutes(app, context, surroundings);
  policyOperatorRoutes(app, context);
}

/** Starts the jobs. `consumer` names this instance in the stream of findings; it has to be unique. */
export function startJobs(context: Context, { keeper }: CatalogueServices, consumer: string): RepeatedJob {
  const { log } = context;
  return allJobs([
    repeat({ name: 'catalogue', everyMs: 1000, log, run: () => keeper.refresh() }),
    repeat({ name: 'first rules of screening', everyMs: 1000, log, run: openFirstVersion(context) }),
    repeat({ name: 'findings of screening', everyMs: 500, log, run: openFindingsJob({ ...context, consumer }) }),
    repeat({ name: 'noted findings', everyMs: hourMs, log, run: () => forgetFindings(context) }),
  ]);
}
