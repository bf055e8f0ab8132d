/** A scripted conversation by each API: the calls of its script in turn, then text. */
import { forFile } from '@gw/testing/for-file';
import { expect, test } from 'vitest';
import { ask, startSimulator } from './start-for-test.ts';

const simulator = forFile(startSimulator);
const script = [
  { name: 'read', input: { path: 'a.txt' } },
  { name: 'edit', input: { path: 'a.txt', text: 'new' } },
];
const headers = { 'x-sim-script': JSON.stringify(script) };
const user = { role: 'user', content: 'Change it.' };
const named = ['read', 'edit'].map((name) => ({ name }));

/** The body of the turn behind so many results of tools, and what of a reply tells its call. */
const apis = {
  '/v1/chat/completions': (results: number) => ({
    messages: [user, ...Array.from({ length: results }, () => ({ role: 'tool', tool_call_id: 'c', content: 'Done' }))],
    tools: named.map((each) => ({ type: 'function', function: each })),
  }),
  '/v1/messages': (results: number) => ({
    max_tokens: 100,
    messages: [
      user,
      { role: 'user', content: Array.from({ length: results }, () => ({ type: 'tool_result', tool_use_id: 't' })) },
    ],
    tools: named,
  }),
  '/v1/responses': (results: number) => ({
    input: [user, ...Array.from({ length: results }, () => ({ type: 'function_call_output', call_id: 'c' }))],
    tools: named.map((each) => ({ type: 'function', ...each })),
  }),
};

test.each(Object.entries(apis))('%s', async (path, bodyOf) => {
  const said = async (results: number, fields: object = {}) => {
    const reply = await ask(simulator.url, {
      path,
      headers,
      body: { model: 'sim-small', ...bodyOf(results), ...fields },
    });
    return reply.text();
  };
  expect(await said(0)).toContain('"name":"read"');
  expect(await said(1)).toContain('"name":"edit"');
  expect(await said(2)).toContain('This is a simulated answer.');
  // A call of the client's own beside the conversation has no tools.
  expect(await said(0, { tools: [] })).toContain('This is a simulated answer.');
});

test('a script that is none is refused', async () => {
  const reply = await ask(simulator.url, { headers: { 'x-sim-script': '[{"name":"read"}]' } });
  expect(reply.status).toBe(400);
  expect(await reply.text()).toContain('x-sim-script');
});
