/** Tells people of providers that cannot be asked, since nobody has given the credential that they name. */
import type { Logger } from '@gw/service/log';
import { gauge } from '@gw/service/metric';
import type { Registry } from 'prom-client';
import type { CatalogueView } from '../snapshot/keeper.ts';
import type { Catalogue } from '../snapshot/read.ts';
import type { CredentialView } from './credentials.ts';

/** Returns the names of the credentials that the catalogue needs and nobody has given. */
export function missingCredentials({ providers }: Catalogue, credentials: CredentialView): string[] {
  const missing = providers.flatMap(({ baseUrl, credentialRef }) =>
    credentialRef !== null && credentials.find(credentialRef, baseUrl) === null ? credentialRef : [],
  );
  return [...new Set(missing)].sort();
}

/** Returns what logs the missing ones, once for each set of them. */
export function openMissingWatch(catalogue: CatalogueView, credentials: CredentialView, log: Logger): () => void {
  let told = '';
  return () => {
    const held = catalogue.current();
    // Before the first reading nothing is known to be missing.
    if (held === null || !credentials.isRead()) return;
    const missing = missingCredentials(held.catalogue, credentials).join(', ');
    if (missing !== told && missing !== '')
      log.error(
        { missing },
        'providers lack their credential: ./gw admin credentials set <name> takes it on standard input',
      );
    if (missing === '' && told !== '') log.info('every provider has its credential');
    told = missing;
  };
}

export function registerMissing(registry: Registry, catalogue: CatalogueView, credentials: CredentialView): void {
  const help = 'Credentials that providers of the catalogue name and nobody has given';
  const missing = () => {
    const held = catalogue.current();
    return held === null || !credentials.isRead() ? 0 : missingCredentials(held.catalogue, credentials).length;
  };
  registry.registerMetric(gauge('gw_provider_credentials_missing', help, missing));
}
