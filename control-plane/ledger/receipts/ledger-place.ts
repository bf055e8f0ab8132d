/**
 * Where an account is asked about its ledger: on the internal listener with a key, which Envoy has let in by its scope, or on the
 * operators' port by one of its people.
 *
 * Invariant: a person sees their own account alone, and of it what a key may that they could issue. What the tier has no scope
 * for, nobody gets by logging in.
 */
import type { Scope } from '@gw/contract/access';
import { apiError } from '@gw/contract/errors';
import { mayGrant } from '@gw/contract/keys';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Access } from '../../people/access/guard.ts';
import type { Context } from '../../shared/context.ts';
import { identityOf } from '../../shared/identity.ts';
import { organisationAdminOf } from '../../shared/principal.ts';
import { endIfStalled, refuse } from '../../shared/replies.ts';

/** A reply may stand still for so long. Sockets hold some megabytes, so little of what a slow client reads is seen here. */
const stalledMs = 300_000;

type OnRequest = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply | undefined>;

export interface LedgerPlace {
  readonly paths: Readonly<Record<'receipts' | 'routing' | 'lineage' | 'methodology' | 'usage' | 'pack', string>>;
  readonly config: { readonly access?: Access };
  accountOf(request: FastifyRequest): string;
  mayUse(request: FastifyRequest, scope: Scope): Promise<boolean>;
  /** The hooks of a route that demands `scope`. Every tier has `gw:read`. */
  demand(scope: Scope): OnRequest[];
  /** For replies that hold memory until they are read. */
  readonly onSend: ReturnType<typeof endIfStalled>[];
}

export const keyPlace: LedgerPlace = {
  paths: {
    receipts: '/v1/gw/receipts',
    routing: '/v1/gw/receipts/:id/routing',
    lineage: '/v1/gw/lineage/:id',
    methodology: '/v1/gw/methodology/:hash',
    usage: '/v1/usage',
    pack: '/v1/gw/evidence-pack',
  },
  config: {},
  accountOf: (request) => identityOf(request).accountId,
  mayUse: async (request, scope) => identityOf(request).scopes.includes(scope),
  // Envoy has asked ext-authz, by the table of routes.
  demand: () => [],
  // It breaks off by itself what stands still.
  onSend: [],
};

export function personPlace({ addresses, db }: Pick<Context, 'addresses' | 'db'>): LedgerPlace {
  const accountOf = (request: FastifyRequest) => organisationAdminOf(request).accountId;
  const mayUse = async (request: FastifyRequest, scope: Scope) => {
    const account = await db.account.findUnique({ where: { id: accountOf(request) }, select: { tier: true } });
    return account !== null && mayGrant(scope, account.tier, false);
  };
  return {
    paths: {
      receipts: '/organisation/v1/receipts',
      routing: '/organisation/v1/receipts/:id/routing',
      lineage: '/organisation/v1/receipts/:id/lineage',
      methodology: '/organisation/v1/methodology/:hash',
      usage: '/organisation/v1/usage',
      pack: '/organisation/v1/evidence-pack',
    },
    config: { access: { kind: 'organisation_admin' } },
    accountOf,
    mayUse,
    demand: (scope) => [
      async (request, reply) => {
        if (await mayUse(request, scope)) return;
        const message = `The tier of this account does not include the scope ${scope}.`;
        return refuse(reply, apiError('insufficient_scope', { message }), addresses);
      },
    ],
    onSend: [endIfStalled(stalledMs)],
  };
}
