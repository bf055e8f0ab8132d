/** Who changes something, when, and in which request: what each audit entry says of it. */
import { randomBytes } from 'node:crypto';
import type { Actor } from '@gw/contract/internal/audit-chain';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../context.ts';
import { refuse } from '../replies.ts';
import { actorOf, principalOf } from './principal.ts';
import type { Outcome } from './refusals.ts';
import type { Right } from './still-may.ts';

export interface Change extends Right {
  readonly actor: Actor;
  readonly requestId: string;
}

export const changeOf = (request: FastifyRequest, context: Pick<Context, 'now'>): Change => {
  const right = rightOf(request, context);
  return { ...right, actor: actorOf(right.principal), requestId: request.id };
};

/** For `stillMay`. */
export function rightOf(request: FastifyRequest, { now }: Pick<Context, 'now'>): Right {
  const { access } = request.routeOptions.config;
  if (access === undefined) throw new Error('This route does not state who may call it.');
  return { principal: principalOf(request), access, at: now() };
}

/** Sends what was done, or why not. */
export function answer<T>(
  reply: FastifyReply,
  outcome: Outcome<T>,
  { addresses }: Pick<Context, 'addresses'>,
): unknown {
  if (!('refused' in outcome)) return outcome.done;
  return refuse(reply, outcome.refused, addresses);
}

/** 96 random bits behind a prefix that tells what it names. */
export const makeId = (prefix: string): string => `${prefix}_${randomBytes(12).toString('base64url')}`;
