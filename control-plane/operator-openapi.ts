/** `GET /openapi.json` of the operators' port. */
import { operatorErrorCatalogue } from '@gw/contract/operator-errors';
import type { FastifyInstance, RouteOptions } from 'fastify';
import { z } from 'zod';
import { describeRoutes } from './shared/openapi.ts';

const description =
  'For those who run the platform, and for the admins of a customer. A change with the cookie of a session needs the header `x-gw-csrf: 1`. A parameter of the query that is not listed is 400 and named.';

const securitySchemes = {
  bearer: { type: 'http', scheme: 'bearer', description: 'The token of an operator' },
  session: { type: 'apiKey', in: 'cookie', name: 'gw_session', description: 'Set by POST /session' },
};

const loggedIn = [{ bearer: [] }, { session: [] }];

function accessOf({ config }: RouteOptions): Record<string, unknown> {
  const access = config?.access;
  if (access === undefined || access.kind === 'public') return { security: [] };
  return { security: loggedIn, 'x-access': access };
}

const documentSchema = z.looseObject({ openapi: z.literal('3.1.0'), paths: z.looseObject({}) });

/** Has to be called before the other routes are registered. */
export function openApiRoute(app: FastifyInstance, url: string): void {
  const describe = describeRoutes(app, {
    title: 'Inference gateway: the operators’ port',
    description,
    url,
    securitySchemes,
    accessOf,
    more: { 'x-operator-error-catalogue': operatorErrorCatalogue },
  });
  // It tells of the product, and nothing of this installation.
  const config = { access: { kind: 'public' }, reply: documentSchema } as const;
  // Made once: it is the same for everybody, and takes a while.
  let document: ReturnType<typeof describe> | null = null;
  app.get('/openapi.json', { config }, async () => {
    document ??= describe();
    return document;
  });
}
