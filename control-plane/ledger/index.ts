/** The ledger: receipts in all their versions, what they are made of, and whether they are what was stored. */

import type { PackKey } from '@gw/evidence/seal';
import { createFaultLog, type FaultLog } from '@gw/service/fault-log';
import type { FastifyInstance } from 'fastify';
import type { Registry } from 'prom-client';
import type { CatalogueView } from '../catalogue/snapshot/keeper.ts';
import type { Keys } from '../people/keys/keys.ts';
import { type Context, inRole } from '../shared/context.ts';
import type { Vault } from '../shared/vault.ts';
import { archiveRoutes } from './archive/routes.ts';
import { budgetRoutes } from './budgets/routes.ts';
import { createDeliveryMetrics, type DeliveryMetrics } from './budgets/webhooks/delivery-metrics.ts';
import { webhookRoutes } from './budgets/webhooks/routes.ts';
import type { PackSettings } from './evidence/config.ts';
import { registerPacks } from './evidence/gauges.ts';
import { keySetRoute, packListRoute } from './evidence/list-packs.ts';
import { openPackPlaces, type PackPlaces } from './evidence/pack-places.ts';
import { evidenceRoutes } from './evidence/routes.ts';
import { openTimestamps, type Timestamps } from './evidence/timestamps.ts';
import type { GridSettings } from './grid/config.ts';
import { gridOperatorRoutes } from './grid/operator-routes.ts';
import { registerGround } from './ground/gauge.ts';
import { groundRoutes } from './ground/routes.ts';
import type { IntegritySettings } from './integrity/config.ts';
import { faultRoutes } from './integrity/fault-routes.ts';
import { registerIntegrity } from './integrity/gauges.ts';
import { type LedgerSealsOptions, openLedgerSeals } from './integrity/open-seals.ts';
import { integrityOperatorRoutes } from './integrity/operator-routes.ts';
import type { Periods } from './integrity/progress.ts';
import { registerCosigning } from './log/cosign.ts';
import { proofRoutes } from './log/routes.ts';
import type { LogWitness } from './log/witnesses.ts';
import { type Entries, openEntries } from './receipts/entries.ts';
import { keyPlace, type LedgerPlace, personPlace } from './receipts/ledger-place.ts';
import { methodologyRoute } from './receipts/methodology-route.ts';
import { restoreRoutes } from './receipts/restore.ts';
import { receiptRoutes } from './receipts/routes.ts';
import { type Seals, withoutReport } from './receipts/sealed-rows.ts';
import { setAsideRoutes } from './receipts/set-aside.ts';
import { createVersionMetrics, type VersionMetrics } from './receipts/version-metrics.ts';
import { registerWaiting } from './receipts/waiting.ts';
import { restoreCheckRoutes } from './restore/check-routes.ts';
import { eraseRoutes } from './retention/erase-routes.ts';
import { holdRoutes } from './retention/hold-routes.ts';
import { policyRoutes } from './retention/policy-routes.ts';
import { usageOperatorRoutes, usageRoutes } from './usage/routes.ts';
import { registerWitness } from './witness/gauges.ts';
import { witnessRoutes } from './witness/routes.ts';

export { readAlarm } from './ground/ground.ts';
export { countFaults, isCheckOverdue } from './integrity/faults.ts';
export { startGroundLook, startJobs } from './jobs.ts';
export { countWaiting } from './receipts/waiting.ts';

/** Everything that the routes and jobs of this wing share; one per process. */
export interface LedgerServices {
  readonly seals: Seals;
  readonly entries: Entries;
  readonly versionMetrics: VersionMetrics;
  readonly deliveryMetrics: DeliveryMetrics;
  readonly faults: FaultLog;
  /** Signs evidence packs. */
  readonly evidenceKey: PackKey;
  readonly packs: PackSettings;
  /** Cosign the checkpoints of the logs of receipts. */
  readonly logWitnesses: readonly LogWitness[];
  /** Null: no service stamps packs. */
  readonly timestamps: Timestamps | null;
  /** Without the keys of the sources. */
  readonly grid: Pick<GridSettings, 'sources'>;
  /** Both listeners share them, since they bound the memory of the process. */
  readonly packPlaces: PackPlaces;
  /** The longest time from the end of a full check of the records to the begin of the next one, s. */
  readonly checkPeriodS: number;
  readonly checkPeriods: Periods;
  /** Encrypts the secrets of webhooks; null: none can be set. */
  readonly vault: Vault | null;
}

