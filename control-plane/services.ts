/** The services that the routes and jobs share beside the stores; one of each per process. */
import type { Certificates } from '@gw/service/certificates';
import { Idempotency, redisClaims } from '@gw/service/idempotency';
import type { RedisWriter } from '@gw/service/redis-writer';
import { type CatalogueServices, openCatalogue } from './catalogue/index.ts';
import type { Config } from './config.ts';
import { type CustomerServices, openCustomers } from './customers/index.ts';
import { type LedgerServices, openLedger } from './ledger/index.ts';
import { openPeople, type PeopleServices } from './people/index.ts';
import { openSecretWatch, type SecretWatch } from './secrets/watch.ts';
import { type Context, inRole } from './shared/context.ts';

export interface Services {
  readonly people: PeopleServices;
  readonly customers: CustomerServices;
  readonly catalogue: CatalogueServices;
  readonly ledger: LedgerServices;
  readonly idempotency: Idempotency;
  readonly certificates: Certificates;
  readonly secrets: SecretWatch;
}

interface ServiceParts {
  /** The connection for claims of idempotency keys. */
  readonly claims: Pick<RedisWriter, 'send'>;
  readonly certificates: Certificates;
}

/** Throws if a file that the settings name is missing or malformed. */
export function openServices(context: Context, config: Config, { certificates, claims }: ServiceParts): Services {
  const secrets = openSecretWatch(context, config);
  const people = openPeople(context, { ...config, mayWriteAudit: secrets.mayWriteAudit });
  const names = {
    gpuDeployments: config.gpu.deployments.keys(),
    liveZones: config.grid.sources.map(({ zone }) => zone),
  };
  return {
    secrets,
    people,
    customers: openCustomers(inRole(context, 'customers'), people.keys, config.screening),
    catalogue: openCatalogue(inRole(context, 'catalogue'), names, {
      ...config,
      entryKeys: config.integrity.entryKeys,
      certificates: certificates.internal,
    }),
    ledger: openLedger(context, config.integrity, {
      ...config,
      vault: config.credentials.vault,
      mayNoteFaults: secrets.mayWriteLedger,
    }),
    idempotency: new Idempotency({
      claims: redisClaims(claims, config.replyRoom),
      cipher: config.replyCipher,
      now: () => performance.now(),
    }),
    certificates,
  };
}
