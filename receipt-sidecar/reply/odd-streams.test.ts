/** Streams that do not follow the letter of server-sent events, or of OpenAI's chunks, and can be understood all the same. */
import { chatReader } from '@gw/testing/receipt-sidecar/chat-reader';
import { eventBounds } from '@gw/testing/receipt-sidecar/event-bounds';
import { describe, expect, it, test } from 'vitest';
import { EventStream } from './event-stream.ts';

const addresses = { baseUrl: 'http://gw.test', statusUrl: '', auditEmail: '', securityEmail: '' };

function run(text: string, { wantsUsage = false, step = Number.POSITIVE_INFINITY } = {}) {
  const stream = new EventStream({
    reader: chatReader(wantsUsage),
    addresses,
    energyReader: null,
    ...eventBounds,
    refusalFor: () => null,
    receipt: () => ({ gw: '{}', routingTrace: '{}', usageGw: '{}', counts: null }),
  });
  const bytes = Buffer.from(text);
  const out: Buffer[] = [];
  const size = Math.min(step, bytes.length);
  for (let from = 0; from < bytes.length; from += size) {
    stream.push(bytes.subarray(from, from + size));
    out.push(stream.take());
  }
  stream.end();
  out.push(stream.take());
  const data = [
    ...Buffer.concat(out)
      .toString()
      .matchAll(/^data: (.*)$/gm),
  ].map(([, found]) => String(found));
  const chunks = data.filter((each) => each !== '[DONE]').map((each) => JSON.parse(each));
  const content = chunks.map((chunk) => chunk.choices?.[0]?.delta?.content ?? '').join('');
  return { chunks, content, first: out[0]?.toString(), isDone: data.at(-1) === '[DONE]', said: stream.facts.said };
}

const chunk = (delta: object | null, reason: string | null = null) => ({
  id: 'c',
  choices: [{ index: 0, delta, finish_reason: reason }],
});
const said = (content: string) => chunk({ content });
const end = chunk({}, 'stop');
const usage = { id: 'c', choices: [], usage: { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25 } };
const line = (value: unknown) => `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n`;
const event = (value: unknown) => `${line(value)}\n`;
const counted = expect.objectContaining({ claim: expect.objectContaining({ prompt: 20, completion: 5 }) });

describe('events without the blank line between them', () => {
  const whole = { content: 'Hello', isDone: true, said: counted };

  test.each([1, 2, 7, 100, Number.POSITIVE_INFINITY])('are events of their own, in pieces of %d bytes', (step) => {
    const text = `${line(said('Hel'))}${event(said('lo'))}${line(end)}${event(usage)}${event('[DONE]')}`;
    expect(run(text, { step })).toMatchObject(whole);
    expect(run([said('Hel'), said('lo'), end, usage, '[DONE]'].map(line).join(''), { step })).toMatchObject(whole);
    expect(run(text.replaceAll('\n', '\r\n'), { step })).toMatchObject(whole);
  });

  it('come out before the stream ends', () => {
    const begun = line(said('Hel')) + line(said('lo'));
    expect(run(begun + line(end) + line('[DONE]'), { step: begun.length }).first).toContain('"Hel"');
  });

  it('are one event where its lines make one object together', () => {
    const lines = JSON.stringify(said('Hello'), null, 1).split('\n').map(line).join('');
    expect(run(`${lines}\n${event(end)}${event(usage)}${event('[DONE]')}`)).toMatchObject(whole);
    const bare = JSON.stringify(said('Hello'))
      .replaceAll(/[{}[\]]/g, '$&\n')
      .split('\n')
      .map(line)
      .join('');
    expect(run(`${bare}\n${event(end)}${event(usage)}${event('[DONE]')}`)).toMatchObject(whole);
  });
});

it('takes null for an event that says nothing', () => {
  const text = ['null', said('Hello'), 'null', end, ' null ', usage, '[DONE]'].map(event).join('');
  expect(run(text)).toMatchObject({ content: 'Hello', isDone: true, said: counted });
});

