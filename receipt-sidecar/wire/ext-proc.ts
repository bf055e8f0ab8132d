/** Builds the answers of ext_proc and reads its messages. */
import { errorCatalogue } from '@gw/contract/error-catalogue';
import { type ApiError, errorHeaders } from '@gw/contract/errors';
import { elementAt } from '@gw/contract/internal/defined';
import { attemptOrderNamespace, laterHeaders, notRepeatedHeader } from '@gw/contract/internal/first-attempt';
import { idempotencyKeyHeader, reexecuted, reexecutedHeader } from '@gw/contract/internal/idempotency-key';
import { replyOver } from '@gw/contract/internal/reply-end';
import type { IProcessingResponse, Metadata, ProcessingRequest, ProcessorCall } from '@gw/grpc/service';
import type { StoredReply } from '@gw/service/idempotency';
import { bodyPatienceS } from './threads/body-threads.ts';

export type Headers = ReadonlyMap<string, string>;

type HeaderValue = NonNullable<
  NonNullable<NonNullable<ProcessingRequest['requestHeaders']>['headers']>['headers']
>[number];
const textOf = ({ rawValue, value }: HeaderValue): string =>
  rawValue && rawValue.length > 0 ? rawValue.toString('latin1') : (value ?? '');

/** Reads headers under lower-case names; the last value of a repeated header counts. A repeated idempotency key becomes ''. */
export function readHeaders(message: ProcessingRequest['requestHeaders']): Headers {
  const headers = new Map<string, string>();
  for (const header of message?.headers?.headers ?? []) {
    const { key } = header;
    if (key) headers.set(key, key === idempotencyKeyHeader && headers.has(key) ? '' : textOf(header));
  }
  return headers;
}

/** Returns the path without its query. */
export const pathOf = (headers: Headers): string => elementAt((headers.get(':path') ?? '').split('?', 1), 0);

export const requestIdOf = (headers: Headers): string | null => headers.get('x-request-id') ?? null;

/** Reads headers under lower-case names; all values of a repeated header are joined by commas. */
export function joinedHeaders(message: ProcessingRequest['requestHeaders']): Readonly<Record<string, string>> {
  const joined = new Map<string, string>();
  for (const header of message?.headers?.headers ?? []) {
    const { key } = header;
    if (!key) continue;
    const before = joined.get(key);
    joined.set(key, before === undefined ? textOf(header) : `${before}, ${textOf(header)}`);
  }
  return Object.fromEntries(joined);
}

/** Returns how often Envoy sent the request to a deployment; 0 if it never did. `headers`: of the reply. */
export function attemptCount(request: ProcessingRequest, headers: Headers): number {
  const count = attributeOf(request, 'upstream.request_attempt_count')?.numberValue ?? 0;
  return headers.has(notRepeatedHeader) ? count - 1 : count;
}

/** Returns an attribute that Envoy sends with a message, under the name of the filter that requested it. */
export function attributeOf({ attributes }: ProcessingRequest, name: string) {
  for (const { fields } of Object.values(attributes ?? {})) if (fields?.[name]) return fields[name];
  return undefined;
}

const noBytes: Buffer = Buffer.alloc(0);
/** Returns the bytes of a field. An absent one is decoded as an empty array, which is no Buffer. */
export const bytesOf = (body: Buffer | undefined): Buffer => (body && body.length > 0 ? body : noBytes);

// Values of the proto's enums, since messages are encoded without converting names.
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

export const withGwFields = (metadata: Metadata, more: Metadata): Metadata => ({
  ...metadata,
  gw: { ...(metadata.gw as Metadata), ...more },
});

/** Makes metadata with the cluster of each attempt as Envoy's priority groups, and with the headers of the later attempts. */
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

/** Tells the Lua filter that the reply is complete. */
export const finished = { dynamicMetadata: gwMetadata({ done: true }) };

/** Like `finished`, of a call that no provider took: it makes no receipt, so ext-authz does not count it (docs/decisions/0067). */
export const notAsked = { dynamicMetadata: gwMetadata({ done: true, not_asked: true }) };

/**
 * Like `finished`. `unsaved` (a sealed entry, or null) is a receipt that no store has taken; it goes to the readers of Envoy's access
 * log, so that it survives this process.
 */
