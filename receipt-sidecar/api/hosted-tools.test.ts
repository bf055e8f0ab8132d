/** Tools that a provider would run by itself go to providers that may run them, and to no other. */
import type { SnapshotDeployment } from '@gw/contract/internal/snapshot';
import { describe, expect, it } from 'vitest';
import { bodiesOf, takes, toolWithoutLeave } from './behind.ts';
import { parseRequest } from './parse.ts';

const own = { type: 'function', name: 'f', parameters: {} };
const fields = {
  responses: { input: 'Hello' },
  messages: { messages: [{ role: 'user', content: 'Hello' }], max_tokens: 9 },
} as const;

function requestOf(api: keyof typeof fields, more: object) {
  const parsed = parseRequest(api, Buffer.from(JSON.stringify({ model: 'm', ...fields[api], ...more })));
  if (!parsed.ok) throw new Error(parsed.error.message);
  return bodiesOf(parsed.value, { contextWindow: null, spoken: [['chat'], [api]] }).request;
}
const provider = (apis: string[], hostedTools: string[] = []): Pick<SnapshotDeployment, 'calls'> => ({
  calls: { apis, hostedTools },
});

describe.each([
  ['responses', 'web_search', { tools: [own, { type: 'web_search' }] }, 'tools[1].type'],
  ['responses', 'web_search', { tools: [{ type: 'web_search_2025_08_26' }] }, 'tools[0].type'],
  [
    'responses',
    'code_interpreter',
    { tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'code_interpreter' }] }] },
    'tools[0].tools[0].type',
  ],
  [
    'responses',
    'shell',
    { input: [{ type: 'additional_tools', role: 'developer', tools: [{ type: 'shell' }] }] },
    'input[0].tools[0].type',
  ],
  ['messages', 'web_search', { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }, 'tools[0].type'],
  ['messages', 'Web_Search', { tools: [{ type: 'Web_Search_20250305', name: 'web_search' }] }, 'tools[0].type'],
  ['messages', 'browse', { tools: [{ type: 'bash_20250124' }, { type: 'browse_20270101' }] }, 'tools[1].type'],
] as const)('a call of %s with %s', (api, kind, more, at) => {
  const request = requestOf(api, more);

  it('goes to a provider that may run it', () => {
    expect(request.hostedTools).toEqual([{ kind, at }]);
    expect(request.asksToRead).toBe(true);
    expect(takes(request, provider([api], [kind, 'other']))).toBe(true);
  });

  it('goes to no other, is translated for none, and is refused by its place', () => {
    const others = [provider([api]), provider([api], ['other']), provider(['chat'], [kind])];
    for (const each of others) {
      expect(takes(request, each)).toBe(false);
      expect(toolWithoutLeave(request, [each])).toEqual({ kind, at });
    }
  });
});

it('a call with tools that its client runs needs no leave', () => {
  const types = ['bash_20250124', 'text_editor_20250728', 'computer_20251124', 'memory_20250818', 'custom'];
  const tools = [
    ...types.map((type) => ({ type, name: 'n', input_schema: {} })),
    { type: 'tool_search_tool_regex_20251119', name: 'tool_search_tool_regex' },
    { name: 'f', input_schema: {} },
  ];
  for (const request of [requestOf('responses', { tools: [own] }), requestOf('messages', { tools })]) {
    expect(request.hostedTools).toBeUndefined();
    expect(takes(request, provider([request.endpoint]))).toBe(true);
    expect(toolWithoutLeave(request, [])).toBeNull();
  }
});
