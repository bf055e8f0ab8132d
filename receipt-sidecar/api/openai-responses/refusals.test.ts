/** Requests for a response that are refused, by the schema and beyond it. */
import { describe, expect, test } from 'vitest';
import { parseRequest } from '../parse.ts';

const ask = { model: 'm', input: 'Hello' };
const parse = (fields: object) => parseRequest('responses', Buffer.from(JSON.stringify({ ...ask, ...fields })));
function problemOf(fields: object) {
  const parsed = parse(fields);
  return parsed.ok ? null : [parsed.error.code, parsed.error.param];
}
const call = { type: 'function', name: 'f', parameters: {} };

describe('what clients send is accepted', () => {
  test.each([
    [{ input: [{ role: 'user', content: 'Hi' }] }],
    [{ input: [{ type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Hi' }] }] }],
    [
      {
        input: [
          { role: 'user', content: [{ type: 'input_image', image_url: 'data:image/png;base64,AA', detail: 'low' }] },
        ],
      },
    ],
    [{ input: [{ type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' }] }],
    [{ input: [{ type: 'function_call_output', call_id: 'c', output: [{ type: 'input_text', text: 'x' }] }] }],
    [{ input: [{ type: 'custom_tool_call_output', call_id: 'c', output: 'x' }] }],
    [{ input: [{ type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'AAAA' }] }],
    [{ input: [{ type: 'computer_call_output', call_id: 'c', output: { type: 'computer_screenshot' } }] }],
    [{ input: [{ type: 'a_kind_of_next_year', anything: [1] }] }],
    [{ tools: [call, { type: 'custom', name: 'g', format: { type: 'text' } }, { type: 'local_shell' }] }],
    [{ tools: [{ type: 'namespace', name: 'n', tools: [call] }], tool_choice: { type: 'function', name: 'f' } }],
    [{ tools: [call], tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'f' }] } }],
    [
      {
        text: { format: { type: 'json_schema', name: 's', schema: {} }, verbosity: 'low' },
        reasoning: { effort: 'minimal' },
      },
    ],
    [
      {
        store: true,
        background: false,
        previous_response_id: null,
        conversation: null,
        prompt: null,
        truncation: 'auto',
      },
    ],
  ])('%j', (fields) => expect(problemOf(fields)).toBeNull());
});

describe('what is wrong is named', () => {
  test.each([
    [{ input: [] }, 'invalid_input', 'input'],
    [{ input: [{ role: 'someone', content: 'x' }] }, 'invalid_role', 'input[0].role'],
    [{ input: [{ role: 'user' }] }, 'missing_required_parameter', 'input[0].content'],
    [
      { input: [{ type: 'function_call', name: 'f', arguments: '' }] },
      'missing_required_parameter',
      'input[0].call_id',
    ],
    [{ input: [{ type: 'function_call_output', call_id: 'c', output: 5 }] }, 'invalid_output', 'input[0].output'],
    [
      { input: [{ role: 'user', content: [{ type: 'input_text' }] }] },
      'missing_required_parameter',
      'input[0].content[0].text',
    ],
    [{ tools: [{ type: 'function' }] }, 'missing_required_parameter', 'tools[0].name'],
    [{ tools: [call], tool_choice: { type: 'function', name: 'g' } }, 'invalid_tool_choice', 'tool_choice'],
    [{ tool_choice: 'required' }, 'invalid_tool_choice', 'tool_choice'],
    [{ stream_options: { include_obfuscation: false } }, 'invalid_stream_options', 'stream_options'],
    [{ max_output_tokens: 0 }, 'invalid_max_output_tokens', 'max_output_tokens'],
    [{ text: { format: { type: 'json_schema', name: 's' } } }, 'missing_required_parameter', 'text.format.schema'],
  ])('%j', (fields, code, param) => expect(problemOf(fields)).toEqual([code, param]));
});

describe('nothing refers to what is stored, and no provider calls elsewhere', () => {
  test.each([
    [{ previous_response_id: 'resp_1' }, 'previous_response_id'],
    [{ conversation: { id: 'conv_1' } }, 'conversation'],
    [{ prompt: { id: 'pmpt_1' } }, 'prompt'],
    [{ background: true }, 'background'],
    [{ Previous_Response_Id: 'resp_1' }, 'Previous_Response_Id'],
    [{ input: [{ id: 'msg_1' }] }, 'input[0]'],
    [{ input: [{ type: 'item_reference', id: 'msg_1' }] }, 'input[0]'],
    [{ tools: [{ type: 'mcp', server_label: 'x', server_url: 'http://x' }] }, 'tools[0].server_url'],
  ])('%j', (fields, param) => expect(problemOf(fields)).toEqual(['unsupported_field', param]));

  test('links into a cloud are refused in content and in the output of a tool', () => {
    const part = { type: 'input_image', image_url: 'http://169.254.169.254/latest' };
    const output = { type: 'function_call_output', call_id: 'c', output: [part] };
    const screenshot = { type: 'computer_call_output', call_id: 'c', output: { ...part, type: 'computer_screenshot' } };
    expect(problemOf({ input: [{ role: 'user', content: [part] }] })).toEqual([
      'invalid_image_url',
      'input[0].content[0].image_url',
    ]);
    for (const item of [output, screenshot])
      expect(problemOf({ input: [item] })).toEqual(['invalid_image_url', 'input[0].output[0].image_url']);
  });
});

describe('a file at the provider, which may be of another account, is refused', () => {
  test.each([
    ['input[0].content[0].file_id', { role: 'user', content: [{ type: 'input_file', file_id: 'file-1' }] }],
    ['input[0].content[0].file_id', { role: 'user', content: [{ type: 'input_image', file_id: 'file-1' }] }],
    [
      'input[0].output[0].file_id',
      { type: 'function_call_output', call_id: 'c', output: [{ type: 'input_image', file_id: 'file-1' }] },
    ],
    [
      'input[0].output.file_id',
      { type: 'computer_call_output', call_id: 'c', output: { type: 'computer_screenshot', file_id: 'file-1' } },
    ],
  ])('%s', (param, item) => expect(problemOf({ input: [item] })).toEqual(['unsupported_field', param]));
});
