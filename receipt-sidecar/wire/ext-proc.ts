/** Builds the answers of ext_proc, and reads the parts of its messages that the sidecar needs. */
import { errorCatalogue } from '@gw/contract/error-catalogue';
import { type ApiError, errorHeaders } from '@gw/contract/errors';
import { attemptOrderNamespace, laterHeaders } from '@gw/contract/internal/first-attempt';
import { idempotencyKeyHeader, reexecuted, reexecutedHeader } from '@gw/contract/internal/idempotency-key';
import type { IProcessingResponse, Metadata, ProcessingRequest, ProcessorCall } from '@gw/grpc/service';
import type { StoredReply } from '@gw/service/idempotency';
import { bodyPatienceS } from './threads/body-threads.ts';

export type Headers = ReadonlyMap<string, string>;

/**
 * Reads headers under lower-case names; the last value of a repeated header counts. An idempotency key that stands there
 * twice is none.
 */
export function readHeaders(message: ProcessingRequest['requestHeaders']): Headers {
  const headers = new Map<string, string>();
  for (const { key, value, rawValue } of message?.headers?.headers ?? []) {
    if (!key) continue;
    const text = rawValue && rawValue.length > 0 ? rawValue.toString('latin1') : (value ?? '');
    headers.set(key, key === idempotencyKeyHeader && headers.has(key) ? '' : text);
  }
  return headers;
}

/** Without its query. */
export const pathOf = (headers: Headers): string => (headers.get(':path') ?? '').split('?', 1)[0] ?? '';

export const requestIdOf = (headers: Headers): string | null => headers.get('x-request-id') ?? null;

/** Reads headers under lower-case names; all values of a repeated header are joined by commas. */
export function joinedHeaders(message: ProcessingRequest['requestHeaders']): Readonly<Record<string, string>> {
  const joined = new Map<string, string>();
  for (const { key, value, rawValue } of message?.headers?.headers ?? []) {
    if (!key) continue;
    const text = rawValue && rawValue.length > 0 ? rawValue.toString('latin1') : (value ?? '');
    const before = joined.get(key);
    joined.set(key, before === undefined ? text : `${before}, ${text}`);
  }
  return Object.fromEntries(joined);
}

/** Returns how often Envoy sent the request to a deployment; 0 if it never did. */
export function attemptCount(request: ProcessingRequest): number {
  return attributeOf(request, 'upstream.request_attempt_count')?.numberValue ?? 0;
}

/** Returns an attribute that Envoy tells with a message. It names the filter that asks first. */
export function attributeOf({ attributes }: ProcessingRequest, name: string) {
  for (const { fields } of Object.values(attributes ?? {})) if (fields?.[name]) return fields[name];
  return undefined;
}

const noBytes: Buffer = Buffer.alloc(0);
/** Returns the bytes of a field. An absent one is decoded as an empty array, which is no Buffer. */
export const bytesOf = (body: Buffer | undefined): Buffer => (body && body.length > 0 ? body : noBytes);

/** Numbers of the proto's enums: messages are encoded without a conversion of names. */
const overwriteIfExistsOrAdd = 2 as const;
export const bodyMode = { streamed: 1, buffered: 2 } as const;
export const headerMode = { send: 1 } as const;

/** Sets a header in place of any other of its name. `value` is Latin-1. */
export const setHeader = (key: string, value: string) => ({
  header: { key, rawValue: Buffer.from(value, 'latin1') },
  appendAction: overwriteIfExistsOrAdd,
});

/** Makes dynamic metadata `gw` for the Lua filter and the access log; each answer adds to what was set before. */
export const gwMetadata = <Fields extends Metadata>(fields: Fields) => ({ gw: fields });

/** Adds fields to the metadata `gw`. */
export const withGwFields = (metadata: Metadata, more: Metadata): Metadata => ({
  ...metadata,
  gw: { ...(metadata.gw as Metadata), ...more },
});

/** Metadata `gw` with the cluster of each attempt in the form of Envoy's priority groups, and the headers of those after the first. */
export const orderMetadata = (
  fields: Metadata,
  order: readonly string[],
  later: readonly ReturnType<typeof setHeader>[],
): Metadata => ({
  gw: {
    ...fields,
    [laterHeaders]: Object.fromEntries(
      later.map(({ header: { key, rawValue } }) => [key, rawValue.toString('latin1')]),
    ),
  },
  [attemptOrderNamespace]: {
    priority_groups: order.map((name) => ({ name, clusters: [{ cluster_name: name, weight: 1 }] })),
  },
});

