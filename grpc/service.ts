/**
 * The services that Envoy calls, as plain functions. Handlers do not know which transport carries them.
 *
 * Invariant: a handler answers every message it is given, or throws; a throw becomes an INTERNAL status, never a hang.
 */

import type { StreamAccessLogsMessage } from './generated/envoy/service/accesslog/v3/StreamAccessLogsMessage.ts';
import type { CheckRequest } from './generated/envoy/service/auth/v3/CheckRequest.ts';
import type { ICheckResponse } from './generated/envoy/service/auth/v3/CheckResponse.ts';
import type { ProcessingRequest } from './generated/envoy/service/ext_proc/v3/ProcessingRequest.ts';
import type { IProcessingResponse } from './generated/envoy/service/ext_proc/v3/ProcessingResponse.ts';
import type { RateLimitRequest } from './generated/envoy/service/ratelimit/v3/RateLimitRequest.ts';
import type { IRateLimitResponse } from './generated/envoy/service/ratelimit/v3/RateLimitResponse.ts';

export type {
  CheckRequest,
  ICheckResponse,
  IProcessingResponse,
  IRateLimitResponse,
  ProcessingRequest,
  RateLimitRequest,
  StreamAccessLogsMessage,
};

export type Check = (request: CheckRequest) => Promise<ICheckResponse>;
export type ShouldRateLimit = (request: RateLimitRequest) => Promise<IRateLimitResponse>;

/** One HTTP call as ext_proc sees it: messages in, answers out, in the order of the messages. */
export interface Processor {
  /** `metadataContext` is given with the first message only, although Envoy sends it with each. */
  message(request: ProcessingRequest): void;
  /** A large message has begun to come. Envoy's patience with it began when it sent the first of it. */
  coming?(): void;
  /** The stream is over: the call has finished, or somebody has gone. Called exactly once. */
  close(): void;
}
/** What a processor can do with its call. */
export interface ProcessorCall {
  /** `body`: of the mutation of the body that the response is about, in parts, which are not copied. */
  answer(response: IProcessingResponse, body?: readonly Buffer[]): void;
  /** Something that is not to happen happened later, outside of `message`: Envoy goes on without us. */
  fail(error: unknown): void;
}
export type OpenProcessor = (call: ProcessorCall) => Processor;

export interface EnvoyServices {
  readonly check?: Check;
  readonly shouldRateLimit?: ShouldRateLimit;
  readonly openProcessor?: OpenProcessor;
  readonly accessLog?: (message: StreamAccessLogsMessage) => void;
  /** False while another instance could do better. Default: always true. */
  readonly isServing?: () => boolean;
}

export interface RpcServer {
  /** The bound port, or null on a Unix socket. */
  readonly port: number | null;
  /** Tells Envoy to turn to other instances and resolves once it has heard; whatever comes until then is served. */
  leave(): Promise<void>;
  /** Ends after open calls have finished, at the latest after `graceMs`: then, after `beforeCut`, those left are cut. */
  close(graceMs: number, beforeCut?: () => void): Promise<void>;
}
