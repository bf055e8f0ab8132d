/**
 * The services that Envoy calls, as plain functions. Handlers do not know which transport carries them.
 *
 * Invariant: a handler answers every message it is given, or throws; a throw becomes an INTERNAL status, never a hang.
 */

import type { Lease, LeaseQuestion } from '@gw/contract/internal/lease';
import type { StreamAccessLogsMessage } from './generated/envoy/service/accesslog/v3/StreamAccessLogsMessage.ts';
import type { CheckRequest } from './generated/envoy/service/auth/v3/CheckRequest.ts';
import type { ICheckResponse as CheckAnswer } from './generated/envoy/service/auth/v3/CheckResponse.ts';
import type { ProcessingRequest } from './generated/envoy/service/ext_proc/v3/ProcessingRequest.ts';
import type { IProcessingResponse as ProcessingAnswer } from './generated/envoy/service/ext_proc/v3/ProcessingResponse.ts';
import type { RateLimitRequest } from './generated/envoy/service/ratelimit/v3/RateLimitRequest.ts';
import type { IRateLimitResponse as RateLimitAnswer } from './generated/envoy/service/ratelimit/v3/RateLimitResponse.ts';
import type { Metadata } from './own-types.ts';

export type { Metadata } from './own-types.ts';
export type { CheckRequest, ProcessingRequest, RateLimitRequest, StreamAccessLogsMessage };

/** Metadata is given as plain values, and not as protobufjs has them, below `fields`. */
type WithMetadata<Answer> = Omit<Answer, 'dynamicMetadata'> & {
  dynamicMetadata?: (Metadata & { readonly fields?: never }) | null;
};
export type ICheckResponse = WithMetadata<CheckAnswer>;
export type IProcessingResponse = WithMetadata<ProcessingAnswer>;
export type IRateLimitResponse = WithMetadata<RateLimitAnswer>;

/** Decides a call of ext_authz: whether it passes, and as whom. `isGone`: whether Envoy has given up waiting for the answer. */
export type Check = (request: CheckRequest, isGone?: () => boolean) => Promise<ICheckResponse>;
/** Decides whether a key may have some calls without a question about each; null: it may not. */
export type GrantLease = (question: LeaseQuestion) => Promise<Lease | null>;
/** Decides a call of ratelimit: whether its limits allow it. */
export type ShouldRateLimit = (request: RateLimitRequest, isGone?: () => boolean) => Promise<IRateLimitResponse>;

/** Handles one HTTP call of ext_proc: it gets Envoy's messages and answers them in the same order. */
export interface Processor {
  /** Takes a message. Only the first one has its `metadataContext`, which an Envoy of the release before sends with each. */
  message(request: ProcessingRequest): void;
  /** Says that a large message has begun to arrive. Envoy's timeout runs from its first byte. */
  coming?(): void;
  /** Ends the call, because it has finished or one side has gone. It is called exactly once. */
  close(): void;
}
/** Answers Envoy for one call of a processor. */
export interface ProcessorCall {
  /** Sends a response. `body` is the new body for its body mutation, or that of an immediate response, in parts, which are not copied. */
  answer(response: IProcessingResponse, body?: readonly Buffer[]): void;
  /** Reports an error that happened outside of `message`. Envoy goes on without us. */
  fail(error: unknown): void;
}
/** Opens a processor for one HTTP call. */
export type OpenProcessor = (call: ProcessorCall) => Processor;

/** The services that one listener offers; Envoy gets UNIMPLEMENTED for those that are absent. */
export interface EnvoyServices {
  readonly check?: Check;
  readonly grantLease?: GrantLease;
  readonly shouldRateLimit?: ShouldRateLimit;
  readonly openProcessor?: OpenProcessor;
  readonly accessLog?: (message: StreamAccessLogsMessage) => void;
  /** Returns false while another instance can do better. By default it is always true. */
  readonly isServing?: () => boolean;
}

export interface RpcServer {
  /** The bound port, or null on a Unix socket. */
  readonly port: number | null;
  /** Tells Envoy to use other instances, and resolves when Envoy has heard it. Calls that come until then are served. */
  leave(): Promise<void>;
  /**
   * Takes no more calls, and resolves when those that are open have finished and Envoy could say how the last ones ended.
   * After `graceMs`, or as soon as `hurry` is aborted, the calls that are left are cut.
   */
  close(graceMs: number, options?: CloseOptions): Promise<void>;
}

export interface CloseOptions {
  /** Called before open calls are cut. */
  readonly beforeCut?: () => void;
  readonly hurry?: AbortSignal | undefined;
}
