/** Who is logged in on the operator listener, and what the person may do. */
import type { Actor } from '@gw/contract/internal/audit-chain';
import type { FastifyRequest } from 'fastify';

/** Each role may do what the ones before it may. */
export const operatorRoles = ['viewer', 'support', 'admin'] as const;
export type OperatorRole = (typeof operatorRoles)[number];

export type Principal =
  | { readonly kind: 'operator'; readonly id: string; readonly name: string; readonly role: OperatorRole }
  | {
      readonly kind: 'organisation_admin';
      readonly id: string;
      readonly name: string;
      /** The one account that this person may see. */
      readonly accountId: string;
    };

export type OperatorPrincipal = Extract<Principal, { kind: 'operator' }>;
export type OrganisationAdminPrincipal = Extract<Principal, { kind: 'organisation_admin' }>;

declare module 'fastify' {
  interface FastifyRequest {
    /** Null until the guard has let somebody in. */
    principal: Principal | null;
  }
}

/** Whom the guard has let in. Throws on a route that is open to everybody: nobody is known there. */
export function principalOf(request: FastifyRequest): Principal {
  if (request.principal === null) throw new Error('This route has no principal.');
  return request.principal;
}

/** On routes of `kind: 'organisation_admin'`. */
export function organisationAdminOf(request: FastifyRequest): OrganisationAdminPrincipal {
  const principal = principalOf(request);
  if (principal.kind !== 'organisation_admin') throw new Error('This route is not for organisation admins alone.');
  return principal;
}

export const actorOf = ({ kind, id, name }: Principal): Actor => ({ kind, id, name });

export const hasRole = (role: OperatorRole, least: OperatorRole): boolean =>
  operatorRoles.indexOf(role) >= operatorRoles.indexOf(least);
