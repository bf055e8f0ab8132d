/**
 * From the body of a call to the word that it may go to a provider, and to which.
 *
 * Invariants: the steps keep their order, and the first that refuses is the answer. A step that has its answer at once is
 * not waited for: a call all of whose steps have is decided in the same turn of the event loop. A call whose client has
 * gone meets no further step. Who is not admitted holds no slot.
 */
import { type ApiError, apiError } from '@gw/contract/errors';
import type { Caller } from '../messages.ts';
import type { Slot, Taken } from '../slots/slots.ts';
import type { Catalogue } from '../snapshot.ts';
import { tooLarge } from './headers.ts';
import { type Endpoint, type ParsedRequest, parseRequest } from './parse.ts';
import { chooseRoute, type Route } from './route.ts';

export interface Asked {
  readonly endpoint: Endpoint;
  readonly bytes: Buffer;
  readonly caller: Caller;
  readonly catalogue: Catalogue;
  readonly requestId: string | null;
  /** False once the client has gone. */
  readonly isOpen: () => boolean;
}

export type Soon<T> = T | Promise<T>;

/** Null lets the request go on. */
export type Check = (request: ParsedRequest, asked: Asked) => Soon<ApiError | null>;

export interface Steps {
  /** What a request has to pass before it may take a slot, in this order. */
  readonly checks: readonly Check[];
  /** For a stream alone. */
  readonly takeSlot: (caller: Caller) => Promise<Taken>;
}

/** `slot`: of a stream; whoever gets it releases it. */
interface Admitted {
  readonly outcome: 'admitted';
  readonly request: ParsedRequest;
  readonly route: Route;
  readonly slot: Slot | null;
}

export type Admission =
  | Admitted
  | { readonly outcome: 'refused'; readonly error: ApiError }
  | { readonly outcome: 'gone' };

const refused = (error: ApiError): Admission => ({ outcome: 'refused', error });
const gone: Admission = { outcome: 'gone' };

/** Goes on with `value`: now if it is there, else when it is. */
export function andThen<T, U>(value: Soon<T>, next: (value: T) => Soon<U>): Soon<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** Rejects or throws on a fault of ours alone. */
export function admit(asked: Asked, steps: Steps): Soon<Admission> {
  if (tooLarge(asked.bytes)) return refused(apiError('request_too_large'));
  const parsed = parseRequest(asked.endpoint, asked.bytes);
  if (!parsed.ok) return refused(parsed.error);
  return checked(parsed.request, asked, steps, 0);
}

function checked(request: ParsedRequest, asked: Asked, steps: Steps, at: number): Soon<Admission> {
  if (!asked.isOpen()) return gone;
  const check = steps.checks[at];
  if (!check) return request.stream ? withSlot(request, asked, steps) : routed(request, asked, null);
  return andThen(check(request, asked), (error) => (error ? refused(error) : checked(request, asked, steps, at + 1)));
}

async function withSlot(request: ParsedRequest, asked: Asked, { takeSlot }: Steps): Promise<Admission> {
  const taken = await takeSlot(asked.caller);
  if (!taken.ok) return refused(taken.error);
  let admission: Admission = gone;
  try {
    if (asked.isOpen()) admission = routed(request, asked, taken.slot);
  } finally {
    if (admission.outcome !== 'admitted') taken.slot.release();
  }
  return admission;
}

function routed(request: ParsedRequest, { catalogue, caller }: Asked, slot: Slot | null): Admission {
  const choice = chooseRoute(request, catalogue, caller.models);
  return choice.ok ? { outcome: 'admitted', request, route: choice.route, slot } : refused(choice.error);
}
