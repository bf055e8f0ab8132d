/** Builds the HTTP application that only Envoy may reach. Listening is the server's business. */
import type { InternalTokens } from '@gw/contract/internal/environment';
import type { InternalCertificates } from '@gw/service/certificates';
import type { FastifyInstance } from 'fastify';
import type { CatalogueView, CredentialView } from './catalogue/index.ts';
import * as catalogue from './catalogue/index.ts';
import { shortHealthRoute } from './health.ts';
import type { PublicLedgerServices } from './ledger/index.ts';
import * as ledger from './ledger/index.ts';
import type { PeopleServices } from './people/index.ts';
import * as people from './people/index.ts';
import { bareApp } from './shared/bare-app.ts';
import { type Context, inRole } from './shared/context.ts';
import type { Idempotent } from './shared/idempotent-changes.ts';
import { demandToken } from './shared/identity.ts';
import { demandReplySchemas } from './shared/reply-schemas.ts';

export interface InternalServices {
  readonly people: Pick<PeopleServices, 'keys'>;
  readonly catalogue: { readonly keeper: CatalogueView; readonly credentials: CredentialView };
  readonly ledger: PublicLedgerServices;
  readonly idempotency: Idempotent;
}

export interface InternalOptions extends InternalTokens {
  /** With it both sides show a certificate; null means plain HTTP, or a Unix socket. */
  readonly tls?: InternalCertificates | null;
  /** False once it is about to end. */
  readonly stays?: () => boolean;
}

/** The application that only Envoy may reach: the reads of the public API, and Envoy's own configuration. */
export function buildInternalApp(
  context: Context,
  services: InternalServices,
  options: InternalOptions,
): FastifyInstance {
  const { credentials, keeper } = services.catalogue;
  // Envoy lets HEAD pass wherever it lets GET pass.
  const app = bareApp(context, { tls: options.tls ?? null, exposeHeadRoutes: true });
  demandToken(app, options, context);
  people.idempotentChanges(app, context, services.idempotency);
  demandReplySchemas(app);
  const { stays = () => true } = options;
  shortHealthRoute(app, context, () => stays() && keeper.current() !== null);
  catalogue.publicRoutes(app, inRole(context, 'catalogue'), keeper);
  ledger.publicRoutes(app, context, services.ledger);
  people.publicRoutes(app, context, services.people);
  catalogue.envoyRoutes(app, { catalogue: keeper, credentials });
  return app;
}
