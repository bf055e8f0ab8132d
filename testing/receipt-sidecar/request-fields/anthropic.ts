/** Fields of `POST /v1/messages`. */
import { count, type Endpoint, type Field, flag, missing, range, text } from './field.ts';

const messages: readonly Endpoint[] = ['messages'];
const f = { name: 'f', input_schema: { type: 'object' } };
const says = (...content: object[]) => [{ role: 'user', content }];
const answers = (...content: object[]) => [...says({ type: 'text', text: 'a' }), { role: 'assistant', content }];
const cached = { cache_control: { type: 'ephemeral', ttl: '1h' } };
const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA' } };
const document = {
  type: 'document',
  source: { type: 'text', media_type: 'text/plain', data: 'a' },
  title: 'a',
  ...cached,
};
const use = { type: 'tool_use', id: 't', name: 'f', input: {} };

/** Wrong blocks, with the code and the path of what is wrong in them. */
const badBlocks: readonly (readonly [object, string, string])[] = [
  [{ type: 'text', text: 5 }, 'invalid_text', '.text'],
  [{ type: 'text' }, missing, '.text'],
  [{ type: 'text', text: 'a', cache_control: 'ephemeral' }, 'invalid_cache_control', '.cache_control'],
  [{ type: 'image' }, missing, '.source'],
  [{ type: 'image', source: { type: 'base64' } }, missing, '.source.data'],
  [{ type: 'document', source: { type: 'url' } }, missing, '.source.url'],
  [{ type: 'tool_use', name: 'f', input: {} }, missing, '.id'],
  [{ type: 'tool_use', id: 't', name: 'f' }, missing, '.input'],
  [{ type: 'tool_result', content: 'a' }, missing, '.tool_use_id'],
  [{ type: 'tool_result', tool_use_id: 't', content: 5 }, 'invalid_content', '.content'],
  [{ type: 'tool_result', tool_use_id: 't', is_error: 'no' }, 'invalid_is_error', '.is_error'],
  [{ type: 'thinking', thinking: 'a' }, missing, '.signature'],
  [{ type: 'redacted_thinking' }, missing, '.data'],
];

const content: Field = {
  endpoints: messages,
  good: [
    [{ role: 'user', content: 'Hello' }],
    says({ type: 'text', text: 'a', ...cached }, image, document),
    answers({ type: 'thinking', thinking: 'a', signature: 's' }, { type: 'redacted_thinking', data: 'd' }, use),
    [
      ...answers(use),
      ...says({ type: 'tool_result', tool_use_id: 't', content: [{ type: 'text', text: 'a' }, image], is_error: true }),
    ],
  ],
  bad: [
    ['Hello', 'invalid_messages'],
    [[], 'invalid_messages'],
    [[{ role: 'nobody', content: 'a' }], 'invalid_role', 'messages[0].role'],
    [[{ role: 'user', content: 5 }], 'invalid_content', 'messages[0].content'],
    ...badBlocks.map(([block, code, path]) => [says(block), code, `messages[0].content[0]${path}`] as const),
  ],
};

export const anthropicFields: readonly [string, Field][] = [
  ['messages', content],
  range('temperature', 0, 1, messages),
  range('top_p', 0, 1, messages),
  count('top_k', 0, null, messages),
  flag('stream', messages),
  text('service_tier', messages, 64),
  [
    'max_tokens',
    {
      endpoints: messages,
      good: [1, 0, 1_000_000],
      bad: [-1, 0.5, '1', {}, null].map((value) => [value, 'invalid_max_tokens']),
    },
  ],
  [
    'system',
    {
      endpoints: messages,
      good: ['a', [{ type: 'text', text: 'a', ...cached }], null],
      bad: [
        [5, 'invalid_system'],
        [[{ type: 'text' }], missing, 'system[0].text'],
      ],
    },
  ],
  [
    'tools',
    {
      endpoints: messages,
      good: [[{ ...f, description: 'a', ...cached }], [{ ...f, type: 'custom', strict: true }], null],
      bad: [
        [f, 'invalid_tools'],
        [[{ input_schema: {} }], missing, 'tools[0].name'],
        [[{ name: 'f' }], missing, 'tools[0].input_schema'],
        [[{ ...f, input_schema: 'a' }], 'invalid_input_schema', 'tools[0].input_schema'],
      ],
    },
  ],
  [
    'tool_choice',
    {
      endpoints: messages,
      beside: { tools: [f] },
      good: [{ type: 'auto', disable_parallel_tool_use: true }, { type: 'tool', name: 'f' }, { type: 'any' }, null],
      bad: [
        ['auto', 'invalid_tool_choice'],
        [{ type: 'tool' }, missing, 'tool_choice.name'],
        [
          { type: 'auto', disable_parallel_tool_use: 1 },
          'invalid_disable_parallel_tool_use',
          'tool_choice.disable_parallel_tool_use',
        ],
      ],
    },
  ],
  [
    'stop_sequences',
    {
      endpoints: messages,
      good: [['end'], [], null],
      bad: [
        ['end', 'invalid_stop_sequences'],
        [[5], 'invalid_stop_sequences', 'stop_sequences[0]'],
      ],
    },
  ],
  [
    'thinking',
    {
      endpoints: messages,
      good: [{ type: 'enabled', budget_tokens: 1024 }, { type: 'disabled' }, { type: 'adaptive' }, null],
      bad: [
        ['enabled', 'invalid_thinking'],
        [{ type: 'enabled' }, missing, 'thinking.budget_tokens'],
        [{ type: 'enabled', budget_tokens: 'a' }, 'invalid_budget_tokens', 'thinking.budget_tokens'],
      ],
    },
  ],
  [
    'output_config',
    {
      endpoints: messages,
      good: [{ effort: 'low', format: { type: 'json_schema', schema: {} } }, {}, null],
      bad: [
        ['low', 'invalid_output_config'],
        [{ effort: 5 }, 'invalid_effort', 'output_config.effort'],
        [{ format: { type: 'json_schema' } }, missing, 'output_config.format.schema'],
      ],
    },
  ],
  [
    'metadata',
    {
      endpoints: messages,
      good: [{ user_id: 'u' }, {}, null],
      bad: [
        ['u', 'invalid_metadata'],
        [{ user_id: 5 }, 'invalid_metadata', 'metadata.user_id'],
        [{ user_id: 'u'.repeat(513) }, 'invalid_metadata', 'metadata.user_id'],
      ],
    },
  ],
];
