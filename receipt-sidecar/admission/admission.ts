/**
 * From the body of a call to the word that it may go to a provider, and to which.
 *
 * Invariants: the steps keep their order, and the first that refuses is the answer. A step that has its answer at once
 * is not waited for: a call all of whose steps have is decided in the same turn of the event loop. A call whose client
 * has gone meets no further step. Who is not admitted holds no slot, no claim and no reservation.
 */
import { type ApiError, apiError } from '@gw/contract/errors';
import type { HeldBudget } from '@gw/contract/internal/budgets';
import { troubleField } from '@gw/contract/internal/deployment-trouble';
import type { Result } from '@gw/contract/internal/result';
import type { Claim, StoredReply } from '@gw/service/idempotency';
import type { ParsedRequest } from '../api/port/parsed-request.ts';
import type { Outgoing } from '../api/provider-body.ts';
import type { DeploymentHealth } from '../attempts/deployment-health.ts';
import { type MeasuredTrouble, ofAccount } from '../attempts/measured-trouble.ts';
import type { Catalogue } from '../catalogue/snapshot.ts';
import type { Reservation } from '../guards/budgets/budgets.ts';
import { type Caller, projectOf } from '../guards/caller.ts';
import type { Slot } from '../guards/slots/slots.ts';
import type { Steering } from '../routing/choose-region.ts';
import { chooseRoute, type Route } from '../routing/route.ts';
import { tooLarge } from '../wire/headers.ts';
import { andThen, type MaybePromise } from '../wire/maybe-promise.ts';

/** A request, as far as its headers and its body tell. */
export interface AdmissionRequest {
  readonly endpoint: string;
  readonly bytes: Buffer;
  readonly caller: Caller;
  readonly catalogue: Catalogue;
  readonly requestId: string | null;
  readonly path: string;
  /** When the body was whole, by `performance.now`. */
  readonly arrivedAt: number;
  /** As the client sent it; null: none. */
  readonly idempotencyKey: string | null;
  /** Returns false once the client has gone. */
  readonly isOpen: () => boolean;
  /** Sets what is done when the client goes, and when a replay is over; at once if the client has gone. */
  readonly onGone: (then: () => void) => void;
}

export interface ReadBody {
  readonly request: ParsedRequest;
  readonly outgoing: Outgoing;
}
/** Reads, validates and screens a body. It throws or rejects only if the gateway itself fails. */
export type Read = (asked: AdmissionRequest) => MaybePromise<Result<ReadBody, ApiError>>;

export interface Steps {
  /** What a request has to pass before it can take a slot. */
  readonly read: Read;
  /** Finds what has become of a call with an idempotency key; it is called only for one that has one. */
  readonly claim: (asked: AdmissionRequest, request: ParsedRequest) => Promise<Claimed>;
  /** Takes a slot; it is called only for a stream. */
  readonly takeSlot: (caller: Caller) => Promise<Result<Slot, ApiError>>;
  /** Reserves what the call is estimated to use of these budgets; it is called only for one that has some. */
  readonly reserve: (
    accountId: string,
    budgets: readonly HeldBudget[],
    call: Pick<Admitted, 'request' | 'route'>,
  ) => Promise<Result<Reservation, ApiError>>;
  /** The clock, ms since 1970. */
  readonly now: () => number;
  readonly lastRegions: Steering['lastRegions'];
  readonly health: DeploymentHealth;
  readonly trouble: MeasuredTrouble;
  readonly accountTrouble: MeasuredTrouble;
}

/** A call that can go to a provider. `slot` is that of a stream, and whoever gets it has to release it. */
export interface Admitted {
  readonly outcome: 'admitted';
  readonly request: ParsedRequest;
  readonly outgoing: Outgoing;
  readonly route: Route;
  readonly slot: Slot | null;
  /** The claim of its idempotency key, if it has one; whoever gets it has to finish or free it. */
  readonly claim: Claim | null;
  /** Of a call that has budgets; whoever gets it has to settle or release it. */
  readonly reservation: Reservation | null;
}

