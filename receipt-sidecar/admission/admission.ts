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
import { ok } from '@gw/contract/internal/result';
import type { FaultLog } from '@gw/service/fault-log';
import type { Claim, StoredReply } from '@gw/service/idempotency';
import type { DrawnLimits } from '@gw/service/limits/drawn-limits';
import type { LimitHeader } from '@gw/service/limits/limit-headers';
import type { Bodies } from '../api/behind.ts';
import type { ParsedRequest } from '../api/port/parsed-request.ts';
import { countReply, shapeOf } from '../api/shapes.ts';
import type { DeploymentHealth } from '../attempts/resting-deployments.ts';
import { type MeasuredTrouble, ofAccount } from '../attempts/unavailable-deployments.ts';
import type { Budgets, Reservation } from '../guards/budgets/budgets.ts';
import { estimatesOf, type Keeping, tokenEstimates } from '../guards/budgets/estimate.ts';
import { projectOf } from '../guards/caller.ts';
import type { Claims, RequestWithKey } from '../guards/idempotency/claims.ts';
import type { Slot, StreamSlots } from '../guards/slots/slots.ts';
import type { TakenTokens, TokenLimits } from '../guards/token-limits.ts';
import { chooseRoute, type Route } from '../routing/route.ts';
import type { CallSharing } from '../routing/share-calls.ts';
import { tooLarge } from '../wire/headers.ts';
import { andThen, type MaybePromise } from '../wire/maybe-promise.ts';
import type { AdmissionRequest, ReadBody } from './admission-request.ts';
import { type BoundGates, belowCeiling, takesBound, withBound } from './answer-bound.ts';
import type { RequestReader } from './reader.ts';

/** The parts that decide on a call, in the order in which they are asked. */
export interface Gates extends BoundGates {
  readonly reader: Pick<RequestReader, 'read'>;
  /** Asked only about a call with an idempotency key. */
  readonly claims: Pick<Claims, 'find'>;
  /** Asked only about a stream. */
  readonly slots: Pick<StreamSlots, 'take'>;
  /** Asked only about a call that has limits in tokens. */
  readonly tokenLimits: TokenLimits;
  /** Asked only about a call that has budgets. */
  readonly budgets: Pick<Budgets, 'reserve'>;
  /** The clock, ms since 1970. */
  readonly now: () => number;
  readonly health: DeploymentHealth;
  readonly trouble: MeasuredTrouble;
  readonly accountTrouble: MeasuredTrouble;
  readonly sharing: CallSharing;
  readonly faults: Pick<FaultLog, 'fault'>;
}

/** A call that can go to a provider. `slot` is that of a stream, and whoever gets it has to release it. */
export interface Admitted {
  readonly outcome: 'admitted';
  readonly request: ParsedRequest;
  readonly bodies: Bodies;
  readonly route: Route;
  readonly slot: Slot | null;
  /** The claim of its idempotency key, if it has one; whoever gets it has to finish or free it. */
  readonly claim: Claim | null;
  /** Null for a call without budgets; whoever gets it has to settle or release it. */
  readonly reservation: Reservation | null;
  /** Null for a call without limits in tokens; whoever gets it has to settle it. */
  readonly tokens: TakenTokens | null;
}

/** `receiptId`: of the call that the refusal tells of. */
interface Refused {
  readonly outcome: 'refused';
  readonly error: ApiError;
  readonly receiptId?: string;
}

type Outcome =
  | Admitted
  | { readonly outcome: 'replayed'; readonly reply: StoredReply }
  | { readonly outcome: 'counted'; readonly reply: string }
  | { readonly outcome: 'uncounted'; readonly sent: Pick<Admitted, 'bodies' | 'request' | 'route'> }
  | Refused
  | { readonly outcome: 'gone' };
/** `shown`: headers about its limits in tokens. */
export type Admission = Outcome & { readonly shown?: readonly LimitHeader[] };

const refused = (error: ApiError): Refused => ({ outcome: 'refused', error });
const gone: Admission = { outcome: 'gone' };

/**
 * Decides whether a call goes on, and where to. An error of the program is refused as a fault; without an answer Envoy would take this
 * process for away, and ask the client to come again.
 */
export function admit(asked: AdmissionRequest, gates: Gates): MaybePromise<Admission> {
  const failed = (error: unknown): Admission => {
    gates.faults.fault('admission', error);
    return refused(apiError('internal_error'));
  };
  try {
    const admission = decided(asked, gates);
    return admission instanceof Promise ? admission.catch(failed) : admission;
  } catch (error) {
    return failed(error);
  }
}

function decided(asked: AdmissionRequest, gates: Gates): MaybePromise<Admission> {
  if (tooLarge(asked.bytes)) return refused(apiError('request_too_large'));
  return andThen(gates.reader.read(asked), (read) => {
    if (!asked.isOpen()) return gone;
    if (!read.ok) return refused(read.error);
    if (shapeOf(asked.endpoint).counts !== undefined) return counted(read.value, asked, gates);
    const { idempotencyKey } = asked;
    return idempotencyKey === null
      ? unclaimed(read.value, asked, gates)
      : claimed(read.value, { ...asked, idempotencyKey }, gates);
  });
}

