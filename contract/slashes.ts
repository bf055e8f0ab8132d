/** Paths with extra slashes, which joining a base URL and a path makes easily. */
import { type ApiError, apiError } from './errors.ts';

/** Returns the source of a regular expression for a path that has slashes at its end, or several for one. `pattern` is that of the path itself. */
export const withMoreSlashes = (pattern: string): string => `${pattern.replaceAll('/', '/+')}/*`;

/** The refusal of such a path, which names the right one. */
export const slashError = (path: string): ApiError =>
  apiError('unknown_endpoint', {
    message: `There is no such endpoint: the path has an extra slash. Use ${path}.`,
  });
