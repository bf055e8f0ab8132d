/** Sampler parameters, and all fields of text completions and embeddings. */
import { both, chat, count, type Endpoint, type Field, flag, range, text } from './field.ts';

const shared: readonly [string, Field][] = [
  range('temperature', 0, 2),
  range('top_p', 0, 1),
  range('presence_penalty', -2, 2),
  range('frequency_penalty', -2, 2),
  count('n', 1, 128),
  count('max_tokens', 1, null, chat),
  count('max_tokens', 0, null, ['completions']),
  count('max_completion_tokens', 1, null, chat),
  count('logprobs', 0, 20, ['completions']),
  flag('logprobs', chat),
  flag('stream'),
  flag('echo', ['completions']),
  text('suffix', ['completions']),
  text('user', ['chat', 'completions', 'embeddings']),
  ['top_logprobs', { ...count('top_logprobs', 0, 20, chat)[1], beside: { logprobs: true } }],
  [
    'best_of',
    {
      endpoints: ['completions'],
      good: [1, 20, null],
      bad: [0, 21, 1.5, '1'].map((value) => [value, 'invalid_best_of']),
    },
  ],
  [
    'seed',
    {
      endpoints: both,
      good: [0, -1, Number.MAX_SAFE_INTEGER, null],
      bad: [0.5, '1', []].map((value) => [value, 'invalid_seed']),
    },
  ],
  [
    'stop',
    {
      endpoints: both,
      good: ['end', '', [], ['a'], ['a', 'b', 'c', 'd'], null],
      bad: [
        [5, 'invalid_stop'],
        [['a', 'b', 'c', 'd', 'e'], 'invalid_stop'],
        [['a', 5], 'invalid_stop', 'stop[1]'],
        [{}, 'invalid_stop'],
      ],
    },
  ],
  [
    'stream_options',
    {
      endpoints: both,
      beside: { stream: true },
      good: [{}, { include_usage: true }, { include_usage: null, include_obfuscation: false, other: 1 }, null],
      bad: [
        [true, 'invalid_stream_options'],
        [{ include_usage: 'yes' }, 'invalid_include_usage', 'stream_options.include_usage'],
        [{ include_obfuscation: 1 }, 'invalid_include_obfuscation', 'stream_options.include_obfuscation'],
      ],
    },
  ],
  [
    'logit_bias',
    {
      endpoints: both,
      good: [{}, { 50256: -100, 0: 100 }, { 1: 0.5 }, null],
      bad: [
        [[], 'invalid_logit_bias'],
        [{ 50256: 101 }, 'invalid_logit_bias', 'logit_bias.50256'],
        [{ 50256: '1' }, 'invalid_logit_bias', 'logit_bias.50256'],
        [{ word: 1 }, 'invalid_logit_bias', 'logit_bias.word'],
        [{ '1.5': 1 }, 'invalid_logit_bias', 'logit_bias.1.5'],
        [{ '-1': 1 }, 'invalid_logit_bias', 'logit_bias.-1'],
      ],
    },
  ],
];

const ofEmbeddings: readonly [string, Field][] = [
  ['dimensions', { ...count('dimensions', 1, null, ['embeddings'])[1], good: [1, 256, null] }],
  [
    'encoding_format',
    {
      endpoints: ['embeddings'],
      good: ['float', 'base64', 'int8', 'bytes_only', null],
      bad: [5, '', 'x'.repeat(65)].map((value) => [value, 'invalid_encoding_format']),
    },
  ],
];

/** `empty`: texts without words, which can be completed and not embedded. */
const texts = (field: string, endpoint: Endpoint, empty: { good?: unknown[]; bad?: unknown[] }): [string, Field] => [
  field,
  {
    endpoints: [endpoint],
    good: ['a', ['a', 'b'], [1, 2], [[1], [2, 3]], Array(2048).fill('a'), ...(empty.good ?? [])],
    bad: [5, {}, [], ['a', 1], [1, 'a'], [[]], [-1], [1.5], Array(2049).fill('a'), ...(empty.bad ?? [])].map(
      (value) => [value, `invalid_${field}`],
    ),
  },
];

export const samplingFields: readonly [string, Field][] = [
  ...shared,
  ...ofEmbeddings,
  texts('prompt', 'completions', { good: ['', [''], ['', 'a'], null] }),
  texts('input', 'embeddings', { bad: ['', [''], ['a', ''], null] }),
];
