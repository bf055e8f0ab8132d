/**
 * Invariant: no request of the operators' port gets to its handler with text that Postgres cannot hold, or that would be opened as
 * somebody's name when it is shown, in its path, its query or its body. What a field may say beyond that is for the schema of its route.
 */
import { apiError } from '@gw/contract/errors';
import { hiddenMark } from '@gw/contract/hidden-mark';
import type { FastifyInstance } from 'fastify';
import type { Context } from '../../shared/context.ts';
import { isHidden } from '../../shared/names/names.ts';
import { refuse } from '../../shared/replies.ts';

/** Makes `app` refuse such requests with `invalid_request`. */
export function refuseUnstorableText(app: FastifyInstance, { addresses }: Pick<Context, 'addresses'>): void {
  app.addHook('preValidation', async ({ body, params, query }, reply) => {
    if (isStorable([body, params, query])) return;
    return refuse(
      reply,
      apiError('invalid_request', {
        message: `The request contains text that is not valid Unicode, or \`${hiddenMark}\`, which is reserved.`,
      }),
      addresses,
    );
  });
}

/**
 * Whether no string and no field name holds NUL or half a surrogate pair. It does not recurse, as bodies can be deep.
 */
export function isStorable(value: unknown): boolean {
  const left: unknown[] = [value];
  while (left.length > 0) {
    const next = left.pop();
    if (typeof next === 'string' && !isStorableText(next)) return false;
    if (typeof next !== 'object' || next === null) continue;
    for (const [name, inner] of Object.entries(next)) left.push(name, inner);
  }
  return true;
}

const isStorableText = (text: string): boolean => !text.includes('\0') && text.isWellFormed() && !isHidden(text);
