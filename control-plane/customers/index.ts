/** Customers: their accounts, how they come aboard, and the screening of who applies. */
import type { FastifyInstance } from 'fastify';
import type { AccessServices } from '../people/access/services.ts';
import { type Context, inRole } from '../shared/context.ts';
import { ownAccountRoute } from './accounts/own-account.ts';
import { accountRoutes, organisationAdminRoutes } from './accounts/routes.ts';
import { onboardingOperatorRoutes } from './onboarding/operator-routes.ts';
import type { OnboardingServices } from './onboarding/services.ts';

export { unscreenedCount } from './onboarding/application.ts';
export {
  type OnboardingServices as CustomerServices,
  openOnboarding as openCustomers,
  startOnboarding as startJobs,
} from './onboarding/services.ts';

export function operatorRoutes(
  app: FastifyInstance,
  context: Context,
  customers: OnboardingServices,
  access: AccessServices,
): void {
  const own = inRole(context, 'customers');
  accountRoutes(app, own);
  organisationAdminRoutes(app, inRole(context, 'people'), access);
  ownAccountRoute(app, own);
  onboardingOperatorRoutes(app, own, customers);
}
