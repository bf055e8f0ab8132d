/**
 * Asks the operators' port, in the types of its OpenAPI document.
 *
 * Invariant: what is returned is the reply of a success; everything else is thrown, a refusal as RefusedError.
 */
import createClient from 'openapi-fetch';
import type { paths } from '../../generated/operator-api.d.ts';
import { RefusedError } from './refused.ts';

/** A change with the cookie of a session needs the header; other sites cannot set it. */
export const api = createClient<paths>({ headers: { 'x-gw-csrf': '1' }, credentials: 'same-origin' });

interface Outcome<T> {
  readonly data?: T;
  readonly error?: unknown;
  readonly response: Response;
}

/** Returns the body of a success. Throws RefusedError, or a TypeError if the gateway cannot be reached. */
export async function must<T>(outcome: Promise<Outcome<T>>): Promise<T> {
  const { data, error, response } = await outcome;
  if (!response.ok) throw new RefusedError(response.status, error, response.headers.get('x-request-id'));
  return data as T;
}
