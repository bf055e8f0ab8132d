/** Opens the hidden names of replies where they leave the program. What is kept for an idempotency key before is still hidden. */
import type { FastifyInstance } from 'fastify';
import type { Context } from '../context.ts';
import { isHidden, openNames } from './names.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route opens names itself, and also shows them as they are stored. */
    keepsHiddenNames?: boolean;
  }
}

/** Call it behind what keeps replies. */
export function openNamesOfReplies(app: FastifyInstance, { db }: Pick<Context, 'db'>): void {
  app.addHook('onSend', async ({ routeOptions }, reply, payload) => {
    if (typeof payload !== 'string' || !isHidden(payload) || routeOptions.config.keepsHiddenNames === true)
      return payload;
    const open = await openNames(db, [payload]);
    const isJson = String(reply.getHeader('content-type')).includes('json');
    return open(payload, isJson ? inJson : undefined);
  });
}

/** Inside of the quotes of a string. */
const inJson = (name: string): string => JSON.stringify(name).slice(1, -1);
