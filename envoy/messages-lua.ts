/** The filter for the paths of Anthropic's API (anthropic.lua), and the routes that have it. */
import { readFileSync } from 'node:fs';
import { fieldErrors } from '@gw/contract/error-catalogue';
import { messagesErrorType, messagesErrorTypes } from '@gw/contract/messages-errors';
import { overwriting } from './attempt-filters.ts';
import { luaString } from './lua-string.ts';
import { perRoute } from './route-parts.ts';

/** Enables the filter for a route. */
export const withMessages = perRoute('anthropic', 'envoy.config.route.v3.FilterConfig', { config: {} });

/** The filter reads the id from the reply, where Envoy would add it behind all filters. */
export const shownRequestId = overwriting('x-request-id', '%REQ(X-REQUEST-ID)%');

export function messagesLua(templateDir: string): string {
  const types = Object.entries(messagesErrorTypes).map(([code, type]) => `${code} = ${luaString(type)}`);
  const other = messagesErrorType({ code: 'invalid_field', status: fieldErrors.invalid_field.status });
  return readFileSync(`${templateDir}/anthropic.lua`, 'utf8')
    .replace('@TYPES@', () => `{ ${types.join(', ')} }`)
    .replace('@OTHER@', () => luaString(other));
}
