/**
 * Translates a provider's failure into an error for the client.
 *
 * Invariant: nothing of a provider's reply gets out but, for its 400s, the message, redacted, and the field that it
 * names: they are about the client's own request. Its 401, 402 and 403 are our fault and never shown as the client's.
 */
import { type ApiError, apiError, fieldError } from '@gw/contract/errors';
import { dayMs } from '@gw/contract/internal/durations';
import type { OperatorFault } from '@gw/contract/internal/operator-faults';
import type { ParsedRequest } from '../port/parsed-request.ts';
import { shapeOf } from '../shapes.ts';
import { isAboutAdded } from './added-field.ts';
import { contextError } from './context-error.ts';
import { fieldBefore, longestBody, type ProviderWords, readWords } from './provider-words.ts';
import { redacted } from './redaction.ts';
import { safetyError } from './safety-error.ts';

/** The provider's name for the model, and its names for fields that it takes by other names (field → name). */
export interface ProviderNames {
  readonly model: string;
  readonly fields: Readonly<Record<string, string | null>>;
  /** The fields of the request that the gateway had added, and not the client. */
  readonly added: readonly string[];
}

/** Returns the field as the client wrote it: of several that the provider takes by one name the one that the client has given. */
function fieldOfClient(param: unknown, { outputField }: ParsedRequest, fields: ProviderNames['fields']): unknown {
  if (typeof param !== 'string') return null;
  const written = Object.keys(fields).filter((field) => fields[field] === param);
  if (outputField !== null && (outputField === param || written.includes(outputField))) return outputField;
  return written[0] ?? param;
}

/** The prefix of a message names a field of the provider's API, which a translated request may not have. */
function ownFieldBefore(message: string | null | undefined, { endpoint }: ParsedRequest): string | null {
  const field = message ? fieldBefore(message) : null;
  const isOwn = field !== null && Object.hasOwn(shapeOf(endpoint).request.schema.shape, field.replace(/[.[].*/s, ''));
  return isOwn ? field : null;
}

function rejection(words: ProviderWords | null, request: ParsedRequest, provider: ProviderNames): ApiError {
  const { message } = words ?? {};
  const param = fieldOfClient(words?.param ?? ownFieldBefore(message, request), request, provider.fields);
  const names = new Map([[provider.model, request.model]]);
  const text = message ? redacted(message, names) : null;
  if (typeof param === 'string' && /^[\w.[\]-]{1,100}$/.test(param) && redacted(param) === param)
    return fieldError(param, text ?? 'The model provider rejected this field.');
  return apiError('upstream_rejected_request', text ? { message: text } : {});
}

/** OpenAI, Azure and Gemini: with units such as `7.66s`, `6m0s` and `26 seconds`. */
const waits = [
  /"retryDelay"\s*:\s*"((?:\d[\d.]{0,9}(?:ms|[hms])){1,4})"/,
  /\b(?:try again|retry) (?:in|after) ((?:\d[\d.]{0,9} ?(?:ms|seconds?|minutes?|[hms])\b ?|\d[\d.]{0,9}[hm](?=\d)){1,4})/i,
];
const unitS: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3600 };

/** Some say in the body alone when they want to be asked again, or proxies in front of them drop the header. */
function waitIn(body: string): { readonly retryAfterS?: number } {
  const text = body.slice(0, longestBody);
  const found = waits.map((wait) => wait.exec(text)?.[1]).find((wait) => wait !== undefined);
  if (found === undefined) return {};
  let seconds = 0;
  for (const [, amount, unit = ''] of found.matchAll(/([\d.]+) ?(ms|[hms])/gi))
    seconds += Number(amount) * (unitS[unit.toLowerCase()] ?? Number.NaN);
  return Number.isNaN(seconds) ? {} : { retryAfterS: Math.min(Math.max(1, Math.ceil(seconds)), dayMs / 1000) };
}

const faults: Readonly<Record<OperatorFault, ApiError>> = {
  auth_failed: apiError('upstream_auth_failed'),
  quota_exhausted: apiError('upstream_auth_failed', {
    message: 'The account of the gateway with the model provider has no credit left. Only the operator can fix this.',
  }),
  model_missing: apiError('upstream_error', {
    message: 'The model provider does not have the model of this deployment. Only the operator can fix this.',
  }),
};

/** Returns what the client is told of a deployment that needs its operator. */
export const faultError = (fault: OperatorFault): ApiError => faults[fault];

/** Anthropic, and who has its API, names an overload by a status or a word. */
function serverError(status: number, body: string): ApiError {
  const isOverload = status === 529 || readWords(body)?.type === 'overloaded_error';
  return { ...apiError('upstream_error'), isOverload };
}

/** Statuses with which a provider refuses the request itself. */
const rejecting = new Set([400, 404, 413, 422]);
/** Further statuses with words about the request: a safety block (OpenRouter, xAI; Portkey; StepFun), and llama.cpp's 500. */
const telling = new Set([403, 446, 451, 500]);

/** Returns what the words alone tell about the request; null if they do not. `isQuoted` says whether the provider's text can be shown. */
export const toldError = (
  words: ProviderWords,
  request: ParsedRequest,
  isQuoted: boolean,
  names?: ReadonlyMap<string, string>,
): ApiError | null => safetyError(words, request, isQuoted, names) ?? contextError(words, request, isQuoted, names);

/**
 * Returns what the client is told of a provider's reply that is not a 200. The error has the client's name
 * of the model in place of the provider's, and its `param` that of the field.
 */
export function providerError(
  status: number,
  body: string,
  request: ParsedRequest,
  provider: ProviderNames = { model: '', fields: {}, added: [] },
): ApiError {
  const isRejected = rejecting.has(status);
  const words = isRejected || telling.has(status) ? readWords(body) : null;
  const told = words && toldError(words, request, isRejected, new Map([[provider.model, request.model]]));
  if (told) return told;
  // A client cannot mend what it did not send.
  if (isRejected && words && isAboutAdded(words, provider.added)) return apiError('upstream_error');
  if (isRejected) return rejection(words, request, provider);
  switch (status) {
    case 401:
    // Nothing is left on the account that the gateway has there (OpenRouter, DeepSeek).
    case 402:
    case 403:
      return apiError('upstream_auth_failed');
    case 429:
      return apiError('upstream_rate_limited', waitIn(body));
    case 408:
    case 504:
      return apiError('upstream_timeout');
    // TGI, where a generation fails.
    case 424:
      return apiError('upstream_error');
    default:
      return status >= 500 ? serverError(status, body) : apiError('upstream_invalid_response');
  }
}
