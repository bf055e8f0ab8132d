/** Requests for a message that the schema accepts, and that are refused all the same. */
import { expect, test } from 'vitest';
import { parseRequest } from '../parse.ts';

const ask = { model: 'm', max_tokens: 8, messages: [{ role: 'user', content: 'Hello' }] };
function problemOf(fields: object) {
  const parsed = parseRequest('messages', Buffer.from(JSON.stringify({ ...ask, ...fields })));
  return parsed.ok ? null : [parsed.error.code, parsed.error.param];
}

test.each([
  ['thread', { thread: { type: 'create' } }],
  ['billing_policy', { billing_policy: { type: 'billing_policy', bill_to: 'user_profile' } }],
  ['fallback_credit_token', { fallback_credit_token: 't' }],
  ['fallbacks', { fallbacks: 'default' }],
  [
    'messages[0].content[0]',
    { messages: [{ role: 'user', content: [{ type: 'tool_addition', tool: { type: 'web_search_20250305' } }] }] },
  ],
])('%s asks for what is kept or run at the provider', (param, fields) => {
  expect(problemOf(fields)).toEqual(['unsupported_field', param]);
  expect(problemOf({ thread: null })).toBeNull();
});
