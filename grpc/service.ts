/**
 * The services that Envoy calls, as plain functions that are independent of the transport.
 *
 * Invariant: a handler answers every message or throws; a throw becomes an INTERNAL status, never a hang.
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

/** Metadata are plain values, unlike in protobufjs, which has them in `fields`. */
type WithMetadata<Answer> = Omit<Answer, 'dynamicMetadata'> & {
  dynamicMetadata?: (Metadata & { readonly fields?: never }) | null;
};
export type ICheckResponse = WithMetadata<CheckAnswer>;
export type IProcessingResponse = WithMetadata<ProcessingAnswer>;
export type IRateLimitResponse = WithMetadata<RateLimitAnswer>;

/** Answers an ext_authz check. `isGone`: whether Envoy has stopped waiting for the answer. */
export type Check = (request: CheckRequest, isGone?: () => boolean) => Promise<ICheckResponse>;
/** Grants a lease to a key, or null. */
export type GrantLease = (question: LeaseQuestion) => Promise<Lease | null>;
/** Decides whether the limits of a call allow it. */
export type ShouldRateLimit = (request: RateLimitRequest, isGone?: () => boolean) => Promise<IRateLimitResponse>;

/** Handles one HTTP call of ext_proc, and answers Envoy's messages in order. */
export interface Processor {
  /** Takes a message. */
  message(request: ProcessingRequest): void;
  /** A large message has begun to arrive. Envoy's time-out runs from its first byte. */
  coming?(): void;
  /** Ends the call, because it has finished or one side has left. Called exactly once. */
  close(): void;
}
export interface ProcessorCall {
  /** Sends a response. `body` is for its body mutation or immediate response, in parts that are not copied. */
  answer(response: IProcessingResponse, body?: readonly Buffer[]): void;
  /** Reports an error outside `message`. Envoy continues without us. */
  fail(error: unknown): void;
}
export type OpenProcessor = (call: ProcessorCall) => Processor;

/** The services of a listener; Envoy gets UNIMPLEMENTED for the others. */
export interface EnvoyServices {
  readonly check?: Check;
  readonly grantLease?: GrantLease;
  readonly shouldRateLimit?: ShouldRateLimit;
  readonly openProcessor?: OpenProcessor;
  readonly accessLog?: (message: StreamAccessLogsMessage) => void;
  /** Takes the texts of a logger that sends only a text for each call. */
  readonly logTexts?: (texts: readonly string[]) => void;
  /**
   * Called when a connection has ended that has shown the internal token: what was under way on it may be lost. `GW_GRPC_SERVER=grpc-js` does
   * not call it.
   */
  readonly connectionEnded?: () => void;
  /** Returns false while another instance can do better. Default: true. */
  readonly isServing?: () => boolean;
}

export interface RpcServer {
  /** The bound port, or null on a Unix socket. */
  readonly port: number | null;
  /** Tells Envoy to use other instances, and resolves when Envoy knows it. Calls until then are served. */
  leave(): Promise<void>;
  /**
   * Accepts no more calls, and resolves when the open ones have finished and Envoy has reported how they ended. After `graceMs`, or when
   * `hurry` is aborted, it aborts the remaining calls.
   */
  close(graceMs: number, options?: CloseOptions): Promise<void>;
}

export interface CloseOptions {
  /** Called before open calls are aborted. */
  readonly beforeCut?: () => void;
  readonly hurry?: AbortSignal | undefined;
}