/** A count costs nothing, so that of its options and limits only the region matters. */
function counted({ tokens = null, ...read }: ReadBody, asked: AdmissionRequest, gates: Gates): MaybePromise<Admission> {
  if (tokens !== null) return { outcome: 'counted', reply: countReply(tokens) };
  const { region } = read.request.options;
  const request = { ...read.request, options: region === undefined ? {} : { region } };
  const free = { ...asked, caller: { ...asked.caller, budgets: [], tokens: null } };
  return andThen(routed({ ...read, request }, free, gates, null), (admission) =>
    admission.outcome === 'admitted' ? { outcome: 'uncounted', sent: admission } : admission,
  );
}

const unclaimed = (read: ReadBody, asked: AdmissionRequest, gates: Gates): MaybePromise<Admission> =>
  read.request.stream ? withSlot(read, asked, gates) : routed(read, asked, gates, null);

async function claimed(read: ReadBody, asked: AdmissionRequest & RequestWithKey, gates: Gates): Promise<Admission> {
  const found = await gates.claims.find(asked, read.request);
  if (found.outcome !== 'claimed') return asked.isOpen() ? found : gone;
  const { claim } = found;
  let admission: Admission = gone;
  try {
    if (asked.isOpen()) admission = await unclaimed(read, asked, gates);
  } finally {
    // No provider was asked.
    if (admission.outcome !== 'admitted') claim.free(false);
  }
  return admission.outcome === 'admitted' ? { ...admission, claim } : admission;
}

async function withSlot(read: ReadBody, asked: AdmissionRequest, gates: Gates): Promise<Admission> {
  const taken = await gates.slots.take(asked.caller);
  if (!taken.ok) return refused(taken.error);
  let admission: Admission = gone;
  try {
    if (asked.isOpen()) admission = await routed(read, asked, gates, taken.value);
  } finally {
    if (admission.outcome !== 'admitted') taken.value.release();
  }
  return admission;
}

function routed(
  { bodies, request }: ReadBody,
  asked: AdmissionRequest,
  gates: Gates,
  slot: Slot | null,
): MaybePromise<Admission> {
  const { caller, catalogue } = asked;
  const { accountTrouble, health, now, trouble } = gates;
  const choice = chooseRoute(request, catalogue, caller.models, {
    at: now(),
    tolerance: caller.tolerance,
    isResting: health.isResting,
    troubleOf: (id, model) =>
      trouble.of(troubleField(id, model)) ?? accountTrouble.of(ofAccount(caller.accountId, id, model)),
  });
  if (!choice.ok) return refused(choice.error);
  const route = gates.sharing.shared(choice.value, { accountId: caller.accountId, affinity: request.affinity });
  const asIs: Admitted = {
    outcome: 'admitted',
    request,
    bodies,
    route,
    slot,
    claim: null,
    reservation: null,
    tokens: null,
  };
  const bounded = route.bound === null ? ok(asIs) : belowCeiling(asIs, route.bound, gates);
  if (!bounded.ok) return refused(bounded.error);
  const admitted = bounded.value;
  return caller.tokens === null ? budgeted(admitted, asked, gates) : withTokens(admitted, caller.tokens, asked, gates);
}

async function withTokens(
  admitted: Admitted,
  limits: DrawnLimits,
  asked: AdmissionRequest,
  gates: Gates,
): Promise<Admission> {
  const { request, route } = admitted;
  const estimates = tokenEstimates(request, route.bound?.tokens ?? request.maxTokens);
  const taken = await gates.tokenLimits.take(asked.caller.accountId, limits, estimates);
  if (!taken.ok) return { outcome: 'refused', ...taken.error };
  const tokens = taken.value;
  let admission: Admission = gone;
  try {
    if (asked.isOpen()) admission = await budgeted({ ...admitted, tokens }, asked, gates);
  } finally {
    if (admission.outcome !== 'admitted') tokens.settle(0);
  }
  return { ...admission, shown: tokens.shown };
}

function budgeted(admitted: Admitted, asked: AdmissionRequest, gates: Gates): MaybePromise<Admission> {
  const { caller } = asked;
  if (caller.budgets.length === 0) return admitted;
  const project = projectOf(caller, admitted.request);
  const budgets = caller.budgets.filter((each) => each.scope !== 'project' || each.project === project);
  return budgets.length === 0 ? admitted : withReservation(admitted, budgets, asked, gates);
}

async function withReservation(
  admitted: Admitted,
  budgets: readonly HeldBudget[],
  asked: AdmissionRequest,
  gates: Gates,
): Promise<Admission> {
  const { request, route } = admitted;
  const isHard = budgets.some((each) => each.isHard);
  const keeping: Keeping = isHard ? (takesBound(admitted, gates) ? 'bound' : 'reserve') : null;
  const maxTokens = route.bound?.tokens ?? request.maxTokens;
  const estimateAt = (at: string) => estimatesOf({ ...request, maxTokens }, route, at, keeping);
  const reserved = await gates.budgets.reserve(asked.caller.accountId, budgets, estimateAt);
  if (!reserved.ok) return refused(reserved.error);
  const reservation = reserved.value;
  if (asked.isOpen()) {
    const { answer } = reservation;
    const kept = answer === null ? admitted : withBound(admitted, { tokens: answer, set_by: 'hard_budget' });
    return { ...kept, reservation };
  }
  reservation.release();
  return gone;
}
