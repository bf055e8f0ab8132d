import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseObject } from '../../wire/json-body.ts';
import { SplitPairs } from './split-pairs.ts';

const high = '\\ud83d';
const low = '\\ude00';

/** Returns the chunks as they go out. */
function mended(...chunks: readonly string[]): string[] {
  const pairs = new SplitPairs();
  return chunks.map((data) => {
    const { text, value } = pairs.mended(data, parseObject(data) ?? {});
    expect(parseObject(text)).toEqual(value);
    return text;
  });
}
const chunk = (choice: string) => `{"id":"c","n":1.0,"choices":[{"index":0,${choice}}],"2":1,"1":2}`;
const said = (text: string, reason = 'null') => chunk(`"delta":{"content":"${text}"},"finish_reason":${reason}`);

describe('a character that is cut into two chunks', () => {
  it('is whole in the second one, and nothing else changes', () => {
    expect(mended(said(`hi ${high}`), said(`${low} you`), said('.', '"stop"'))).toEqual([
      said('hi '),
      said(`${high}${low} you`),
      said('.', '"stop"'),
    ]);
  });

  it('is whole in each text of each choice, whatever comes between', () => {
    const reasoning = (text: string) => chunk(`"delta":{"reasoning_content":"${text}"}`);
    const second = (text: string) => `{"choices":[{"delta":{"content":"${text}"},"index":1}]}`;
    const call = (text: string) => chunk(`"delta":{"tool_calls":[{"index":1,"function":{"arguments":"${text}"}}]}`);
    const legacy = (text: string) => chunk(`"text":"${text}"`);
    const two = [reasoning, said, second, call, legacy];
    const halves = [...two.map((of) => of(`a${high}`)), ...two.map((of) => of(`${low}b`))];
    const whole = [...two.map((of) => of('a')), ...two.map((of) => of(`${high}${low}b`))];
    expect(mended(...halves)).toEqual(whole);
  });

  it('may be cut again and again', () => {
    expect(mended(said(high), said(`${low}${high}`), said(low), said('', '"stop"'))).toEqual([
      said(''),
      said(`${high}${low}`),
      said(`${high}${low}`),
      said('', '"stop"'),
    ]);
  });
});

describe('a half that nothing completes', () => {
  it('is U+FFFD where its text goes on or ends', () => {
    expect(mended(said(`a${high}`), said('b'))).toEqual([said('a'), said('\ufffdb')]);
    expect(mended(said(`a${high}`), said(high), said(low))).toEqual([said('a'), said('\ufffd'), said(`${high}${low}`)]);
    expect(mended(said(`a${high}`, '"length"'))).toEqual([said('a\ufffd', '"length"')]);
    expect(mended(said(low), said(`${high} b\\u0000`))).toEqual([said('\ufffd'), said('\ufffd b\ufffd')]);
    expect(mended(said(`\\\\ud83d`), said(low))).toEqual([said('\\\\ud83d'), said('\ufffd')]);
  });

  it('is U+FFFD in the chunk that ends its choice, which may have no text of its own', () => {
    const end = (delta: string) => chunk(`"delta":${delta},"finish_reason":"length"`);
    for (const [delta, with_] of [
      ['{}', '{"content":"\ufffd"}'],
      ['{"content":null,"role":"assistant"}', '{"content":"\ufffd","role":"assistant"}'],
      ['{"role":"assistant"}', '{"role":"assistant","content":"\ufffd"}'],
      ['{"content":""}', '{"content":"\ufffd"}'],
      ['null', '{"content":"\ufffd"}'],
    ] as const)
      expect(mended(said(`a${high}`), end(delta))).toEqual([said('a'), end(with_)]);
    expect(mended(said(`a${high}`), chunk('"finish_reason":"length"'))).toEqual([
      said('a'),
      chunk('"finish_reason":"length","delta":{"content":"\ufffd"}'),
    ]);
    const call = (text: string) => `{"tool_calls":[{"index":2,"function":{"arguments":"${text}"}}]}`;
    expect(mended(chunk(`"delta":${call(`{${high}`)}`), end('{}'))).toEqual([
      chunk(`"delta":${call('{')}`),
      end(call('\ufffd')),
    ]);
    // The end of another choice is none of this one.
    expect(mended(said(high), '{"choices":[{"index":1,"delta":{},"finish_reason":"stop"}]}', said(low))).toEqual([
      said(''),
      '{"choices":[{"index":1,"delta":{},"finish_reason":"stop"}]}',
      said(`${high}${low}`),
    ]);
  });

  it('is U+FFFD at once where no text grows, and where there are too many', () => {
    const beside = `{"x":"${high}","choices":[{"index":0,"logprobs":{"token":"${high}"}}]}`;
    expect(mended(beside)).toEqual([beside.replaceAll(high, '\ufffd')]);
    const choices = (text: string) =>
      `{"choices":[${Array.from({ length: 70 }, (_, index) => `{"index":${index},"delta":{"content":"${text}"}}`)}]}`;
    const [first] = mended(choices(high));
    expect(first?.split('\ufffd')).toHaveLength(7);
    for (const odd of [
      `{"choices":"${high}"}`,
      `{"choices":["${high}",null,[{}]]}`,
      `{"choices":[{"delta":"${high}"}]}`,
    ])
      expect(mended(odd)).toHaveLength(1);
  });
});

it('however a text is cut, the client gets its characters', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.array(fc.nat(40)), (text, cuts) => {
      const clean = text.replaceAll('\0', '');
      const at = [0, ...cuts.toSorted((a, b) => a - b), clean.length];
      const pieces = at.slice(1).map((end, index) => clean.slice(at[index], end));
      const chunks = pieces.map((content) => JSON.stringify({ choices: [{ index: 0, delta: { content } }] }));
      const texts = mended(...chunks, chunk('"delta":{},"finish_reason":"stop"')).map(
        (json) => JSON.parse(json).choices[0].delta.content ?? '',
      );
      for (const each of texts) expect(each.isWellFormed()).toBe(true);
      expect(texts.join('')).toBe(clean);
    }),
  );
});