export type Admission =
  | Admitted
  | { readonly outcome: 'replayed'; readonly reply: StoredReply }
  /** `receiptId`: of the call that the refusal tells of. */
  | { readonly outcome: 'refused'; readonly error: ApiError; readonly receiptId?: string }
  | { readonly outcome: 'gone' };

/** What has become of the call of an idempotency key. */
export type Claimed =
  | { readonly outcome: 'claimed'; readonly claim: Claim }
  | Extract<Admission, { readonly outcome: 'replayed' | 'refused' }>;

const refused = (error: ApiError): Admission => ({ outcome: 'refused', error });
const gone: Admission = { outcome: 'gone' };

/** Decides whether a call goes on, and where to. It throws or rejects only if the gateway itself fails. */
export function admit(asked: AdmissionRequest, steps: Steps): MaybePromise<Admission> {
  if (tooLarge(asked.bytes)) return refused(apiError('request_too_large'));
  return andThen(steps.read(asked), (read) => {
    if (!asked.isOpen()) return gone;
    if (!read.ok) return refused(read.error);
    return asked.idempotencyKey === null ? unclaimed(read.value, asked, steps) : claimed(read.value, asked, steps);
  });
}

const unclaimed = (read: ReadBody, asked: AdmissionRequest, steps: Steps): MaybePromise<Admission> =>
  read.request.stream ? withSlot(read, asked, steps) : routed(read, asked, steps, null);

async function claimed(read: ReadBody, asked: AdmissionRequest, steps: Steps): Promise<Admission> {
  const found = await steps.claim(asked, read.request);
  if (found.outcome !== 'claimed') return asked.isOpen() ? found : gone;
  const { claim } = found;
  let admission: Admission = gone;
  try {
    if (asked.isOpen()) admission = await unclaimed(read, asked, steps);
  } finally {
    // No provider was asked.
    if (admission.outcome !== 'admitted') claim.free(false);
  }
  return admission.outcome === 'admitted' ? { ...admission, claim } : admission;
}

async function withSlot(read: ReadBody, asked: AdmissionRequest, steps: Steps): Promise<Admission> {
  const taken = await steps.takeSlot(asked.caller);
  if (!taken.ok) return refused(taken.error);
  let admission: Admission = gone;
  try {
    if (asked.isOpen()) admission = await routed(read, asked, steps, taken.value);
  } finally {
    if (admission.outcome !== 'admitted') taken.value.release();
  }
  return admission;
}

function routed(
  { outgoing, request }: ReadBody,
  asked: AdmissionRequest,
  steps: Steps,
  slot: Slot | null,
): MaybePromise<Admission> {
  const { caller, catalogue } = asked;
  const { accountTrouble, health, lastRegions, now, trouble } = steps;
  const choice = chooseRoute(request, catalogue, caller.models, {
    at: now(),
    lastRegions,
    tolerance: caller.tolerance,
    isResting: health.isResting,
    troubleOf: (id, model) =>
      trouble.of(troubleField(id, model)) ?? accountTrouble.of(ofAccount(caller.accountId, id, model)),
  });
  if (!choice.ok) return refused(choice.error);
  const route = choice.value;
  const admitted: Admitted = { outcome: 'admitted', request, outgoing, route, slot, claim: null, reservation: null };
  if (caller.budgets.length === 0) return admitted;
  const project = projectOf(caller, request);
  const budgets = caller.budgets.filter((each) => each.scope !== 'project' || each.project === project);
  return budgets.length === 0 ? admitted : withReservation(admitted, budgets, asked, steps);
}

async function withReservation(
  admitted: Admitted,
  budgets: readonly HeldBudget[],
  asked: AdmissionRequest,
  steps: Steps,
): Promise<Admission> {
  const reserved = await steps.reserve(asked.caller.accountId, budgets, admitted);
  if (!reserved.ok) return refused(reserved.error);
  if (asked.isOpen()) return { ...admitted, reservation: reserved.value };
  reserved.value.release();
  return gone;
}
