/** Replies as plain values, so that faults can change and tests can read them. */
import { type EnergyReport, noEnergy } from './energy.ts';
import type { Listed } from './text.ts';

/** A header with several values is repeated. */
export type ReplyHeaders = Readonly<Record<string, string | string[]>>;

export interface JsonReply {
  readonly kind: 'json';
  readonly status: number;
  /** JSON, unless a fault has changed it. */
  readonly body: string;
  readonly contentType: string;
  readonly headers: ReplyHeaders;
  readonly completionTokens: number;
}

/** Each string is a complete event or comment with its blank line. */
export interface StreamReply {
  readonly kind: 'stream';
  readonly headers: ReplyHeaders;
  /** Sent immediately after the response headers. */
  readonly head: readonly string[];
  /** Sent one by one at the pace of the stream. */
  readonly tokens: Listed<string>;
  /** Sent together with the last token. */
  readonly tail: readonly string[];
  /** The events by which the API says that it has failed, by the faults of these names; absent: it says it as chat does. */
  readonly failures?: Readonly<Record<'error-event' | 'failed-event', string>>;
  /** Default pace. */
  readonly tokensPerSecond: number;
  readonly firstTokenMs: number;
}

export type Reply = JsonReply | StreamReply;

export const jsonReply = (body: unknown, completionTokens = 0): JsonReply => ({
  kind: 'json',
  status: 200,
  body: typeof body === 'string' ? body : JSON.stringify(body),
  contentType: 'application/json',
  headers: {},
  completionTokens,
});

export const sse = (json: string): string => `data: ${json}\n\n`;
/** Adds fields at the end of the event's object. */
export function withFields(event: string, fields: object): string {
  const more = JSON.stringify(fields);
  return more === '{}' ? event : `${event.slice(0, -3)},${more.slice(1)}\n\n`;
}

/** Adds the energy to a reply; a field that is stated twice appears twice. */
export function withEnergy(reply: JsonReply, energy: EnergyReport): JsonReply {
  if (energy === noEnergy) return reply;
  const { earlyFields, fields, headers } = energy;
  const early = JSON.stringify(earlyFields).slice(1, -1);
  const late = JSON.stringify(fields).slice(1, -1);
  const parts = [early, reply.body.slice(1, -1), late].filter((part) => part !== '');
  return { ...reply, headers: { ...reply.headers, ...headers }, body: `{${parts.join(',')}}` };
}

export const DONE = 'data: [DONE]\n\n';

const errorTypes: Record<number, readonly [type: string, code: string | null]> = {
  400: ['invalid_request_error', 'invalid_value'],
  401: ['invalid_request_error', 'invalid_api_key'],
  403: ['invalid_request_error', 'forbidden'],
  404: ['invalid_request_error', 'model_not_found'],
  405: ['invalid_request_error', 'method_not_allowed'],
  413: ['invalid_request_error', 'request_too_large'],
  422: ['invalid_request_error', 'unprocessable'],
  429: ['requests', 'rate_limit_exceeded'],
  500: ['server_error', null],
  503: ['server_error', 'overloaded'],
  529: ['server_error', 'overloaded'],
};

/** OpenAI's error object: `{"error":{message,type,param,code}}`. */
export function errorReply(status: number, message: string, param: string | null = null): JsonReply {
  const [type, code] = errorTypes[status] ?? ['server_error', null];
  return { ...jsonReply({ error: { message, type, param, code } }), status };
}
