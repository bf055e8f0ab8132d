/** Checks the headers of a request and decides which of them are forwarded to a provider. */
import { type ApiError, apiError } from '@gw/contract/errors';
import { inferenceQuerySchema } from '@gw/contract/inference-query';
import { headPatience, headPatienceHeader } from '@gw/contract/internal/first-event';
import { idempotencyKeyHeader, isIdempotencyKey } from '@gw/contract/internal/idempotency-key';
import { queryRefusal } from '@gw/contract/internal/query-refusal';
import { type Headers, setHeader } from './ext-proc.ts';

/** 10 MiB; a larger body is refused. */
export const maxBodyBytes = 10 * 1024 * 1024;

/**
 * `x-request-id` and `x-forwarded-proto` stay for Envoy itself (without the latter no route matches after this phase), which removes them
 * before the deployment. `x-sim-*` is for the simulator.
 */
const forwarded = new Set([
  'content-type',
  'content-length',
  'accept',
  'user-agent',
  'traceparent',
  'x-request-id',
  'x-forwarded-proto',
]);

const takenParameters = Object.keys(inferenceQuerySchema.shape);

/** Returns null if the headers and the query of the path are acceptable. */
export function refusedHeaders(headers: Headers): ApiError | null {
  const refusedQuery = queryRefusal(headers.get(':path') ?? '/', takenParameters);
  if (refusedQuery !== null) return refusedQuery;
  const type = (headers.get('content-type') ?? '').split(';');
  if (type[0]?.trim().toLowerCase() !== 'application/json')
    return apiError('invalid_content_type', { param: 'Content-Type' });
  const charset = /charset\s*=\s*"?([^";]+)/i.exec(type.slice(1).join(';'))?.[1];
  if (charset && !/^utf-?8$/i.test(charset.trim())) return apiError('invalid_content_type', { param: 'Content-Type' });
  const encoding = headers.get('content-encoding');
  if (encoding && encoding.trim().toLowerCase() !== 'identity')
    return apiError('invalid_content_type', { param: 'Content-Encoding' });
  const key = headers.get(idempotencyKeyHeader);
  if (key !== undefined && !isIdempotencyKey(key))
    return apiError('invalid_idempotency_key', { param: 'Idempotency-Key' });
  return null;
}

export const tooLarge = (body: Uint8Array): boolean => body.length > maxBodyBytes;

const goesOn = (name: string): boolean => name === 'host' || forwarded.has(name) || name.startsWith('x-sim-');

/** Returns the names of all headers that are not on the allow-list. */
export const headersToRemove = (headers: Headers): string[] =>
  [...headers.keys()].filter((name) => !name.startsWith(':') && !goesOn(name));

/** Whether the client tells the simulated provider how to answer, so that the result says nothing about the provider. */
export function isDirected(headers: Headers): boolean {
  for (const name of headers.keys()) if (name.startsWith('x-sim-')) return true;
  return false;
}

/** Returns the bytes of the headers that are forwarded. */
export function forwardedBytes(headers: Headers): number {
  let bytes = 0;
  for (const [name, value] of headers) if (name.startsWith(':') || goesOn(name)) bytes += name.length + value.length;
  return bytes;
}

export interface Timeouts {
  /** How long a whole JSON reply can take. */
  readonly upstreamTimeoutS: number;
  /** How long the first byte of a stream can take before the next deployment is tried. */
  readonly firstByteTimeoutS: number;
}

interface Retries {
  /** The number of deployments after the first. */
  readonly others: number;
  /** How many attempts may follow the first. */
  readonly retries: number;
}

/** Only a stream that can go elsewhere is given up where nothing comes. */
const isGivenUp = (stream: boolean, others: number): boolean => stream && others > 0;

/** Makes headers for Envoy's router, which are removed before the deployment. */
export function steeringHeaders(
  stream: boolean,
  { others, retries }: Retries,
  { upstreamTimeoutS, firstByteTimeoutS }: Timeouts,
) {
  const timeouts = stream
    ? [
        setHeader('x-gw-stream', 'true'), // a route with an idle time-out
        setHeader('x-envoy-upstream-rq-timeout-ms', '0'),
        // It covers the time to the headers of a stream. For JSON it would cut off long completions, which would be paid for twice.
        ...(isGivenUp(stream, others)
          ? [setHeader('x-envoy-upstream-rq-per-try-timeout-ms', String(firstByteTimeoutS * 1000))]
          : []),
      ]
    : [setHeader('x-envoy-upstream-rq-timeout-ms', String(upstreamTimeoutS * 1000))];
  return [setHeader('x-envoy-max-retries', String(retries)), ...timeouts];
}

/** Envoy takes a held head for silence, and ends a stream that is silent for GW_STREAM_IDLE_TIMEOUT_S, 300 s unless given. */
const mostPatienceS = 240;

/**
 * Makes the header for the filter that holds the head of a reply. The head has to go on before the router gives the attempt up; without
 * such a time-out the provider may take its time until the head.
 */
export function patienceHeader(stream: boolean, others: number, { firstByteTimeoutS }: Timeouts) {
  const ms = Math.min(firstByteTimeoutS, mostPatienceS) * 1000;
  return setHeader(headPatienceHeader, headPatience(ms, isGivenUp(stream, others) ? 'request' : 'head'));
}
