/** Who changes something, when, and in which request: what each audit entry says of it. */
import { randomBytes } from 'node:crypto';
import type { Actor } from '@gw/contract/internal/audit-chain';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../../shared/context.ts';
import { actorOf, principalOf } from '../../shared/principal.ts';
import { refuse } from '../../shared/replies.ts';
import type { Grant } from './reauthorize.ts';
import type { ChangeResult } from './refusals.ts';

/** The grant by which a change is asked for, with what the audit entry says of the request. */
export interface ChangeContext extends Grant {
  readonly actor: Actor;
  readonly requestId: string;
}

/** Returns what a change needs to know of its request. Throws if the route does not state who may call it. */
export const changeOf = (request: FastifyRequest, context: Pick<Context, 'now'>): ChangeContext => {
  const grant = grantOf(request, context);
  return { ...grant, actor: actorOf(grant.principal), requestId: request.id };
};

/** Returns the grant that `reauthorize` checks again. Throws if the route does not state who may call it. */
export function grantOf(request: FastifyRequest, { now }: Pick<Context, 'now'>): Grant {
  const { access } = request.routeOptions.config;
  if (access === undefined) throw new Error('This route does not state who may call it.');
  return { principal: principalOf(request), access, at: now() };
}

/** Returns what the route replies: the value, or after sending it the refusal. */
export function answer<T>(
  reply: FastifyReply,
  outcome: ChangeResult<T>,
  { addresses }: Pick<Context, 'addresses'>,
): unknown {
  if (outcome.ok) return outcome.value;
  return refuse(reply, outcome.error, addresses);
}

/** Makes an id: 96 random bits after a prefix that says what kind of thing it names. */
export const makeId = (prefix: string): string => `${prefix}_${randomBytes(12).toString('base64url')}`;
