/** The outcome of a change of a key. */
import type { Result } from '@gw/contract/internal/result';
import type { Prisma } from '@gw/prisma/client';
import type { KeyRefusal } from './refusals.ts';

export type KeyResult<T> = Result<T, KeyRefusal>;

/** `changed` is the id of the key that every ext-authz has to read again; absent if nothing has changed. */
export type Changed<T> = KeyResult<T> & { readonly changed?: string };

export type Transaction = Prisma.TransactionClient;
