/** Every kind of content that the official SDKs know is bound: by the product, and alike by the example in Python, whole and streamed. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import Anthropic from '@anthropic-ai/sdk';
import type { BetaContentBlock } from '@anthropic-ai/sdk/resources/beta/messages/messages';
import type { ApiName } from '@gw/contract/api-names';
import { AnswerDigest } from '@gw/evidence/answer-digest';
import type { ResponseOutputItem } from 'openai/resources/responses/responses';
import { expect, test } from 'vitest';

const salt = '0f'.repeat(16);
const folder = fileURLToPath(new URL('../examples', import.meta.url));
const script = `import json, sys, answer_digest
print(json.dumps([answer_digest.answer_digest(api, [(said, None) for said in reply], "${salt}") for api, reply in json.load(sys.stdin)]))`;

type Answer = readonly [ApiName, readonly object[]];

/** The digests of answers by the product, which those in Python are equal to. */
function digests(answers: readonly Answer[]): readonly (string | null)[] {
  const { stdout } = spawnSync('python3', ['-B', '-c', script], { cwd: folder, input: JSON.stringify(answers) });
  const found = answers.map(([api, reply]) => {
    const answer = new AnswerDigest(api);
    for (const said of reply) answer.take({ ...said });
    return answer.digest(salt);
  });
  expect(JSON.parse(String(stdout))).toEqual(found);
  return found;
}

/** Members of each kind, which are bound; null: of a kind that only states ids and names of models. */
type Kinds<Type extends string> = Readonly<Record<Type, object | null>>;

const items: Kinds<ResponseOutputItem['type']> = {
  message: { content: [{ type: 'output_text', text: 'a' }] },
  reasoning: { summary: [{ text: 'a' }], content: [{ text: 'b' }] },
  compaction: null,
  program: { code: 'a' },
  program_output: { result: 'a' },
  function_call: { name: 'a', arguments: '{}' },
  function_call_output: { output: [{ type: 'input_text', text: 'a' }] },
  custom_tool_call: { name: 'a', input: 'b' },
  custom_tool_call_output: { output: 'a' },
  file_search_call: { queries: ['a'], results: [{ file_id: 'f', text: 'a' }] },
  web_search_call: { action: { type: 'search', query: 'a' } },
  computer_call: { action: { type: 'click', x: 1, y: 2 }, actions: [{ type: 'wait' }] },
  computer_call_output: { output: { type: 'computer_screenshot', image_url: 'a' } },
  tool_search_call: { arguments: { paths: ['a'] } },
  tool_search_output: { tools: [{ name: 'a' }] },
  additional_tools: { tools: [{ name: 'a' }] },
  image_generation_call: { result: 'AAAA' },
  code_interpreter_call: { code: 'a', outputs: [{ type: 'logs', logs: 'a' }] },
  local_shell_call: { action: { command: ['ls'] } },
  local_shell_call_output: { output: 'a' },
  shell_call: { action: { commands: ['ls'] } },
  shell_call_output: { output: [{ stdout: 'a', outcome: { type: 'exit', exit_code: 0 } }] },
  apply_patch_call: { operation: { type: 'update_file', path: 'a', diff: '+' } },
  apply_patch_call_output: { output: 'a' },
  mcp_call: { server_label: 's', name: 'a', arguments: '{}', output: 'b', error: 'c' },
  mcp_list_tools: { server_label: 's', tools: [{ name: 'a' }], error: 'c' },
  mcp_approval_request: { server_label: 's', name: 'a', arguments: '{}' },
  mcp_approval_response: null,
};

const result = { content: { type: 'a', stdout: 'b', stderr: '' } };
const blocks: Kinds<BetaContentBlock['type']> = {
  text: { text: 'a' },
  thinking: { thinking: 'a' },
  redacted_thinking: { data: 'a' },
  tool_use: { name: 'a', input: { b: 1 } },
  server_tool_use: { name: 'a', input: { b: 1 } },
  mcp_tool_use: { name: 'a', input: { b: 1 }, server_name: 's' },
  mcp_tool_result: { content: [{ type: 'text', text: 'a' }] },
  web_search_tool_result: { content: [{ url: 'a', title: 'b' }] },
  web_fetch_tool_result: result,
  advisor_tool_result: result,
  code_execution_tool_result: result,
  bash_code_execution_tool_result: result,
  text_editor_code_execution_tool_result: result,
  tool_search_tool_result: result,
  mcp_tool_listing: { tools: [{ name: 'a' }] },
  compaction: { content: 'a' },
  container_upload: null,
  fallback: null,
};

function changed(value: unknown): unknown {
  if (typeof value === 'string') return `${value}x`;
  if (typeof value === 'number') return value + 1;
  if (Array.isArray(value)) return value.map(changed);
  return Object.fromEntries(Object.entries(Object(value)).map(([name, inner]) => [name, changed(inner)]));
}

