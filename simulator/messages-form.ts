/** How Anthropic's API writes events and errors. */
import type { JsonReply, Reply } from './reply.ts';
import { slice } from './text.ts';

export const namedEvent = (event: { readonly type: string; readonly [name: string]: unknown }): string =>
  `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;

const types: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  529: 'overloaded_error',
};

/** Rewrites an error object of OpenAI's; other bodies stay. */
function errorForm(reply: JsonReply): JsonReply {
  const message = messageIn(reply.body);
  if (message === null) return reply;
  const type = types[reply.status] ?? 'api_error';
  return { ...reply, body: JSON.stringify({ type: 'error', error: { type, message }, request_id: 'req_simulated' }) };
}

function messageIn(body: string): string | null {
  const found = /^\{"error":\{"message":("(?:[^"\\]|\\.)*")/.exec(body)?.[1];
  return found === undefined ? null : (JSON.parse(found) as string);
}

/** Gives errors, and those within a stream, the form of this API. */
export function inMessagesForm(reply: Reply): Reply {
  if (reply.kind === 'json') return errorForm(reply);
  const tokens = slice(reply.tokens).map((event) => {
    const message = event.startsWith('data: ') ? messageIn(event.slice('data: '.length)) : null;
    return message === null ? event : namedError(message);
  });
  return { ...reply, tokens };
}

const namedError = (message: string): string => {
  const error = { type: 'overloaded_error', message };
  return `event: error\ndata: ${JSON.stringify({ type: 'error', error, request_id: null })}\n\n`;
};
