/**
 * How a provider's refusal shows that it is about a field of the body, and does not merely use the word: in Envoy, which then asks again
 * without a field that the gateway has added, and in the sidecar, which then does not blame the client. All in lower case.
 */

/** A path to a field of the body can begin with these. */
export const bodyRoots: readonly string[] = ['body', 'request', 'chatcompletionrequest', 'completionrequest', '$'];

/** Parts of the request that the client sends alone. A field that is named behind one of them lies within it. */
export const clientParts: readonly string[] = [
  'for function',
  'functions',
  'tool',
  'tools',
  'tool_calls',
  'messages',
  'response_format',
  'json_schema',
];

/** A name that is an ordinary word, too, is one of a field where it is in quotes, begins a line or a list, or stands beside one of these. */
export const wordsBeforeField: readonly string[] = [
  ...['parameter', 'parameters', 'param', 'params', 'field', 'fields', 'argument', 'arguments', 'property'],
  ...['attribute', 'key', 'keys', 'option', 'options', 'setting', 'name'],
  ...['support', 'supports', 'unsupported', 'unknown', 'unrecognized', 'unexpected', 'invalid', 'extra', 'custom'],
  ...['default', 'and', 'or', 'with', 'without', 'both', 'specify', 'set', 'remove', 'omit', 'changing'],
];
export const wordsBehindField: readonly string[] = [
  ...['parameter', 'param', 'field', 'argument', 'option', 'setting', 'value', 'values', 'and', 'or', 'not'],
  ...['is', 'isn', 'was', 'are', 'must', 'should', 'can', 'cannot', 'does', 'doesn', 'has'],
];
