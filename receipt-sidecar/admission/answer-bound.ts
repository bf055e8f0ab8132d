/** Bounds the answers of a call whose client has not, for its ceiling of carbon or its hard budgets. */
import { type ApiError, apiError } from '@gw/contract/errors';
import { err, ok, type Result } from '@gw/contract/internal/result';
import type { AnswerBound } from '@gw/contract/routing-trace';
import { apiBehind, type Bodies, bodyFor, eachBody } from '../api/behind.ts';
import type { ParsedRequest } from '../api/port/parsed-request.ts';
import { bounded, canBound } from '../api/provider-body.ts';
import { shapeOf } from '../api/shapes.ts';
import { type AddedFields, refusedBy } from '../attempts/added-fields.ts';
import { optionPath, type Route } from '../routing/route.ts';

interface BoundedCall {
  readonly request: ParsedRequest;
  readonly bodies: Bodies;
  readonly route: Route;
}

export interface BoundGates {
  /** Asked only about a call whose answers may have to be bounded. */
  readonly addedFields: Pick<AddedFields, 'answered' | 'shownBy'>;
}

/** Bounds the answers to the length that the ceiling of the call allows, or refuses a call that cannot be bounded. */
export function belowCeiling<T extends BoundedCall>(
  admitted: T,
  bound: AnswerBound,
  gates: BoundGates,
): Result<T, ApiError> {
  if (takesBound(admitted, gates)) return ok(withBound(admitted, bound));
  const { request } = admitted;
  const message = `An answer without a limit can be above the ceiling of ${request.options.max_carbon_g} g CO2e, and the provider does not take the limit that the gateway sets. Limit it to ${bound.tokens} tokens in the request. Nothing was sent to a provider.`;
  const param = optionPath(request, 'max_carbon_g');
  return err(apiError('max_carbon_exceeded', { message, param }));
}

/** Whether the answers can be bounded. A deployment that has refused the field of the gateway would be asked without it. */
export function takesBound({ bodies, request, route }: BoundedCall, { addedFields }: BoundGates): boolean {
  const { endpoint, maxTokens } = request;
  const shown = maxTokens === null ? addedFields.shownBy(bodies.outgoing.form) : null;
  return route.failoverChain.every(({ deployment }) => {
    const field = boundField(apiBehind(endpoint, deployment) ?? endpoint);
    if (field === undefined || !canBound(bodyFor(bodies, endpoint, deployment))) return false;
    return shown === null || !refusedBy(shown, deployment.id).includes(field);
  });
}

const boundField = (api: string): string | undefined => shapeOf(api).request.bound?.field;

export function withBound<T extends BoundedCall>(admitted: T, bound: AnswerBound): T {
  const { bodies, request, route } = admitted;
  const kept = eachBody(bodies, request.endpoint, (body, api) => {
    const field = boundField(api);
    return field === undefined ? body : bounded(body, field, bound.tokens);
  });
  return { ...admitted, bodies: kept, route: { ...route, bound } };
}
