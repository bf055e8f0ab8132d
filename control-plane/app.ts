/** Builds the HTTP application that only Envoy may reach. Listening is the server's business. */
import type { InternalTls } from '@gw/contract/internal/environment';
import type { FastifyInstance } from 'fastify';
import type { CatalogueView } from './catalogue/keeper.ts';
import { catalogueRoutes } from './catalogue/routes.ts';
import { type XdsOptions, xdsRoutes } from './catalogue/xds/routes.ts';
import { shortHealthRoute } from './health.ts';
import { receiptRoutes } from './ledger/receipts/routes.ts';
import { usageRoutes } from './ledger/usage/routes.ts';
import { auditRoutes } from './people/audit/routes.ts';
import { keyRoutes } from './people/keys/routes.ts';
import type { Services } from './services.ts';
import { bareApp } from './shared/bare-app.ts';
import type { Context } from './shared/context.ts';
import { demandToken } from './shared/identity.ts';

export interface InternalServices extends Pick<Services, 'keys' | 'seals'> {
  readonly catalogue: CatalogueView;
}

export interface InternalOptions extends Omit<XdsOptions, 'catalogue'> {
  readonly internalToken: string;
  /** Both sides show a certificate; null: plain, or a Unix socket. */
  readonly tls?: InternalTls | null;
}

/** What only Envoy may reach: the reads of the public API, and Envoy's own configuration. */
export function buildInternalApp(
  context: Context,
  services: InternalServices,
  options: InternalOptions,
): FastifyInstance {
  const { catalogue, keys, seals } = services;
  // Envoy lets HEAD pass wherever it lets GET pass.
  const app = bareApp(context, { tls: options.tls ?? null, exposeHeadRoutes: true });
  demandToken(app, options.internalToken, context);
  shortHealthRoute(app);
  catalogueRoutes(app, context, catalogue);
  receiptRoutes(app, context, seals);
  usageRoutes(app, context);
  auditRoutes(app, context);
  keyRoutes(app, context, keys);
  xdsRoutes(app, context, { ...options, catalogue });
  return app;
}
