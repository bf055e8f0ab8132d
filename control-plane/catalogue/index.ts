/** The catalogue: what can be asked for, where it runs, and the rules for asking; Envoy is configured from it. */
import { hourMs } from '@gw/contract/internal/durations';
import type { KeyRing } from '@gw/contract/internal/key-ring';
import { annualReading } from '@gw/methodology/grid-annual';
import type { FastifyInstance } from 'fastify';
import type { Registry } from 'prom-client';
import type { Context } from '../shared/context.ts';
import { allJobs, type RepeatedJob, repeat } from '../shared/repeat.ts';
import type { CredentialSettings } from './credentials/config.ts';
import { type Credentials, openCredentials } from './credentials/credentials.ts';
import { openMissingWatch, registerMissing } from './credentials/missing.ts';
import { credentialRoutes } from './credentials/routes.ts';
import { deploymentHealthRoute } from './deployment-health.ts';
import { type SurroundingNames, type Surroundings, surroundingsOf } from './entries/surroundings.ts';
import { catalogueOperatorRoutes } from './operator-routes.ts';
import { organisationRoutes } from './organisation-routes.ts';
import { forgetFindings, openFindingsJob } from './policy/findings-job.ts';
import { openFirstVersion } from './policy/first-version.ts';
import { policyOperatorRoutes } from './policy/operator-routes.ts';
import { openProviderCalls, type ProbeSettings, type ProviderCalls } from './provider-calls.ts';
import { providerRoutes } from './provider-routes.ts';
import { catalogueRoutes } from './routes.ts';
import { type CatalogueKeeper, type CatalogueView, createCatalogueKeeper } from './snapshot/keeper.ts';
import { xdsRoutes } from './xds/routes.ts';

export type { CredentialView } from './credentials/credentials.ts';
export { deploymentsNeedingOperator } from './deployment-health.ts';
export type { CatalogueView } from './snapshot/keeper.ts';

export const refreshEveryMs = 1000;

export interface CatalogueServices {
  readonly keeper: CatalogueKeeper;
  readonly credentials: Credentials;
  readonly credentialSettings: CredentialSettings;
  readonly surroundings: Surroundings;
  readonly providerCalls: ProviderCalls;
}

export function openCatalogue(
  context: Context,
  names: SurroundingNames,
  settings: { readonly credentials: CredentialSettings; readonly entryKeys: KeyRing } & ProbeSettings,
): CatalogueServices {
  const { credentials: credentialSettings, entryKeys: keys } = settings;
  const credentials = openCredentials({ ...context, settings: credentialSettings });
  return {
    keeper: createCatalogueKeeper({ ...context, annualReading, keys, readBeside: () => credentials.refresh() }),
    credentials,
    credentialSettings,
    surroundings: surroundingsOf(names, credentials),
    providerCalls: openProviderCalls(context.providerGuard, settings),
  };
}

export function publicRoutes(app: FastifyInstance, context: Context, catalogue: CatalogueView): void {
  catalogueRoutes(app, context, catalogue);
}

/** Registers the routes from which Envoy fetches its own configuration. */
export const envoyRoutes = xdsRoutes;

export function operatorRoutes(app: FastifyInstance, context: Context, services: CatalogueServices): void {
  const { credentialSettings, credentials, keeper, providerCalls: calls, surroundings } = services;
  let publishing: Promise<void> = Promise.resolve();
  catalogueOperatorRoutes(app, context, surroundings, () => {
    // At once; what fails here is done by the job a second later.
    publishing = keeper.refresh().catch(() => undefined);
  });
  // The stores are closed behind it.
  app.addHook('onClose', () => publishing);
  providerRoutes(app, context, { calls, credentials });
  deploymentHealthRoute(app, context);
  credentialRoutes(app, context, { credentials, settings: credentialSettings });
  policyOperatorRoutes(app, context);
  organisationRoutes(app, context, keeper);
}

export const registerMetrics = (registry: Registry, { credentials, keeper }: CatalogueServices): void =>
  registerMissing(registry, keeper, credentials);

/** Starts the jobs. `consumer` names this instance in the stream of findings; it has to be unique. */
export function startJobs(context: Context, { credentials, keeper }: CatalogueServices, consumer: string): RepeatedJob {
  const { log } = context;
  const watchMissing = openMissingWatch(keeper, credentials, log);
  const refreshCredentials = () => credentials.refresh().finally(watchMissing);
  return allJobs([
    repeat({ name: 'catalogue', everyMs: refreshEveryMs, log, run: () => keeper.refresh() }),
    repeat({ name: 'credentials of providers', everyMs: 1000, log, run: refreshCredentials }),
    repeat({ name: 'first rules of screening', everyMs: 1000, log, run: openFirstVersion(context) }),
    repeat({ name: 'findings of screening', everyMs: 500, log, run: openFindingsJob({ ...context, consumer }) }),
    repeat({ name: 'noted findings', everyMs: hourMs, log, run: () => forgetFindings(context) }),
  ]);
}