/** Makes the services of this wing. Nothing is read from the stores yet. */
export function openLedger(
  context: Context,
  { entryKeys, everyS, fullS, keys }: IntegritySettings,
  {
    evidenceKey,
    grid,
    logWitnesses,
    mayNoteFaults,
    packs,
    vault,
  }: Pick<LedgerServices, 'evidenceKey' | 'grid' | 'logWitnesses' | 'packs' | 'vault'> &
    Required<Pick<LedgerSealsOptions, 'mayNoteFaults'>>,
): LedgerServices {
  const { timestampUrl } = packs;
  const timestamps = timestampUrl === null ? null : openTimestamps({ url: timestampUrl, log: context.log });
  return {
    evidenceKey: timestamps === null ? evidenceKey : { ...evidenceKey, timestamp: timestamps.timestamp },
    timestamps,
    grid: { sources: grid.sources },
    logWitnesses,
    packs,
    packPlaces: openPackPlaces(),
    vault,
    // They note what they find.
    seals: openLedgerSeals({ ...inRole(context, 'ledger'), keys, mayNoteFaults }),
    entries: openEntries(entryKeys),
    versionMetrics: createVersionMetrics(context.db),
    deliveryMetrics: createDeliveryMetrics(),
    faults: createFaultLog(context.log, () => performance.now()),
    // It begins with the first round after its time.
    checkPeriodS: fullS + everyS,
    checkPeriods: { archive: fullS, batch: everyS, receipt: fullS },
  };
}

/** The services that the internal listener needs. */
export type PublicLedgerServices = Pick<LedgerServices, 'entries' | 'evidenceKey' | 'packPlaces' | 'packs' | 'seals'>;

/** Registers the reads of receipts, lineages, methodologies and usage, and evidence packs, on the internal listener. */
export function publicRoutes(app: FastifyInstance, context: Context, services: PublicLedgerServices): void {
  ownLedgerRoutes(app, context, services, keyPlace);
  proofRoutes(app, { ...context, ...services });
}

/** Registers what an account reads and orders of its own data. */
function ownLedgerRoutes(
  app: FastifyInstance,
  context: Context,
  { entries, evidenceKey, packPlaces, packs, seals }: PublicLedgerServices,
  place: LedgerPlace,
): void {
  receiptRoutes(app, { ...context, entries, seals }, place);
  evidenceRoutes(app, context, { seals, key: evidenceKey, limits: packs, places: packPlaces }, place);
  methodologyRoute(app, context, place);
  usageRoutes(app, context, place);
}

export function operatorRoutes(
  app: FastifyInstance,
  context: Context,
  services: LedgerServices,
  { catalogue, keys }: { readonly catalogue: CatalogueView; readonly keys: Keys },
): void {
  const { evidenceKey, grid, seals, vault } = services;
  const place = personPlace(context);
  ownLedgerRoutes(app, context, services, place);
  packListRoute(app, context, place);
  keySetRoute(app, evidenceKey, place);
  const writing = inRole(context, 'ledger');
  integrityOperatorRoutes(app, writing, { seals, periods: services.checkPeriods });
  faultRoutes(app, writing, seals);
  restoreRoutes(app, writing, seals);
  groundRoutes(app, context, { keys, seals });
  restoreCheckRoutes(app, { ...context, seals: withoutReport(seals) });
  setAsideRoutes(app, writing);
  holdRoutes(app, writing);
  policyRoutes(app, writing);
  eraseRoutes(app, context);
  archiveRoutes(app, writing, seals);
  witnessRoutes(app, context);
  usageOperatorRoutes(app, context);
  gridOperatorRoutes(app, context, grid.sources, catalogue);
  budgetRoutes(app, context);
  webhookRoutes(app, inRole(context, 'customers'), vault);
}

export function registerMetrics(
  registry: Registry,
  { db, now, redis }: Context,
  { checkPeriods, deliveryMetrics, entries, faults, logWitnesses, seals, timestamps, versionMetrics }: LedgerServices,
): void {
  entries.register(registry);
  versionMetrics.register(registry);
  deliveryMetrics.register(registry);
  timestamps?.register(registry);
  faults.register(registry);
  registerIntegrity(registry, { db, seals }, checkPeriods);
  registerWitness(registry, db);
  registerWaiting(registry, redis);
  registerGround(registry, redis);
  registerPacks(registry, db);
  registerCosigning(registry, { db, now, witnesses: logWitnesses });
}
