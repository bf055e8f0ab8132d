/**
 * Builds the HTTP application of the operators' port: `/session` to log in, `/operator/v1` for the platform team,
 * `/organisation/v1` for the admins of a customer.
 */
import { randomUUID } from 'node:crypto';
import cookies from '@fastify/cookie';
import type { FastifyInstance } from 'fastify';
import { catalogueOperatorRoutes } from './catalogue/operator-routes.ts';
import { policyOperatorRoutes } from './catalogue/policy/operator-routes.ts';
import { accountRoutes, organisationAdminRoutes } from './customers/accounts/routes.ts';
import { onboardingOperatorRoutes } from './customers/onboarding/operator-routes.ts';
import { operatorHealthRoutes } from './health.ts';
import { integrityOperatorRoutes } from './ledger/integrity/operator-routes.ts';
import { guardRoutes } from './people/access/guard.ts';
import { identify } from './people/access/identify.ts';
import { oidcRoutes } from './people/access/oidc-routes.ts';
import { operatorRoutes } from './people/access/operator-routes.ts';
import { sessionRoutes } from './people/access/session-routes.ts';
import { refuseTextThatCanNotBeStored } from './people/access/storable-text.ts';
import { auditOperatorRoutes } from './people/audit/operator-routes.ts';
import { organisationAuditRoutes } from './people/audit/routes.ts';
import { keyPeopleRoutes } from './people/keys/people-routes.ts';
import type { Services } from './services.ts';
import { bareApp } from './shared/bare-app.ts';
import type { Context } from './shared/context.ts';

export function buildOperatorApp(context: Context, services: Services): FastifyInstance {
  const { access, keys, onboarding, seals, surroundings } = services;
  const app = bareApp(context, {
    // The audit log holds it, so it is ours alone.
    requestIdHeader: false,
    genReqId: () => randomUUID(),
    trustProxy: [...access.settings.trustedProxies],
  });
  // Without its hook: a cookie is read where one is asked for.
  void app.register(cookies, { hook: false });
  app.addHook('onSend', async (request, reply) => {
    // What people see here is theirs alone, and some of it is shown once.
    void reply.header('x-request-id', request.id).header('cache-control', 'no-store');
  });
  guardRoutes(app, {
    identify: (request) => identify(request, context, access.cookie),
    addresses: context.addresses,
    controlUrl: access.settings.controlUrl,
  });
  refuseTextThatCanNotBeStored(app, context);
  operatorHealthRoutes(app, context, services);
  sessionRoutes(app, context, access);
  if (access.oidc !== null) oidcRoutes(app, context, access, access.oidc);
  operatorRoutes(app, context, access);
  accountRoutes(app, context);
  organisationAdminRoutes(app, context, access);
  auditOperatorRoutes(app, context);
  integrityOperatorRoutes(app, context, seals);
  keyPeopleRoutes(app, context, keys);
  organisationAuditRoutes(app, context);
  onboardingOperatorRoutes(app, context, onboarding);
  catalogueOperatorRoutes(app, context, surroundings);
  policyOperatorRoutes(app, context);
  return app;
}
