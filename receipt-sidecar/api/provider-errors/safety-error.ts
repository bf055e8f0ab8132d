/**
 * The words in which providers say that a safety filter blocked the request or the answer to it, as one code.
 *
 * Invariant: such a refusal is about the content that the client sent, so nothing is tried again and no deployment rests because of it.
 */
import { type ApiError, apiError } from '@gw/contract/errors';
import { safetyCodes, safetyPhrases } from '@gw/contract/internal/safety-words';
import { isPromptBlocked } from '../openai/blocked-prompt.ts';
import type { ParsedRequest } from '../port/parsed-request.ts';
import { shapeOf } from '../shapes.ts';
import type { ProviderWords } from './provider-words.ts';
import { redacted } from './redaction.ts';

const codes = new Set(safetyCodes);
/** How many characters of a provider's text are looked at. */
const longestText = 2000;

const isSafetyCode = (value: unknown): boolean =>
  (typeof value === 'string' || typeof value === 'number') && codes.has(String(value).toLowerCase());

/** Azure's own reason, where the code of the error is only a status. */
const innerCode = (inner: unknown): unknown =>
  inner !== null && typeof inner === 'object' && 'code' in inner ? inner.code : undefined;

/** Returns null if the provider says something else. `isQuoted` says whether its text can be shown. */
export function safetyError(
  words: ProviderWords,
  request: ParsedRequest,
  isQuoted: boolean,
  names?: ReadonlyMap<string, string>,
): ApiError | null {
  const { code, fields, message, type } = words;
  const text = message?.slice(0, longestText);
  const lower = text?.toLowerCase();
  const isSafety =
    [code, type, fields.status, fields.reason, fields.error, innerCode(fields.innererror)].some(isSafetyCode) ||
    safetyPhrases.some((phrase) => lower?.includes(phrase)) ||
    isPromptBlocked(fields);
  if (!isSafety) return null;
  const shown = isQuoted && text !== undefined ? redacted(text, names) : null;
  const param = shapeOf(request.endpoint).request.promptField;
  return apiError('content_filter', { param, ...(shown !== null && { message: shown }) });
}
