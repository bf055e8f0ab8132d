/**
 * Envoy's services as gRPC methods with messages in bytes, independent of the server implementation.
 *
 * Invariants: a handler that throws ends only its own call; a processor is closed exactly once.
 */
import { leasePath, leaseText, readLeaseQuestion } from '@gw/contract/internal/lease';
import type { InternalCertificates } from '@gw/service/certificates';
import { logBodies } from './log-bodies.ts';
import { bodyOpening, type Codec, codec } from './messages.ts';
import type {
  CheckRequest,
  EnvoyServices,
  GrantLease,
  ICheckResponse,
  IProcessingResponse,
  IRateLimitResponse,
  OpenProcessor,
  ProcessingRequest,
  RateLimitRequest,
  StreamAccessLogsMessage,
} from './service.ts';

/** A call of a bidirectional method, for its handler. */
export interface BidirectionalCall {
  /** Sends a message in parts, of which all but the first may be large. */
  send(parts: readonly Uint8Array[]): void;
  /** Resets the call. */
  breakOff(): void;
}

interface BidirectionalHandler {
  message(bytes: Buffer): void;
  /** A large message has begun to arrive. */
  coming(): void;
  close(): void;
}

/** `answer` rejects after it has reported the error; `take` and handlers of bidirectional calls never throw. */
export type Method =
  | { readonly kind: 'unary'; readonly answer: (message: Buffer, isGone: () => boolean) => Promise<Uint8Array> }
  | { readonly kind: 'client-stream'; readonly take: (message: Buffer) => void }
  | { readonly kind: 'bidirectional'; readonly open: (call: BidirectionalCall) => BidirectionalHandler };

export interface ServerOptions {
  /** `unix:/path` or `host:port`. */
  readonly listen: string;
  /** Mutual TLS; null: plain. */
  readonly tls: InternalCertificates | null;
  /** Creates the check of the internal token for a connection or a call. */
  readonly tokenCheck: () => (sent: string | undefined) => boolean;
  readonly methods: ReadonlyMap<string, Method>;
  readonly connectionEnded?: (() => void) | undefined;
}

export interface GrpcServer {
  /** The bound port, or null on a Unix socket. */
  readonly port: number | null;
  /** Accepts no more calls, and resolves when the open ones have ended. */
  drain(): Promise<void>;
  /** Aborts open calls. */
  cut(): void;
}

type OnError = (error: unknown) => void;

/** Counts open calls. Streams of Envoy's access log do not count: they stay open as long as Envoy runs, and may be aborted. */
export class OpenCalls {
  #open = 0;
  #whenNone: (() => void) | null = null;

  get open(): number {
    return this.#open;
  }

  begin(): void {
    this.#open += 1;
  }

  end(): void {
    this.#open -= 1;
    if (this.#open === 0) this.#whenNone?.();
  }

  /** Resolves when there are none. Supports one caller. */
  none(): Promise<void> {
    if (this.#open === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#whenNone = resolve;
    });
  }
}

function unary<Request, Response>(
  types: Codec<Request, Response>,
  handle: (request: Request, isGone: () => boolean) => Promise<Response>,
  onError: OnError,
  calls: OpenCalls,
): Method {
  const answer = async (message: Buffer, isGone: () => boolean) => {
    calls.begin();
    try {
      return types.encode(await handle(types.decode(message), isGone));
    } catch (error) {
      onError(error);
      throw error;
    } finally {
      calls.end();
    }
  };
  return { kind: 'unary', answer };
}

function clientStream<Message>(
  types: Codec<Message, object>,
  handle: (message: Message) => void,
  onError: OnError,
): Method {
  const take = (message: Buffer) => {
    try {
      handle(types.decode(message));
    } catch (error) {
      onError(error);
    }
  };
  return { kind: 'client-stream', take };
}

/** Encodes frozen messages only once, such as the answer to most events of a stream. */
function encodeOnce<Message extends object>(
  encode: (message: Message) => Uint8Array,
): (message: Message) => Uint8Array {
  const encoded = new WeakMap<Message, Uint8Array>();
  return (message) => {
    if (!Object.isFrozen(message)) return encode(message);
    let bytes = encoded.get(message);
    if (bytes === undefined) {
      bytes = Uint8Array.from(encode(message));
      encoded.set(message, bytes);
    }
    return bytes;
  };
}

