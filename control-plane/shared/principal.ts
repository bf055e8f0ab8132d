/** Who is logged in on the operator listener, and what the person may do. */
import type { Actor } from '@gw/contract/internal/audit-chain';
import type { FastifyRequest } from 'fastify';

/** The roles of operators: each may also do what those before it may. */
export const operatorRoles = ['viewer', 'support', 'admin'] as const;
export type OperatorRole = (typeof operatorRoles)[number];

/** How the person has proved who they are. The ids are not secret: nobody can log in with them. */
export type Proof =
  | { readonly kind: 'session'; readonly id: string }
  | { readonly kind: 'token'; readonly id: string; readonly expiresAt: Date | null };

interface Person {
  readonly id: string;
  readonly name: string;
  /** Null while the person is logging in. */
  readonly proof: Proof | null;
}

export interface OperatorPrincipal extends Person {
  readonly kind: 'operator';
  readonly role: OperatorRole;
}

export interface OrganisationAdminPrincipal extends Person {
  readonly kind: 'organisation_admin';
  /** The one account that this person may see. */
  readonly accountId: string;
}

export type Principal = OperatorPrincipal | OrganisationAdminPrincipal;

declare module 'fastify' {
  interface FastifyRequest {
    /** Null until the guard has let somebody in. */
    principal: Principal | null;
  }
}

/** Returns whom the guard has let in. Throws on a route that is open to everybody, where nobody is known. */
export function principalOf(request: FastifyRequest): Principal {
  if (request.principal === null) throw new Error('This route has no principal.');
  return request.principal;
}

/** Returns the admin whom the guard has let in. Throws outside of routes of `kind: 'organisation_admin'`. */
export function organisationAdminOf(request: FastifyRequest): OrganisationAdminPrincipal {
  const principal = principalOf(request);
  if (principal.kind !== 'organisation_admin') throw new Error('This route is not for organisation admins alone.');
  return principal;
}

/** Names the session or token with the person, so that what was done with a stolen one can be found. */
export const actorOf = ({ kind, id, name, proof }: Principal): Actor => ({
  kind,
  id,
  name: proof === null ? name : `${name} (${proof.kind} ${proof.id})`,
});

/** Returns the operator whom the guard has let in. Throws outside of routes of `kind: 'operator'`. */
export function operatorOf(request: FastifyRequest): OperatorPrincipal {
  const principal = principalOf(request);
  if (principal.kind !== 'operator') throw new Error('This route is not for operators alone.');
  return principal;
}

/** Whether a role includes `least`. */
export const hasRole = (role: OperatorRole, least: OperatorRole): boolean =>
  operatorRoles.indexOf(role) >= operatorRoles.indexOf(least);
