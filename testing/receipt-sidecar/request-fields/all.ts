/**
 * Lists every field that a request of each API has, with values that are accepted, and values that are refused with the code and path of
 * their error. Tests of the sidecar and of the whole gateway use it.
 */
import { anthropicFields } from './anthropic.ts';
import { chatFields } from './chat.ts';
import type { Endpoint, Field } from './field.ts';
import { responseFields } from './responses.ts';
import { samplingFields } from './sampling.ts';
import { toolFields } from './tools.ts';

export const fields: readonly [string, Field][] = [
  ...samplingFields,
  ...chatFields,
  ...toolFields,
  ...responseFields,
  ...anthropicFields,
];

/** Fields that are valid separately but not together; `param` is the one that the error names. */
export const contradictions: readonly (readonly [endpoint: Endpoint, fields: object, param: string])[] = [
  ['chat', { stream_options: { include_usage: true } }, 'stream_options'],
  ['completions', { stream_options: {}, stream: false }, 'stream_options'],
  ['chat', { max_tokens: 5, max_completion_tokens: 5 }, 'max_tokens'],
  ['chat', { top_logprobs: 1 }, 'top_logprobs'],
  ['chat', { top_logprobs: 1, logprobs: false }, 'top_logprobs'],
  ['chat', { tool_choice: 'required' }, 'tool_choice'],
  ['chat', { tool_choice: { type: 'function', function: { name: 'f' } } }, 'tool_choice'],
  ['chat', { function_call: { name: 'f' } }, 'function_call'],
  ['completions', { best_of: 2, n: 3 }, 'best_of'],
  ['completions', { best_of: 2, stream: true }, 'best_of'],
];

/** Combinations that look like contradictions but are valid. */
export const harmonies: readonly (readonly [endpoint: Endpoint, fields: object])[] = [
  ['chat', { stream: true, n: 3 }],
  ['chat', { stream_options: null, stream: false }],
  ['chat', { max_tokens: null, max_completion_tokens: 5 }],
  ['chat', { top_logprobs: 0 }],
  ['chat', { tool_choice: 'auto' }],
  ['chat', { tool_choice: 'none', tools: [] }],
  ['completions', { best_of: 3, n: 3, stream: true }],
  ['completions', { best_of: 3 }],
  ['completions', { best_of: null, n: 3 }],
];

/** The smallest body that each endpoint accepts. */
export const leastBody: Readonly<Record<Endpoint, Readonly<Record<string, unknown>>>> = {
  chat: { model: 'sim-small', messages: [{ role: 'user', content: 'hi' }] },
  completions: { model: 'sim-small', prompt: 'hi' },
  embeddings: { model: 'sim-embed', input: 'hi' },
  responses: { model: 'sim-small', input: 'hi' },
  messages: { model: 'sim-small', max_tokens: 8, messages: [{ role: 'user', content: 'hi' }] },
};