export const finishedWith = (unsaved: Buffer | null) =>
  unsaved === null
    ? finished
    : { dynamicMetadata: gwMetadata({ done: true, shown: true, unsaved: unsaved.toString('base64') }) };

/** Like `finishedWith`, with the last that the client gets of a reply that its provider has not ended. */
export const overWith = (unsaved: Buffer | null) => ({
  dynamicMetadata: gwMetadata({ ...finishedWith(unsaved).dynamicMetadata.gw, ...replyOver }),
});

/**
 * Makes our headers for the reply of a call that reached a provider, which no cache may keep. `isRerun`: an earlier call with the same
 * idempotency key may have reached a provider too.
 */
export const replyHeaders = (receiptId: string, isRerun = false) => [
  setHeader('x-gw-receipt-id', receiptId),
  setHeader('cache-control', 'no-store'),
  ...(isRerun ? [setHeader(reexecutedHeader, reexecuted)] : []),
];

/** Ends a call with the reply of an earlier one. The body is passed separately, since many calls may get the same. */
export const replay = ({ headers, status }: StoredReply): IProcessingResponse => ({
  immediateResponse: {
    status: { code: status as 200 },
    headers: { setHeaders: Object.entries(headers).map(([name, value]) => setHeader(name, value)) },
    details: 'gw_idempotent_replay',
  },
  // It has no `receipt_id`, by which Envoy recognises calls that may have reached a provider.
  ...finished,
});

/** Ends the call with the JSON `body`, without a provider's reply. */
export const answerWith = (body: string): IProcessingResponse => ({
  immediateResponse: {
    status: { code: 200 },
    headers: { setHeaders: [setHeader('content-type', 'application/json'), setHeader('cache-control', 'no-store')] },
    body: Buffer.from(body),
    details: 'gw_counted',
  },
  ...finished,
});

/** Ends the call with our error, before or instead of a provider's reply. */
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
      // The access log gets only words of our own.
      details: error.code in errorCatalogue ? `gw_${error.code}` : 'gw_invalid_field',
    },
    ...(receiptId ? { dynamicMetadata: gwMetadata({ done: true }) } : {}),
  };
}

/**
 * Makes Envoy break off a reply that has begun, and the provider's with it. The client sees a broken connection or a reset stream: a processor
 * cannot end a reply in order before the provider does. The filter that can (`overWith`) is not there on each machine.
 */
export const cutOff: IProcessingResponse = {
  immediateResponse: { status: { code: 502 }, details: 'gw_provider_goes_on' },
};

/** Asks Envoy to wait longer for the answer to a message, which it does once for each message. */
export const wait = (seconds: number): IProcessingResponse => ({ overrideMessageTimeout: { seconds, nanos: 0 } });

/**
 * Envoy is asked to wait `waitS`, which is longer than the threads and all later steps may take: at once for a body that is read on a thread,
 * and otherwise after `afterMs`, which is well within Envoy's usual patience.
 */
export const slow = { afterMs: 300, waitS: bodyPatienceS } as const;

/** Answers after the receipt is saved, so that a client can read it as soon as it has the id. */
export function answerAfter(
  saved: Promise<unknown>,
  call: ProcessorCall,
  response: IProcessingResponse,
  record: { readonly unsaved: Buffer | null },
): void {
  saved.then(() => call.answer({ ...response, ...finishedWith(record.unsaved) })).catch(call.fail);
}

/** Answers that leave a message unchanged. They are frozen, so that each is encoded only once. */
export const unchanged = {
  requestHeaders: Object.freeze({ requestHeaders: {} }),
  responseHeaders: Object.freeze({ responseHeaders: {} }),
  requestBody: Object.freeze({ requestBody: {} }),
  responseBody: Object.freeze({ responseBody: {} }),
} as const;

/** Replaces a response chunk by other bytes, or by none: an empty `bodyMutation` would mean "unchanged". */
export const replaceChunk = (bytes: Buffer): IProcessingResponse => ({
  responseBody: { response: { bodyMutation: bytes.length > 0 ? { body: bytes } : { clearBody: true } } },
});
