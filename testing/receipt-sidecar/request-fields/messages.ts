/** Messages of a chat, right and wrong. */
import { missing } from './field.ts';

/** Messages that pass. */
export const goodMessages: readonly object[] = [
  { role: 'system', content: 'a' },
  { role: 'developer', content: [{ type: 'text', text: 'a' }], name: 'n' },
  { role: 'user', content: '' },
  { role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://img.example/a.png', detail: 'low' } }] },
  // As Mistral takes it.
  { role: 'user', content: [{ type: 'image_url', image_url: 'data:image/png;base64,AAAA' }] },
  { role: 'user', content: [{ type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }] },
  { role: 'user', content: [{ type: 'file', file: { file_id: 'file-1' } }] },
  { role: 'user', content: [{ type: 'video_url', video_url: { url: 'https://v.example' } }] },
  {
    role: 'user',
    content: [{ type: 'text', text: 'a', image_url: null, prompt_cache_breakpoint: { mode: 'explicit' } }],
  },
  {
    role: 'assistant',
    content: null,
    tool_calls: [{ id: '1', type: 'function', function: { name: 'f', arguments: '{}' } }],
  },
  { role: 'assistant', tool_calls: [{ id: '1', type: 'custom', custom: { name: 'c', input: 'x' } }] },
  // As Mistral has them.
  { role: 'assistant', tool_calls: [{ id: '1', function: { name: 'f', arguments: '{}' } }] },
  { role: 'assistant', content: [{ type: 'refusal', refusal: 'no' }], refusal: null, reasoning_content: 'hm' },
  { role: 'assistant', content: 'a', audio: { id: 'audio_1' }, function_call: null, tool_calls: [] },
  { role: 'tool', content: 'a', tool_call_id: '1' },
  { role: 'function', content: null, name: 'f' },
];

/** One message, the code, and the path below `messages[0]`. */
export const badMessages: readonly (readonly [message: unknown, code: string, path: string])[] = [
  [5, 'invalid_messages', ''],
  [{ content: 'a' }, missing, '.role'],
  [{ role: 'robot', content: 'a' }, 'invalid_role', '.role'],
  [{ role: 'user' }, missing, '.content'],
  [{ role: 'user', content: 5 }, 'invalid_content', '.content'],
  [{ role: 'user', content: null }, 'invalid_content', '.content'],
  [{ role: 'user', content: [] }, 'invalid_content', '.content'],
  [{ role: 'user', content: ['a'] }, 'invalid_content', '.content[0]'],
  [{ role: 'user', content: [{ text: 'a' }] }, missing, '.content[0].type'],
  [{ role: 'user', content: [{ type: 'text' }] }, missing, '.content[0].text'],
  [{ role: 'user', content: [{ type: 'text', text: 5 }] }, 'invalid_text', '.content[0].text'],
  [{ role: 'user', content: [{ type: 'text', text: null }] }, 'invalid_text', '.content[0].text'],
  [{ role: 'user', content: [{ type: 'image_url' }] }, missing, '.content[0].image_url'],
  [{ role: 'user', content: [{ type: 'image_url', image_url: {} }] }, missing, '.content[0].image_url.url'],
  [
    { role: 'user', content: [{ type: 'image_url', image_url: { url: 5 } }] },
    'invalid_url',
    '.content[0].image_url.url',
  ],
  [
    { role: 'user', content: [{ type: 'input_audio', input_audio: { data: 'A' } }] },
    missing,
    '.content[0].input_audio.format',
  ],
  [{ role: 'user', content: [{ type: 'file' }] }, missing, '.content[0].file'],
  [
    { role: 'user', content: [{ type: 'file', file: { file_data: 5 } }] },
    'invalid_file_data',
    '.content[0].file.file_data',
  ],
  [{ role: 'user', content: 'a', name: 5 }, 'invalid_name', '.name'],
  [{ role: 'tool', content: 'a' }, missing, '.tool_call_id'],
  [{ role: 'tool', content: 'a', tool_call_id: 5 }, 'invalid_tool_call_id', '.tool_call_id'],
  [{ role: 'function', content: 'a' }, missing, '.name'],
  [{ role: 'assistant', tool_calls: {} }, 'invalid_tool_calls', '.tool_calls'],
  [{ role: 'assistant', tool_calls: [{ type: 'function' }] }, missing, '.tool_calls[0].id'],
  [{ role: 'assistant', tool_calls: [{ id: '1', type: 'function' }] }, missing, '.tool_calls[0].function'],
  [{ role: 'assistant', tool_calls: [{ id: '1' }] }, missing, '.tool_calls[0].function'],
  [{ role: 'assistant', tool_calls: [{ id: '1', type: 'custom' }] }, missing, '.tool_calls[0].custom'],
  [
    { role: 'assistant', tool_calls: [{ id: '1', type: 'function', function: { name: 'f' } }] },
    missing,
    '.tool_calls[0].function.arguments',
  ],
  [{ role: 'assistant', content: 'a', audio: {} }, missing, '.audio.id'],
  [{ role: 'assistant', content: 'a', function_call: { name: 'f' } }, missing, '.function_call.arguments'],
];
