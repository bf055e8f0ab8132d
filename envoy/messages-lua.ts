/** The filter for the paths of Anthropic's API (messages.lua), and the routes that have it. */
import { readFileSync } from 'node:fs';
import { fieldErrors } from '@gw/contract/error-catalogue';
import { messagesErrorType, messagesErrorTypes } from '@gw/contract/messages-errors';
import { overwriting } from './attempt-filters.ts';
import { luaString } from './lua-string.ts';
import { perRoute } from './route-parts.ts';

/** Every path of that API begins with it, also one that the gateway does not have. */
export const messagesPath = '/v1/messages';

export const isMessages = (path: string): boolean => path === messagesPath || path.startsWith(`${messagesPath}/`);

/** Enables the filter for a route. */
export const withMessages = perRoute('messages', 'envoy.config.route.v3.FilterConfig', { config: {} });

/** The filter reads the id from the reply, where Envoy would add it behind all filters. */
export const shownRequestId = overwriting('x-request-id', '%REQ(X-REQUEST-ID)%');

export function messagesLua(templateDir: string): string {
  const types = Object.entries(messagesErrorTypes).map(([code, type]) => `${code} = ${luaString(type)}`);
  const other = messagesErrorType({ code: 'invalid_field', status: fieldErrors.invalid_field.status });
  return readFileSync(`${templateDir}/messages.lua`, 'utf8')
    .replace('@TYPES@', () => `{ ${types.join(', ')} }`)
    .replace('@OTHER@', () => luaString(other));
}
