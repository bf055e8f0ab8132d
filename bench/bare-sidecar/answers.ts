/**
 * The answers of a sidecar without its work: of the sizes and on the ways of the real ones, made by the same functions from the first
 * call of each kind, and given again to all that follow, encoded once.
 */
import { apiError } from '@gw/contract/errors';
import { finishedHeader } from '@gw/contract/internal/finished-header';
import { firstAttemptCluster, listenerCluster } from '@gw/contract/internal/first-attempt';
import { overheadHeader } from '@gw/contract/internal/overhead';
import type { IProcessingResponse } from '@gw/grpc/service';
import { toClient, toProvider } from '@gw/receipt-sidecar/internals/call/handover';
import type { Candidate } from '@gw/receipt-sidecar/internals/catalogue/snapshot';
import {
  finished,
  type Headers,
  immediate,
  setHeader,
  withGwFields,
} from '@gw/receipt-sidecar/internals/wire/ext-proc';
import { type LimitHeader, metadataOf } from '@gw/service/limits/limit-headers';

/** An answer with the body that goes beside it. */
export type Answer = readonly [response: IProcessingResponse, body?: readonly Buffer[] | undefined];

const answer = (response: IProcessingResponse, body?: readonly Buffer[]): Answer => [Object.freeze(response), body];

const receiptId = 'rcpt_00000000-0000-7000-8000-000000000000';
/** About as long as the texts of the product, in bytes: a degraded receipt, and a receipt with the trace of a call. */
const [degradedBytes, receiptBytes] = [1400, 3300];
const textOf = (bytes: number): string => JSON.stringify({ made_of: 'nothing'.repeat(Math.round(bytes / 7)) });

/** The gateway's start waits until a model that nobody serves is refused. */
export function refusal(message: string): Answer {
  const error = apiError('invalid_model', { message });
  return answer(immediate(error, JSON.stringify({ error: { code: error.code, message } }), null));
}

/** The limits that the client of a call is told. */
const limits: readonly LimitHeader[] = (['requests', 'day'] as const).flatMap((kind) => [
  { key: `x-ratelimit-limit-${kind}`, value: '1000000' },
  { key: `x-ratelimit-remaining-${kind}`, value: '999999' },
  { key: `x-ratelimit-reset-${kind}`, value: '0' },
]);

const addresses = { baseUrl: '', statusUrl: '', auditEmail: '', securityEmail: '' };
/** It is as long as what the real sidecar seals. */
const sealed = Buffer.alloc(190).toString('base64');

/**
 * Asks the deployments of the chain, the first at its provider at once: the real sidecar does so only where one was reached before, but here
 * the provider is the simulator, which needs no credential. It asks for the usage of streams too.
 */
export function toProviders(chain: readonly [Candidate, ...Candidate[]], headers: Headers, asked: Buffer): Answer {
  const stream = isStreamed(asked);
  const bytes = stream
    ? Buffer.from(JSON.stringify({ ...JSON.parse(asked.toString()), stream_options: { include_usage: true } }))
    : asked;
  const [{ deployment: first }, ...others] = chain;
  if (!first.firstAttempt) throw new Error(`The deployment ${first.id} cannot be asked without its listener.`);
  const response = toProvider({
    request: { endpoint: 'chat', stream },
    route: { failoverChain: chain },
    headers,
    receiptId,
    standIn: { degraded: textOf(degradedBytes), assumed: null, sealed },
    timeouts: { upstreamTimeoutS: 600, firstByteTimeoutS: 30, addresses },
    attempts: {
      apis: new Set(),
      body: [bytes],
      headers: [],
      others: others.length,
      order: [
        firstAttemptCluster(first.id, first.firstAttempt.origin),
        ...others.map(({ deployment }) => listenerCluster(deployment.id)),
      ],
    },
    slot: stream ? 'slot_of_a_stream' : null,
    isRerun: false,
  });
  const dynamicMetadata = withGwFields(response.dynamicMetadata ?? {}, metadataOf(limits));
  return answer({ ...response, dynamicMetadata }, [bytes]);
}

export const isStreamed = (bytes: Buffer): boolean => bytes.includes('"stream":true');

const overheadHeaders = [setHeader(overheadHeader, '1.00')];

/** Replaces the head of a provider's reply. */
export function toClients(headers: Headers, stream: boolean): Answer {
  const response = toClient(
    headers,
    { identity: { receiptId, request: { endpoint: 'chat' } }, servedBy: null },
    {
      isRerun: false,
      budgets: null,
      stream,
      overhead: { headers: () => overheadHeaders },
    },
  );
  const mutation = response.responseHeaders?.response?.headerMutation;
  const told = limits.map(({ key, value }) => setHeader(key, value));
  const headerMutation = { ...mutation, setHeaders: [...(mutation?.setHeaders ?? []), ...told] };
  return answer({ ...response, responseHeaders: { response: { headerMutation } } });
}

/** The provider's JSON with something of the size of a receipt and its trace in it. */
export function withReceipt(bytes: Buffer): Answer {
  const body = Buffer.concat([
    bytes.subarray(0, bytes.lastIndexOf('}')),
    Buffer.from(`,"gw":${textOf(receiptBytes)}}`),
  ]);
  const setHeaders = [
    setHeader('content-type', 'application/json'),
    setHeader('content-length', String(body.length)),
    ...overheadHeaders,
    setHeader(finishedHeader, '1'),
  ];
  return answer({ responseBody: { response: { headerMutation: { setHeaders } } }, ...finished }, [body]);
}

/** Puts as much in front of the last bytes of a stream. */
export function withReceiptEvent(bytes: Buffer): Answer {
  const body = Buffer.concat([Buffer.from(`data: {"gw":${textOf(receiptBytes)}}\n\n`), bytes]);
  return answer({ responseBody: { response: { bodyMutation: { body } } }, ...finished });
}
