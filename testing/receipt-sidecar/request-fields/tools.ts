/** Tools of a chat, the choice among them, and the form of its answer. */
import { chat, type Field, missing } from './field.ts';

const functionTool = (name: unknown) => ({ type: 'function', function: { name, parameters: { type: 'object' } } });

export const toolFields: readonly [string, Field][] = [
  [
    'response_format',
    {
      endpoints: chat,
      good: [
        { type: 'text' },
        { type: 'json_object' },
        { type: 'json_schema', json_schema: { name: 'a-b_1', schema: { type: 'object' }, strict: true } },
        // As llama.cpp and Together take it.
        { type: 'json_schema', schema: {} },
        { type: 'json_object', schema: {} },
        { type: 'structural_tag' },
        null,
      ],
      bad: [
        ['json', 'invalid_response_format'],
        [{}, missing, 'response_format.type'],
        [{ type: 'json_schema' }, missing, 'response_format.json_schema'],
        [{ type: 'json_schema', json_schema: {} }, missing, 'response_format.json_schema.name'],
        [{ type: 'json_schema', json_schema: { name: 'a b' } }, 'invalid_name', 'response_format.json_schema.name'],
        [
          { type: 'json_schema', json_schema: { name: 'a', schema: [] } },
          'invalid_schema',
          'response_format.json_schema.schema',
        ],
        [
          { type: 'json_schema', json_schema: { name: 'a', strict: 1 } },
          'invalid_strict',
          'response_format.json_schema.strict',
        ],
      ],
    },
  ],
  [
    'tools',
    {
      endpoints: chat,
      good: [
        [],
        [functionTool('f')],
        [functionTool('x'.repeat(64)), { type: 'function', function: { name: 'g', description: null, strict: true } }],
        [{ type: 'custom', custom: { name: 'c', format: { type: 'text' } } }],
        [
          {
            type: 'custom',
            custom: { name: 'c', format: { type: 'grammar', grammar: { definition: 'x', syntax: 'lark' } } },
          },
        ],
        [{ type: 'web_search' }],
        // As Gemini and the servers of tool protocols name them.
        [functionTool('files.read'), functionTool('server:files/read'), functionTool('x'.repeat(128))],
        Array.from({ length: 300 }, (_, at) => functionTool(`f${at}`)),
        null,
      ],
      bad: [
        [{}, 'invalid_tools'],
        [[5], 'invalid_tools', 'tools[0]'],
        [[{}], missing, 'tools[0].type'],
        [[{ type: 'function' }], missing, 'tools[0].function'],
        [[{ type: 'custom' }], missing, 'tools[0].custom'],
        [[{ type: 'function', function: null }], 'invalid_function', 'tools[0].function'],
        [[{ type: 'function', function: {} }], missing, 'tools[0].function.name'],
        [[functionTool('f'), functionTool('a b')], 'invalid_name', 'tools[1].function.name'],
        [[functionTool('x'.repeat(129))], 'invalid_name', 'tools[0].function.name'],
        [[functionTool('')], 'invalid_name', 'tools[0].function.name'],
        [
          [{ type: 'function', function: { name: 'f', parameters: [] } }],
          'invalid_parameters',
          'tools[0].function.parameters',
        ],
        [
          [{ type: 'function', function: { name: 'f', description: 5 } }],
          'invalid_description',
          'tools[0].function.description',
        ],
        [
          [{ type: 'custom', custom: { name: 'c', format: { type: 'grammar' } } }],
          missing,
          'tools[0].custom.format.grammar',
        ],
      ],
    },
  ],
  [
    'tool_choice',
    {
      endpoints: chat,
      beside: { tools: [functionTool('f'), { type: 'custom', custom: { name: 'c' } }] },
      good: [
        'none',
        'auto',
        'required',
        'any',
        { type: 'function', function: { name: 'f' } },
        { type: 'custom', custom: { name: 'c' } },
        {
          type: 'allowed_tools',
          allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'f' } }] },
        },
        { type: 'web_search' },
        null,
      ],
      bad: [
        ['always', 'invalid_tool_choice'],
        [5, 'invalid_tool_choice'],
        [{}, missing, 'tool_choice.type'],
        [{ type: 'function' }, missing, 'tool_choice.function'],
        [{ type: 'function', function: {} }, missing, 'tool_choice.function.name'],
        [{ type: 'function', function: { name: 'g' } }, 'invalid_tool_choice'],
        [{ type: 'function', function: { name: 'c' } }, 'invalid_tool_choice'],
        [{ type: 'custom', custom: { name: 'g' } }, 'invalid_tool_choice'],
        [{ type: 'allowed_tools' }, missing, 'tool_choice.allowed_tools'],
        [{ type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [functionTool('g')] } }, 'invalid_tool_choice'],
      ],
    },
  ],
  [
    'functions',
    {
      endpoints: chat,
      good: [[], [{ name: 'f', description: 'd', parameters: {} }], null],
      bad: [
        [{}, 'invalid_functions'],
        [[{}], missing, 'functions[0].name'],
        [[{ name: 'a b' }], 'invalid_name', 'functions[0].name'],
      ],
    },
  ],
  [
    'function_call',
    {
      endpoints: chat,
      beside: { functions: [{ name: 'f' }] },
      good: ['none', 'auto', { name: 'f' }, null],
      bad: [
        ['required', 'invalid_function_call'],
        [{}, missing, 'function_call.name'],
        [{ name: 'g' }, 'invalid_function_call'],
      ],
    },
  ],
];
