/**
 * Whose idempotency keys a person uses, and what a person gets again.
 *
 * Invariant: nobody gets more by a replay than by asking anew. It takes the role by which the change was made, since a
 * route may allow one role more than another; and a token gets only what it made itself, since what was made with a
 * session may outlive it.
 */
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Actors } from '../../shared/idempotent-changes.ts';
import { hasRole, operatorRoles, type Principal, principalOf } from '../../shared/principal.ts';
import type { LookAgain } from './guard.ts';
import { madeOtherwise, roleNeeded } from './refusals.ts';

const stampSchema = z.object({ role: z.enum(operatorRoles).nullable(), proof: z.string() });

export function peopleActors(lookAgain: LookAgain): Actors {
  return {
    scopeOf: (request) => scopeOf(principalOf(request)),
    stampOf: (request) => JSON.stringify(stampOf(request)),
    async refusal(request, made) {
      const refusal = await lookAgain(request);
      if (refusal !== null || made === null) return refusal;
      const before = stampSchema.parse(JSON.parse(made.stamp));
      const { proof, role } = stampOf(request);
      if (before.role !== null && (role === null || !hasRole(role, before.role))) return roleNeeded(before.role);
      return isToken(request) && proof !== before.proof ? madeOtherwise() : null;
    },
  };
}

const scopeOf = (principal: Principal): string =>
  principal.kind === 'operator'
    ? `operator:${principal.id}`
    : `organisation_admin:${principal.accountId}:${principal.id}`;

const isToken = (request: FastifyRequest): boolean => principalOf(request).proof?.kind === 'token';

function stampOf(request: FastifyRequest): z.infer<typeof stampSchema> {
  const principal = principalOf(request);
  const { proof } = principal;
  return {
    role: principal.kind === 'operator' ? principal.role : null,
    proof: proof === null ? '' : `${proof.kind} ${proof.id}`,
  };
}