/** Compares the digests of each kind: whole, streamed, as an SDK writes it with null for what is absent, and with one member changed. */
function check(kinds: Kinds<string>, whole: (of: object) => Answer, streamed: (of: object) => Answer): void {
  const answers = Object.entries(kinds).map(([type, members]) => {
    const of = { type, id: 'i', ...members };
    const nulls = JSON.parse(JSON.stringify(of).replaceAll('{"', '{"absent":null,"'));
    const others = Object.entries(members ?? {}).map(([name, value]) => whole({ ...of, [name]: changed(value) }));
    return { type, said: [whole(of), streamed(of), whole(nulls), ...others] };
  });
  const all = [...digests(answers.flatMap(({ said }) => said))];
  for (const { said, type } of answers) {
    const [first, ...found] = all.splice(0, said.length);
    expect([type, found.slice(0, 2)]).toEqual([type, [first, first]]);
    expect([type, new Set([first, ...found.slice(2)]).size]).toEqual([type, said.length - 2]);
  }
}

test('each kind of item of Responses is bound, also one that is begun in part', () => {
  const done = (item: object) => [
    { type: 'response.output_item.added', output_index: 0, item: { ...item, ...begun } },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: { output: [item] } },
  ];
  const empty = { content: [], summary: [], code: '', arguments: '', input: '', result: null };
  const begun = {
    ...empty,
    action: { type: 'search', query: '' },
    outputs: [{ logs: '' }],
    results: [{}],
    output: 'x',
  };
  check(
    items,
    (item) => ['responses', [{ object: 'response', output: [item] }]],
    (item) => ['responses', done(item)],
  );
});

test('each kind of block of Messages is bound', () => {
  const start = (block: object) => [
    { type: 'content_block_start', index: 0, content_block: block },
    { type: 'content_block_stop', index: 0 },
  ];
  check(
    blocks,
    (block) => ['messages', [{ type: 'message', content: [block] }]],
    (block) => ['messages', start(block)],
  );
});

test('images and details of the thoughts in chat are bound, and pieces of those by their index', () => {
  const image = (url: string) => ({ type: 'image_url', image_url: { url } });
  const detail = (text: string, index: number) => ({ type: 'reasoning.text', text, index });
  const message = {
    content: [image('c')],
    images: [image('a')],
    reasoning_details: [detail('hm, so', 0), { type: 'reasoning.encrypted', data: 'e', index: 1 }],
  };
  const deltas = [
    { reasoning_details: [detail('hm,', 0)] },
    { reasoning_details: [detail(' so', 0)] },
    { ...message, reasoning_details: message.reasoning_details.slice(1) },
  ];
  check(
    { chat: message },
    (said) => ['chat', [{ choices: [{ message: said }] }]],
    () => ['chat', deltas.map((delta) => ({ choices: [{ index: 0, delta }] }))],
  );
});

test("a stream with calls of tools is the official SDK's final message of it", async () => {
  const start = (index: number, block: object) => ({ type: 'content_block_start', index, content_block: block });
  const delta = (index: number, added: object) => ({ type: 'content_block_delta', index, delta: added });
  const json = (index: number, partial_json: string) => delta(index, { type: 'input_json_delta', partial_json });
  const use = { type: 'tool_use', id: 't', name: 'get', input: {} };
  const usage = { input_tokens: 1, output_tokens: 1 };
  const events = [
    { type: 'message_start', message: { id: 'm', type: 'message', role: 'assistant', content: [], usage } },
    start(0, { type: 'text', text: '' }),
    delta(0, { type: 'text_delta', text: 'Grü' }),
    delta(0, { type: 'text_delta', text: 'ße' }),
    { type: 'content_block_stop', index: 0 },
    start(1, use),
    ...['', '{"b": [1.50, "\\ud83d', '\\ude00"], "a"', ': {"n": null}}'].map((piece) => json(1, piece)),
    { type: 'content_block_stop', index: 1 },
    start(2, use),
    json(2, ''),
    { type: 'content_block_stop', index: 2 },
    { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage },
    { type: 'message_stop' },
  ];
  const body = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
  const headers = { 'content-type': 'text/event-stream' };
  const client = new Anthropic({ apiKey: 'k', fetch: async () => new Response(body, { headers }) });
  const asked = { model: 'm', max_tokens: 9, messages: [{ role: 'user' as const, content: 'Hi' }] };
  const message = await client.messages.stream(asked).finalMessage();
  expect(message.content[1]).toMatchObject({ input: { b: [1.5, '😀'] } });
  const broken = [start(0, use), json(0, '{"a":')];
  const [streamed, final] = digests([
    ['messages', events],
    ['messages', [JSON.parse(JSON.stringify(message))]],
    ['messages', broken],
    ['messages', [start(0, use), json(0, `{"a":"${'x'.repeat(2 ** 20)}"}`)]],
    ['messages', [start(0, use), json(0, '{"a":NaN}'), start(1, use), json(1, '"a"')]],
    ['chat', ['a\ud83d', '\ude00', '\ud83d', 'b\ud83d'].map((content) => ({ choices: [{ delta: { content } }] }))],
  ]);
  expect(final).toBe(streamed);
});