test.each([' [DONE]', '[DONE] ', '"[DONE]"'])('%j is the end', (mark) => {
  const { chunks, isDone } = run([said('Hi'), end, usage, mark, said('more')].map(event).join(''));
  expect(isDone).toBe(true);
  expect(JSON.stringify(chunks)).not.toContain('more');
});

it('keeps counts behind which others of zeros come', () => {
  const zeros = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
  for (const late of [
    { ...usage, usage: zeros },
    { ...chunk({}), usage: zeros },
  ])
    expect(run([{ ...said('Hi'), usage: zeros }, end, usage, late, '[DONE]'].map(event).join('')).said).toEqual(
      counted,
    );
});

describe('an index that clients look for', () => {
  const call = (fields: object) => chunk({ tool_calls: [fields] });
  const calls = (...events: object[]) =>
    run([...events, chunk({}, 'tool_calls'), usage, '[DONE]'].map(event).join('')).chunks.flatMap((each) =>
      (each.choices[0]?.delta?.tool_calls ?? []).map(({ index, id }: { index: unknown; id?: string }) => [index, id]),
    );

  it('is added to a choice by its place', () => {
    const choice = { delta: { content: 'Hi' }, finish_reason: null };
    const { chunks } = run(
      [{ id: 'c', choices: [choice] }, { id: 'c', choices: [{ finish_reason: 'stop' }] }, '[DONE]'].map(event).join(''),
    );
    expect(chunks).toMatchObject([{ choices: [{ index: 0, ...choice }] }, { choices: [{ index: 0 }] }]);
  });

  it('is added to each call of tools, and to the pieces that go on with it', () => {
    const named = (id: string) => ({ id, function: { name: 'f', arguments: '' } });
    const more = { function: { arguments: '{}' } };
    expect(calls(call(named('a')), call(more), call(named('b')), call(more))).toEqual([
      [0, 'a'],
      [0, undefined],
      [1, 'b'],
      [1, undefined],
    ]);
    expect(calls(chunk({ tool_calls: [named('a'), named('b')] }))).toEqual([
      [0, 'a'],
      [1, 'b'],
    ]);
  });

  it('tells calls without ids apart by the name at their beginning, and knows an id again', () => {
    const nameless = { function: { name: 'f', arguments: '{}' } };
    expect(calls(call(nameless), call(nameless)).map(([index]) => index)).toEqual([0, 1]);
    const repeated = { id: 'a', function: { name: 'f', arguments: '1' } };
    expect(calls(call(repeated), call(repeated)).map(([index]) => index)).toEqual([0, 0]);
  });

  it('goes on behind those that are stated', () => {
    expect(calls(call({ index: 3, id: 'a' }), call({ id: 'b', function: { name: 'f' } }))).toEqual([
      [3, 'a'],
      [4, 'b'],
    ]);
  });

  it('changes nothing else', () => {
    const text = '{"id": "c", "n": 1.50, "choices": [{"delta": {"tool_calls": [{"id": "a", "x": 9007199254740993}]}}]}';
    const stream = event(text) + event(chunk({}, 'tool_calls')) + event('[DONE]');
    const { first } = run(stream);
    expect(first).toContain(
      'data: {"id":"c","n":1.50,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","x":9007199254740993}]}}]}',
    );
    expect(run(event(said('Hi')) + event(end) + event('[DONE]')).first).toContain(event(said('Hi')));
  });
});

test.each([undefined, null, {}, 'x'])('choices that are none, %j, are an empty list', (choices) => {
  const { chunks } = run([said('Hi'), { id: 'c', choices }, end, { ...usage, choices }, '[DONE]'].map(event).join(''), {
    wantsUsage: true,
  });
  expect(chunks).toMatchObject([{}, { id: 'c', choices: [] }, {}, { choices: [], usage: usage.usage }]);
});
