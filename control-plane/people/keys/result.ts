/** What a change of a key comes to. */
import type { Prisma } from '@gw/prisma/client';
import type { KeyRefusal } from './refusals.ts';

export type KeyResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly refusal: KeyRefusal };

/** With the id of the key that every instance has to read again. */
export type Changed<T> = KeyResult<T> & { readonly changed?: string };

export type Transaction = Prisma.TransactionClient;

export const done = <T>(value: T): KeyResult<T> => ({ ok: true, value });
export const refused = (refusal: KeyRefusal): KeyResult<never> => ({ ok: false, refusal });
