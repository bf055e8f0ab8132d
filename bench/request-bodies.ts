/** Bodies of chat requests as clients send them, for the cost of reading and validating them. */
const small = {
  model: 'sim-small',
  messages: [
    { role: 'system', content: 'You are a helpful assistant.' },
    { role: 'user', content: 'Say hello to the benchmark. '.repeat(20) },
  ],
  temperature: 0.5,
};

const tool = (at: number) => ({
  type: 'function',
  function: {
    name: `tool_${at}`,
    description: 'Looks something up.',
    parameters: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
  },
});

const withTools = {
  model: 'sim-small',
  messages: [
    { role: 'system', content: 'You are a helpful assistant.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What is this?' },
        { type: 'image_url', image_url: { url: 'https://img.example/a.png' } },
      ],
    },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'a', type: 'function', function: { name: 'tool_1', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: 'a', content: 'A benchmark.' },
  ],
  tools: Array.from({ length: 10 }, (_, at) => tool(at)),
  tool_choice: 'auto',
  stream: true,
};

export const requestBodies: readonly (readonly [name: string, bytes: Buffer])[] = [
  ['a chat request', Buffer.from(JSON.stringify(small))],
  ['a chat request with parts and ten tools', Buffer.from(JSON.stringify(withTools))],
];
