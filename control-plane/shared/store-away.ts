/** Tells that a store is away from other errors. */

/** Codes of Prisma, of its driver, of Postgres (https://www.postgresql.org/docs/current/errcodes-appendix.html) and of the system. */
const codes = new Set([
  ...['P1001', 'P1002', 'P1008', 'P1017', 'P2024'],
  ...['DatabaseNotReachable', 'ConnectionClosed', 'SocketTimeout', 'TooManyConnections'],
  ...['08000', '08001', '08003', '08006', '53300', '57014', '57P01', '57P02', '57P03'],
  ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ENOENT', 'ENOTFOUND', 'EAI_AGAIN', 'ETIMEDOUT', 'EHOSTUNREACH'],
]);
/** Messages of the drivers of Postgres and Redis, which give these errors no code. */
const words =
  /timeout exceeded when trying to connect|Connection terminated|Query read timeout|Connection is closed|Stream isn't writeable|Command timed out|max retries per request|Redis (?:is unavailable|took too long|closed the connection|did not answer|does not answer)/;

interface StoreError {
  readonly code?: unknown;
  readonly message?: unknown;
  readonly cause?: unknown;
  readonly meta?: { readonly driverAdapterError?: { readonly cause?: { readonly [name: string]: unknown } } };
}

/** Whether an error says that Postgres or Redis does not answer, so that the same may succeed in a moment. */
export function isStoreAway(error: unknown, depth = 0): boolean {
  if (typeof error !== 'object' || error === null || depth > 3) return false;
  const { cause, code, message, meta } = error as StoreError;
  const inner = meta?.driverAdapterError?.cause;
  if ([code, inner?.kind, inner?.originalCode].some((each) => codes.has(String(each)))) return true;
  return words.test(String(message)) || isStoreAway(cause, depth + 1);
}
