import { chatReader } from '@gw/testing/receipt-sidecar/chat-reader';
import { describe, expect, test } from 'vitest';
import { openaiChat } from '../openai-chat/shape.ts';
import { openaiCompletions } from '../openai-completions/shape.ts';
import type { StreamReader } from '../port/shape.ts';

type Json = Readonly<Record<string, unknown>>;

/** Returns the data of the events of a whole reply. */
const eventsOf = (reply: Json, shape = openaiChat): unknown[] =>
  String(shape.reply.stream?.whole(JSON.stringify(reply)))
    .trimEnd()
    .split('\n\n')
    .map((event) => event.replace(/^data: /, ''))
    .map((data) => (data === '[DONE]' ? data : JSON.parse(data)));

const head = { id: 'c', created: 1, model: 'm' };
const usage = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 };

describe('a whole chat as a stream', () => {
  test('says for each choice what it says and then why it ended', () => {
    const reply = {
      ...head,
      object: 'chat.completion',
      choices: [
        { index: 0, message: { role: 'assistant', content: 'Hi' }, logprobs: { content: [] }, finish_reason: 'stop' },
        { index: 1, message: { role: 'assistant', content: null, refusal: 'No.' }, finish_reason: 'length' },
      ],
      usage,
      timings: { ms: 3 },
    };
    const chunk = { ...head, object: 'chat.completion.chunk' };
    const [first, second] = reply.choices;
    expect(eventsOf(reply)).toEqual([
      {
        ...chunk,
        timings: { ms: 3 },
        choices: [{ index: 0, delta: first?.message, logprobs: { content: [] }, finish_reason: null }],
      },
      { ...chunk, choices: [{ index: 1, delta: second?.message, finish_reason: null }] },
      { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
      { ...chunk, choices: [{ index: 1, delta: {}, finish_reason: 'length' }] },
      { ...chunk, choices: [], usage },
      '[DONE]',
    ]);
  });

  test('gives tool calls the index by which clients join their pieces', () => {
    const call = (id: string) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } });
    const message = { role: 'assistant', content: null, tool_calls: [call('a'), call('b')] };
    const [said] = eventsOf({ ...head, choices: [{ index: 0, message, finish_reason: 'tool_calls' }] });
    expect(said).toMatchObject({
      choices: [
        {
          delta: {
            tool_calls: [
              { index: 0, id: 'a' },
              { index: 1, id: 'b' },
            ],
          },
        },
      ],
    });
  });

  test('keeps values as they are written, in a reply of several lines as well', () => {
    const args = '{"id": 9007199254740993}';
    const call = `{"id": "a", "seq": 12345678901234567890, "function": {"arguments": ${JSON.stringify(args)}}}`;
    const message = `{"content": "\\u00e9", "2": 1.0, "1": 1e400, "tool_calls": [${call}]}`;
    const text = `{"id": "c", "created": 1.50, "trace": {"b": 18446744073709551615, "1": -0}, "choices": [
      {"index": 0, "message": ${message}, "token": 9007199254740993, "finish_reason": "stop"}],
      "usage": {
        "prompt_tokens": 7, "cost": 0.10
      }
    }`;
    const [said = '', ended = '', counted = ''] = String(openaiChat.reply.stream?.whole(text)).split('\n\n');
    for (const written of [
      '"created":1.50',
      '"trace":{"b": 18446744073709551615, "1": -0}',
      '"token":9007199254740993',
    ])
      expect(said).toContain(written);
    expect(said).toContain('"seq":12345678901234567890');
    expect(said).toContain('"delta":{"content":"\\u00e9","2":1.0,"1":1e400,"tool_calls":[{"index":0,"id":"a"');
    expect(said).toContain(JSON.stringify(args));
    expect(ended).toContain('"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]');
    expect(counted).toMatch(/"usage":\{ +"prompt_tokens": 7, "cost": 0\.10 +\}\}$/);
  });

  test('keeps what a single chunk says', () => {
    const [said, ended] = eventsOf({
      ...head,
      choices: [{ index: 0, delta: { content: 'Hi' }, finish_reason: 'stop' }],
    });
    expect(said).toMatchObject({ choices: [{ delta: { content: 'Hi' }, finish_reason: null }] });
    expect(ended).toMatchObject({ choices: [{ delta: {}, finish_reason: 'stop' }] });
  });

  test('numbers choices that have no number', () => {
    const said = eventsOf({ choices: [{ message: { content: 'a' } }, { message: { content: 'b' } }] });
    expect(said).toMatchObject([{ choices: [{ index: 0 }] }, { choices: [{ index: 1 }] }, {}, {}, '[DONE]']);
  });

  test('is counted as the reply itself', () => {
    const message = { role: 'assistant', content: 'Grüße', reasoning_content: 'so', images: ['x'] };
    const reply = { ...head, choices: [{ index: 0, message, finish_reason: 'stop' }], usage };
    const tally = openaiChat.reply.tally();
    tally.take(reply);
    const reader: StreamReader = chatReader(false);
    for (const chunk of eventsOf(reply).slice(0, -1)) reader.take(JSON.stringify(chunk), chunk as Json, null);
    const { answerBytes, claim, otherBytes, reasoningBytes } = reader.said;
    expect({ answerBytes, claim, otherBytes, reasoningBytes }).toEqual({
      answerBytes: tally.answerBytes,
      claim: tally.claim,
      otherBytes: tally.otherBytes,
      reasoningBytes: tally.reasoningBytes,
    });
  });

  test.each([null, [], [null, 1], 'x'])('has no choices if the reply has none: %j', (choices) => {
    expect(eventsOf({ ...head, choices })).toEqual(['[DONE]']);
  });
});

test('a whole completion as a stream has its text in place of a message', () => {
  const reply = { ...head, object: 'text_completion', choices: [{ index: 0, text: 'Hi', finish_reason: 'length' }] };
  expect(eventsOf(reply, openaiCompletions)).toEqual([
    { ...head, object: 'text_completion', choices: [{ index: 0, text: 'Hi', finish_reason: null }] },
    { ...head, object: 'text_completion', choices: [{ index: 0, text: '', finish_reason: 'length' }] },
    '[DONE]',
  ]);
});
