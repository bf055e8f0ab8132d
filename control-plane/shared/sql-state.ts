/** Finds the code of Postgres in an error (https://www.postgresql.org/docs/current/errcodes-appendix.html). */
import { DatabaseError, Prisma } from '@gw/prisma/client';

/** Null: the error is not Postgres' word, as where it was not reached. */
export function sqlStateOf(error: unknown): string | null {
  if (error instanceof DatabaseError) return error.code ?? null;
  if (!(error instanceof Prisma.PrismaClientKnownRequestError)) return null;
  const adapterError = error.meta?.driverAdapterError;
  if (typeof adapterError !== 'object' || adapterError === null || !('cause' in adapterError)) return null;
  const { cause } = adapterError;
  if (typeof cause !== 'object' || cause === null || !('originalCode' in cause)) return null;
  return typeof cause.originalCode === 'string' ? cause.originalCode : null;
}
