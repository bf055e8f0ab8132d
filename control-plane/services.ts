/** What the routes and jobs share beside the stores; one of each per process. */
import { randomBytes } from 'node:crypto';
import { annualReading } from '@gw/methodology/grid-annual';
import { type CatalogueKeeper, createCatalogueKeeper } from './catalogue/keeper.ts';
import { type Surroundings, surroundingsOf } from './catalogue/surroundings.ts';
import type { Config } from './config.ts';
import { type OnboardingServices, openOnboarding } from './customers/onboarding/services.ts';
import { openLedgerSeals } from './ledger/integrity/open-seals.ts';
import type { Seals } from './ledger/receipts/sealed-rows.ts';
import { createVersionCounts, type VersionCounts } from './ledger/receipts/version-counts.ts';
import { type AccessServices, openAccess } from './people/access/services.ts';
import { createKeys, type Keys } from './people/keys/keys.ts';
import type { Context } from './shared/context.ts';

export interface Services {
  readonly access: AccessServices;
  readonly keys: Keys;
  readonly onboarding: OnboardingServices;
  readonly catalogue: CatalogueKeeper;
  readonly surroundings: Surroundings;
  readonly seals: Seals;
  readonly versionCounts: VersionCounts;
  /** How long after a full check of the records the next one begins. */
  readonly fullCheckS: number;
}

export type ServiceSettings = Pick<
  Config,
  'access' | 'credentials' | 'gpu' | 'grid' | 'integrity' | 'peppers' | 'screening'
>;

/** Throws if a file of the settings is not there or not as it should be. */
export function openServices(context: Context, settings: ServiceSettings): Services {
  const { current: pepper, other: otherPepper } = settings.peppers;
  const { keys: ledgerKeys, sealedSince, fullS: fullCheckS } = settings.integrity;
  const keys = createKeys({ ...context, pepper, otherPepper, random: randomBytes });
  return {
    access: openAccess(context, settings.access),
    keys,
    onboarding: openOnboarding(context, keys, settings.screening),
    catalogue: createCatalogueKeeper({ ...context, annualReading }),
    surroundings: surroundingsOf(settings),
    seals: openLedgerSeals({ ...context, keys: ledgerKeys, sealedSince }),
    versionCounts: createVersionCounts(context.db),
    fullCheckS,
  };
}
