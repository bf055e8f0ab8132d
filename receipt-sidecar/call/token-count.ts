/**
 * A call whose prompt a provider counts. (What the gateway counts itself is answered where the body was read.)
 *
 * Invariants: it makes no receipt and tells nothing of the health of deployments. The client gets the number alone of the reply, or our
 * error. Fails closed: without this process Envoy's last resort answers with an error.
 */
import { type ApiError, apiError, errorHeaders } from '@gw/contract/errors';
import { defined } from '@gw/contract/internal/defined';
import type { ProcessingRequest, ProcessorCall } from '@gw/grpc/service';
import type { Admitted } from '../admission/admission.ts';
import { errorBodyFor } from '../api/error-body.ts';
import { faultError, type ProviderNames } from '../api/provider-errors/provider-error.ts';
import { type JudgedReply, judgedReply, ownOutcome } from '../attempts/attempt-outcome.ts';
import { attemptsOf } from '../attempts/attempt-requests.ts';
import type { Catalogue } from '../catalogue/snapshot.ts';
import type { Caller } from '../guards/caller.ts';
import { advised } from '../reply/retry-advice.ts';
import { encodingOf, isUnreadable } from '../wire/compressed.ts';
import {
  attemptCount,
  bodyMode,
  finished,
  type Headers,
  headerMode,
  immediate,
  readHeaders,
  setHeader,
  unchanged,
} from '../wire/ext-proc.ts';
import { forwardedBytes } from '../wire/headers.ts';
import { andThen } from '../wire/maybe-promise.ts';
import type { CallContext } from './call-context.ts';
import { notShown, toProviderWithoutReceipt } from './handover.ts';

type Sent = Pick<Admitted, 'bodies' | 'request' | 'route'>;

export interface Asking {
  readonly caller: Caller;
  readonly catalogue: Catalogue;
  /** The headers of the client's request. */
  readonly headers: Headers;
  readonly call: ProcessorCall;
}

/** The head of a provider's reply. */
interface Replied {
  readonly headers: Headers;
  readonly judged: JudgedReply;
  readonly attempts: number;
  readonly provider: ProviderNames;
}

/** The first attempt goes through the listener as well: the others are for calls that are watched. */
const firstAttempts = { clusterOf: () => null };

/** Sends the call to a provider. The reply is to be handed to what is returned. */
export function sendToCount(sent: Sent, asking: Asking, context: CallContext): TokenCount {
  const { bodies, request, route } = sent;
  const { call, headers } = asking;
  const { addedFields } = context;
  const { endpoint } = request;
  const attempts = attemptsOf({ endpoint, route }, bodies, () => forwardedBytes(headers), {
    addedFields,
    firstAttempts,
  });
  call.answer(toProviderWithoutReceipt({ request, route, headers, timeouts: context, attempts }), attempts.body);
  return new TokenCount(sent, asking, context);
}

export class TokenCount {
  readonly #sent: Sent;
  readonly #asking: Asking;
  readonly #context: CallContext;
  #replied: Replied | null = null;

  constructor(sent: Sent, asking: Asking, context: CallContext) {
    this.#sent = sent;
    this.#asking = asking;
    this.#context = context;
  }

  responseHeaders(request: ProcessingRequest): void {
    const { call, catalogue } = this.#asking;
    const { route } = this.#sent;
    const headers = readHeaders(request.responseHeaders);
    const own = ownOutcome(headers);
    if (own !== null)
      return this.#refuse(apiError(own === 'no_credential' ? 'upstream_credential_missing' : 'overloaded'));
    const deployment = headers.get('x-gw-deployment');
    // Envoy's own reply has our error object.
    if (deployment === undefined) return call.answer(unchanged.responseHeaders);
    const judged = judgedReply((name) => headers.get(name));
    const attempts = attemptCount(request, headers);
    const candidate = catalogue.candidate(deployment) ?? route.failoverChain[0];
    const { calls, models } = candidate.deployment;
    const { id } = route.modelOf(candidate);
    const provider = { model: models[id] ?? id, fields: calls?.requestFields ?? {}, added: [] };
    this.#replied = { headers, judged, attempts, provider };
    if (judged.fault !== null) return this.#refuse(faultError(judged.fault));
    if (isUnreadable(headers) || request.responseHeaders?.endOfStream)
      return this.#refuse(apiError(judged.status >= 500 ? 'upstream_error' : 'upstream_invalid_response'));
    call.answer({
      responseHeaders: {
        response: {
          headerMutation: { setHeaders: [setHeader('cache-control', 'no-store')], removeHeaders: notShown(headers) },
        },
      },
      modeOverride: { responseHeaderMode: headerMode.send, responseBodyMode: bodyMode.buffered },
    });
  }

  responseBody(bytes: Buffer): void {
    const { call, caller } = this.#asking;
    const { headers, judged, provider } = defined(this.#replied, 'The head of a reply');
    const { request } = this.#sent;
    const facts = {
      ...judged,
      request,
      provider,
      telemetryShape: null,
      returning: null,
      encoding: encodingOf(headers),
    };
    const read = andThen(this.#context.readReply(caller.accountId, bytes, facts), (outcome) => {
      const reading = outcome.ok ? outcome.value : null;
      if (reading?.ok) this.#answer(Buffer.from(reading.clean.bytes), []);
      else this.#fail(reading?.error ?? apiError('upstream_invalid_response'));
    });
    if (read instanceof Promise) read.catch(call.fail);
  }

  #answer(body: Buffer, head: readonly (readonly [name: string, value: string])[]): void {
    const all = [...head, ['content-type', 'application/json'], ['content-length', String(body.length)]] as const;
    const setHeaders = all.map(([name, value]) => setHeader(name, value));
    const response = { headerMutation: { setHeaders }, bodyMutation: { body } };
    this.#asking.call.answer({ responseBody: { response }, ...finished });
  }

  /** Replaces a reply whose body was read. */
  #fail(failure: ApiError): void {
    const error = this.#advised(failure);
    this.#answer(Buffer.from(this.#errorBody(error)), [[':status', String(error.status)], ...errorHeaders(error)]);
  }

  #refuse(failure: ApiError): void {
    const error = this.#advised(failure);
    this.#asking.call.answer({ ...immediate(error, this.#errorBody(error), null), ...finished });
  }

  #advised(error: ApiError): ApiError {
    return this.#replied === null ? error : advised(error, this.#replied.judged, this.#replied.attempts);
  }

  #errorBody(error: ApiError): string {
    return errorBodyFor(this.#asking.headers, error, this.#context.addresses);
  }
}
