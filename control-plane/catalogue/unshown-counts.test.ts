import { expect, it } from 'vitest';
import { adviceOn, unshownCounts } from './unshown-counts.ts';

const reply = (content: string | null, usage: object) => ({
  choices: [{ message: { role: 'assistant', content } }],
  usage,
});
const none = { hiddenReasoning: null, readsByItself: null };

it('an ordinary reply shows nothing, nor does one that cannot be read', () => {
  expect(unshownCounts(reply('Hello there.', { prompt_tokens: 8, completion_tokens: 4 }), 90)).toEqual(none);
  for (const odd of [null, 'text', {}, { usage: { completion_tokens: 1e9 } }, { choices: 1, usage: 1 }])
    expect(unshownCounts(odd, 90)).toEqual(none);
});

it('more tokens than text are of hidden reasoning, unless the provider names them', () => {
  const usage = { prompt_tokens: 8, completion_tokens: 16 };
  expect(unshownCounts(reply(null, usage), 90)).toEqual({ ...none, hiddenReasoning: true });
  const named = { ...usage, completion_tokens_details: { reasoning_tokens: 16 } };
  expect(unshownCounts(reply('', named), 90)).toEqual(none);
  const thought = { choices: [{ message: { content: '', reasoning_content: 'The user greets me.' } }], usage };
  expect(unshownCounts(thought, 90)).toEqual(none);
});

it('more tokens than the request can have are of what it read by itself', () => {
  const usage = { prompt_tokens: 6000, completion_tokens: 4 };
  expect(unshownCounts(reply('Hello there.', usage), 90)).toEqual({ ...none, readsByItself: true });
});

it('advises what to enter', () => {
  expect(adviceOn({ hiddenReasoning: null, readsByItself: null }, 'm')).toBe('');
  expect(adviceOn({ hiddenReasoning: true, readsByItself: true }, 'm')).toContain(
    './gw admin models set m --hidden-reasoning yes --reads-by-itself yes',
  );
});
