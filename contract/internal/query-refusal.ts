/** Which parameters a query may have: a misspelt one is named, never ignored. */
import { type ApiError, apiError, fieldError } from '../errors.ts';

/** How many characters of an unknown name are repeated in the error. */
const longestShown = 64;

/**
 * Returns what is wrong with a query; null if it is fine. `url` is as it came, since a decoder could hide bad bytes.
 */
export function queryRefusal(url: string, taken: readonly string[]): ApiError | null {
  for (const pair of textOf(url).split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decoded(equals < 0 ? pair : pair.slice(0, equals));
    if (name === null) return apiError('invalid_request', { message: 'The query is not percent-encoded UTF-8.' });
    if (!taken.includes(name)) return unknownParameter(name, taken);
    if (equals >= 0 && decoded(pair.slice(equals + 1)) === null)
      return fieldError(name, `${name}: is not percent-encoded UTF-8.`);
  }
  return null;
}

/** The query without its question mark; a router takes a hash for its beginning as well. */
const textOf = (url: string): string => {
  const at = url.search(/[?#]/);
  return at < 0 ? '' : url.slice(at + 1);
};

/** Null: bytes that are no UTF-8, halves of surrogate pairs among them, or a percent sign that begins nothing. */
function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return null;
  }
}

function unknownParameter(name: string, taken: readonly string[]): ApiError {
  const message = `unknown parameter. This endpoint takes ${taken.length === 0 ? 'none' : taken.join(', ')}.`;
  if (/^[a-z][a-z0-9_]*$/.test(name) && name.length <= longestShown) return fieldError(name, `${name}: ${message}`);
  // The code is stable, so it holds no words of the client beyond what a name of ours could be.
  const shown = name.slice(0, longestShown).toWellFormed();
  return apiError('invalid_request', { message: `${JSON.stringify(shown)}: ${message}`, param: shown || null });
}
