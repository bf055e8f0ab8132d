/** Fields of `POST /v1/responses`. */
import { count, type Endpoint, type Field, flag, missing, range, text } from './field.ts';

const responses: readonly Endpoint[] = ['responses'];
const f = { type: 'function', name: 'f', parameters: {} };
const says = (...content: object[]) => [{ role: 'user', content }];

const plain: readonly [string, Field][] = [
  range('temperature', 0, 2, responses),
  range('top_p', 0, 1, responses),
  count('max_output_tokens', 1, null, responses),
  count('max_tool_calls', 1, null, responses),
  count('top_logprobs', 0, 20, responses),
  flag('stream', responses),
  flag('parallel_tool_calls', responses),
  text('instructions', responses),
  text('user', responses),
  text('prompt_cache_key', responses),
  text('prompt_cache_retention', responses, 64),
  text('safety_identifier', responses, 64),
  text('service_tier', responses, 64),
  text('truncation', responses, 64),
];

const input: Field = {
  endpoints: responses,
  good: [
    'Hello',
    says(
      { type: 'input_text', text: 'a' },
      { type: 'input_image', image_url: 'data:image/png;base64,AA', detail: 'low' },
    ),
    says({ type: 'input_file', file_data: 'data:application/pdf;base64,AA', filename: 'a.pdf' }),
    [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'a', annotations: [] }] }],
    [{ type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'a' }], encrypted_content: 'AAAA' }],
    [{ type: 'custom_tool_call', call_id: 'c', name: 'g', input: 'a' }],
  ],
  bad: [
    [5, 'invalid_input'],
    [[], 'invalid_input'],
    [null, 'invalid_input'],
    [says({ type: 'input_text', text: 5 }), 'invalid_text', 'input[0].content[0].text'],
    [says({ type: 'input_image', image_url: 5 }), 'invalid_image_url', 'input[0].content[0].image_url'],
    [[{ type: 'reasoning', id: 'rs_1' }], missing, 'input[0].summary'],
    [
      [{ type: 'reasoning', summary: [], encrypted_content: 5 }],
      'invalid_encrypted_content',
      'input[0].encrypted_content',
    ],
    [[{ type: 'custom_tool_call', call_id: 'c', name: 'g' }], missing, 'input[0].input'],
  ],
};

const tools: Field = {
  endpoints: responses,
  good: [
    [{ ...f, description: 'a', strict: true }],
    [{ type: 'custom', name: 'g', format: { type: 'grammar', syntax: 'lark', definition: 'start: "a"' } }],
    [],
    null,
  ],
  bad: [
    [f, 'invalid_tools'],
    [[{ type: 'custom' }], missing, 'tools[0].name'],
    [[{ ...f, name: 'a b' }], 'invalid_name', 'tools[0].name'],
    [[{ ...f, parameters: 'a' }], 'invalid_parameters', 'tools[0].parameters'],
    [[{ ...f, strict: 'a' }], 'invalid_strict', 'tools[0].strict'],
    [[{ type: 'custom', name: 'g', format: 'text' }], 'invalid_format', 'tools[0].format'],
  ],
};

const schema = { type: 'json_schema', name: 's', schema: {} };

export const responseFields: readonly [string, Field][] = [
  ...plain,
  ['input', input],
  ['tools', tools],
  [
    'tool_choice',
    {
      endpoints: responses,
      beside: { tools: [f] },
      good: ['auto', 'none', 'required', { type: 'function', name: 'f' }, null],
      bad: [
        ['sometimes', 'invalid_tool_choice'],
        [5, 'invalid_tool_choice'],
        [{ type: 'function' }, missing, 'tool_choice.name'],
        [{ type: 'allowed_tools', mode: 'auto' }, missing, 'tool_choice.tools'],
      ],
    },
  ],
  [
    'text',
    {
      endpoints: responses,
      good: [
        { format: { ...schema, strict: true, description: 'a' }, verbosity: 'low' },
        { format: { type: 'text' } },
        null,
      ],
      bad: [
        ['plain', 'invalid_text'],
        [{ verbosity: 5 }, 'invalid_verbosity', 'text.verbosity'],
        [{ format: 'text' }, 'invalid_format', 'text.format'],
        [{ format: { type: 'json_schema', schema: {} } }, missing, 'text.format.name'],
        [{ format: { ...schema, schema: 'a' } }, 'invalid_schema', 'text.format.schema'],
      ],
    },
  ],
  [
    'reasoning',
    {
      endpoints: responses,
      good: [{ effort: 'low', summary: 'auto' }, {}, null],
      bad: [
        ['low', 'invalid_reasoning'],
        [{ effort: 5 }, 'invalid_effort', 'reasoning.effort'],
        [{ summary: true }, 'invalid_summary', 'reasoning.summary'],
      ],
    },
  ],
  [
    'include',
    {
      endpoints: responses,
      good: [['reasoning.encrypted_content'], [], null],
      bad: [
        ['reasoning.encrypted_content', 'invalid_include'],
        [[5], 'invalid_include', 'include[0]'],
      ],
    },
  ],
  [
    'metadata',
    {
      endpoints: responses,
      good: [{ key: 'value' }, {}, null],
      bad: [
        ['text', 'invalid_metadata'],
        [{ key: 5 }, 'invalid_metadata', 'metadata.key'],
      ],
    },
  ],
  [
    'stream_options',
    {
      endpoints: responses,
      beside: { stream: true },
      good: [{ include_obfuscation: false }, {}, null],
      bad: [
        [true, 'invalid_stream_options'],
        [{ include_obfuscation: 1 }, 'invalid_include_obfuscation', 'stream_options.include_obfuscation'],
      ],
    },
  ],
];