/** Tells the Lua filter that the reply needs nothing more. */
export const finished = { dynamicMetadata: gwMetadata({ done: true }) };

/**
 * The same, and tells those who hear Envoy's access log of what no store has taken (a LedgerEntry as JSON; null: nothing),
 * so that it does not die with this process.
 */
export const finishedWith = (unsaved: string | null) =>
  unsaved === null ? finished : { dynamicMetadata: gwMetadata({ done: true, shown: true, unsaved }) };

/**
 * Our headers on every reply of a call that reached a provider. No cache may keep such a reply. `isRerun`: an earlier
 * call with its idempotency key may have reached one, too.
 */
export const replyHeaders = (receiptId: string, isRerun = false) => [
  setHeader('x-gw-receipt-id', receiptId),
  setHeader('cache-control', 'no-store'),
  ...(isRerun ? [setHeader(reexecutedHeader, reexecuted)] : []),
];

/** Returns the response that ends a call with the reply of an earlier one. Its body goes beside it: many may get the same. */
export const replay = ({ headers, status }: StoredReply): IProcessingResponse => ({
  immediateResponse: {
    status: { code: status as 200 },
    headers: { setHeaders: Object.entries(headers).map(([name, value]) => setHeader(name, value)) },
    details: 'gw_idempotent_replay',
  },
  // No `receipt_id`: by that Envoy knows the calls that can have reached a provider.
  ...finished,
});

/** Returns the response that ends the call with our error, before or instead of a provider's reply. */
export function immediate(
  error: ApiError,
  body: string,
  receiptId: string | null,
  isRerun = false,
): IProcessingResponse {
  return {
    immediateResponse: {
      // The enum of the proto has the number of each HTTP status as its value.
      status: { code: error.status as 400 },
      headers: {
        setHeaders: [
          ...[...errorHeaders(error)].map(([name, value]) => setHeader(name, value)),
          ...(receiptId ? replyHeaders(receiptId, isRerun) : []),
        ],
      },
      body: Buffer.from(body),
      // Into the access log: only words of our own.
      details: error.code in errorCatalogue ? `gw_${error.code}` : 'gw_invalid_field',
    },
    ...(receiptId ? { dynamicMetadata: gwMetadata({ done: true }) } : {}),
  };
}

/**
 * Has Envoy break off a reply that has begun, and the provider's with it. To the client that is a broken connection or
 * a reset stream: nothing that a processor can say ends a reply in order before the provider does.
 */
export const cutOff: IProcessingResponse = {
  immediateResponse: { status: { code: 502 }, details: 'gw_provider_goes_on' },
};

/** Asks Envoy to wait longer for the answer to this message; it obeys once for each message. */
export const wait = (seconds: number): IProcessingResponse => ({ overrideMessageTimeout: { seconds, nanos: 0 } });

/**
 * When Envoy is asked to wait longer for the word on a request: at once for a body that goes to a thread, for any other
 * after a time well within Envoy's usual patience. The wait is longer than the threads, and any step after them, may
 * take.
 */
export const slow = { afterMs: 300, waitS: bodyPatienceS } as const;

/** Answers when the receipt is safe, so that a client can read it as soon as it has its id. */
export function answerAfter(
  saved: Promise<unknown>,
  call: ProcessorCall,
  response: IProcessingResponse,
  record: { readonly unsaved: string | null },
): void {
  saved.then(() => call.answer({ ...response, ...finishedWith(record.unsaved) })).catch(call.fail);
}

/** The answers that let a message pass as it is. Frozen, so that each is encoded once. */
export const unchanged = {
  requestHeaders: Object.freeze({ requestHeaders: {} }),
  responseHeaders: Object.freeze({ responseHeaders: {} }),
  requestBody: Object.freeze({ requestBody: {} }),
  responseBody: Object.freeze({ responseBody: {} }),
} as const;

/** Answers a response chunk with other bytes, or with none: an empty `bodyMutation` would mean "unchanged". */
export const replaceChunk = (bytes: Buffer): IProcessingResponse => ({
  responseBody: { response: { bodyMutation: bytes.length > 0 ? { body: bytes } : { clearBody: true } } },
});
