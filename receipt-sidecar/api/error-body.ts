/** The bodies of errors before a request was read, in the form of the API of their path. */
import { type Addresses, type ApiError, errorBody } from '@gw/contract/errors';
import { type Headers, pathOf, requestIdOf } from '../wire/ext-proc.ts';
import { shapeAt } from './shapes.ts';

/** `headers`: of the request. */
export function errorBodyFor(headers: Headers, error: ApiError, addresses: Addresses): string {
  const shape = shapeAt(pathOf(headers));
  return shape ? shape.errorBody(error, addresses, requestIdOf(headers)) : errorBody(error, addresses);
}