function processing(
  types: Codec<ProcessingRequest, IProcessingResponse>,
  openProcessor: OpenProcessor,
  onError: OnError,
  calls: OpenCalls,
): Method {
  const encode = encodeOnce(types.encode);
  const open = ({ send, breakOff }: BidirectionalCall) => {
    let isOpen = true;
    const close = () => {
      if (!isOpen) return;
      isOpen = false;
      calls.end();
      processor.close();
    };
    const fail = (error: unknown) => {
      onError(error);
      close();
      breakOff();
    };
    const guarded = (step: () => void) => {
      if (!isOpen) return;
      try {
        step();
      } catch (error) {
        fail(error);
      }
    };
    const answer = (response: IProcessingResponse, body: readonly Buffer[] = []) =>
      send(withBody(encode(response), response, body));
    const processor = openProcessor({ answer, fail });
    calls.begin();
    return {
      message: (bytes: Buffer) => guarded(() => processor.message(types.decode(bytes))),
      coming: () => guarded(() => processor.coming?.()),
      close,
    };
  };
  return { kind: 'bidirectional', open };
}

function withBody(message: Uint8Array, response: IProcessingResponse, body: readonly Buffer[]): readonly Uint8Array[] {
  if (body.length === 0) return [message];
  const length = body.reduce((sum, part) => sum + part.length, 0);
  return [Buffer.concat([message, bodyOpening(response, length)]), ...body];
}

export const healthPath = '/grpc.health.v1.Health/Check';

/**
 * grpc.health.v1.Health/Check: whether Envoy should send calls to this instance. NOT_SERVING only means to prefer others: without any
 * serving instance Envoy calls it anyway, so a service reports it as soon as another instance could do better.
 *
 * A process serves as a whole, so the requested name is ignored. The only field of the answer is `status`: SERVING is 1, NOT_SERVING 2.
 * It requires the internal token like every method, and Envoy's checks send it (`initial_metadata` in envoy.template.yaml).
 */
const health = (isServing: () => boolean, onError: OnError): Method => ({
  kind: 'unary',
  answer: async () => {
    try {
      return Uint8Array.of(0x08, isServing() ? 1 : 2);
    } catch (error) {
      onError(error);
      throw error;
    }
  },
});

/** Lines of text instead of protobuf. */
const leaseCodec: Codec<Parameters<GrantLease>[0], Awaited<ReturnType<GrantLease>>> = {
  decode: (bytes) => readLeaseQuestion(bytes.toString()),
  encode: (lease) => Buffer.from(leaseText(lease)),
};

/** Its reply is empty: all were taken. */
const logTextCodec: Codec<readonly string[], null> = { decode: logBodies, encode: () => new Uint8Array(0) };

/** Returns the methods by path. */
export function methodsOf(
  { check, grantLease, shouldRateLimit, openProcessor, accessLog, logTexts }: EnvoyServices,
  isServing: () => boolean,
  onError: OnError,
  calls: OpenCalls,
): ReadonlyMap<string, Method> {
  const methods = new Map<string, Method>([[healthPath, health(isServing, onError)]]);
  if (check) {
    const types = codec<CheckRequest, ICheckResponse>('envoy.service.auth.v3', 'CheckRequest', 'CheckResponse');
    methods.set('/envoy.service.auth.v3.Authorization/Check', unary(types, check, onError, calls));
  }
  if (grantLease) methods.set(leasePath, unary(leaseCodec, grantLease, onError, calls));
  if (shouldRateLimit) {
    const name = 'envoy.service.ratelimit.v3';
    const types = codec<RateLimitRequest, IRateLimitResponse>(name, 'RateLimitRequest', 'RateLimitResponse');
    methods.set(`/${name}.RateLimitService/ShouldRateLimit`, unary(types, shouldRateLimit, onError, calls));
  }
  if (openProcessor) {
    const name = 'envoy.service.ext_proc.v3';
    const types = codec<ProcessingRequest, IProcessingResponse>(name, 'ProcessingRequest', 'ProcessingResponse');
    methods.set(`/${name}.ExternalProcessor/Process`, processing(types, openProcessor, onError, calls));
  }
  if (accessLog) {
    const name = 'envoy.service.accesslog.v3';
    const types = codec<StreamAccessLogsMessage, object>(name, 'StreamAccessLogsMessage', 'StreamAccessLogsResponse');
    methods.set(`/${name}.AccessLogService/StreamAccessLogs`, clientStream(types, accessLog, onError));
  }
  if (logTexts) {
    const take = async (texts: readonly string[]) => {
      logTexts(texts);
      return null;
    };
    const path = '/opentelemetry.proto.collector.logs.v1.LogsService/Export';
    methods.set(path, unary(logTextCodec, take, onError, calls));
  }
  return methods;
}
