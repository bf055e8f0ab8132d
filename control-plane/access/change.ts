/** Who changes something, when, and in which request: what each audit entry says of it. */
import { randomBytes } from 'node:crypto';
import type { Actor } from '@gw/contract/internal/audit-chain';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../context.ts';
import { refuse } from '../replies.ts';
import { actorOf, principalOf } from './principal.ts';
import type { Outcome } from './refusals.ts';

export interface Change {
  readonly actor: Actor;
  readonly at: Date;
  readonly requestId: string;
}

export const changeOf = (request: FastifyRequest, { now }: Pick<Context, 'now'>): Change => ({
  actor: actorOf(principalOf(request)),
  at: now(),
  requestId: request.id,
});

/** Sends what was done, or why not. */
export function answer<T>(
  reply: FastifyReply,
  outcome: Outcome<T>,
  { addresses }: Pick<Context, 'addresses'>,
): unknown {
  if (!('refused' in outcome)) return outcome.done;
  if (outcome.retryAfterS !== undefined) void reply.header('retry-after', outcome.retryAfterS);
  return refuse(reply, outcome.refused, addresses);
}

/** 96 random bits behind a prefix that tells what it names. */
export const makeId = (prefix: string): string => `${prefix}_${randomBytes(12).toString('base64url')}`;
