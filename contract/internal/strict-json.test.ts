import { cases } from '@gw/testing/cases';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseStrictJson } from './strict-json.ts';

const parse = (text: string) => parseStrictJson(Buffer.from(text));
const problem = (text: string) => {
  const result = parse(text);
  return result.ok ? null : result.error.problem;
};

describe('strict JSON', () => {
  it('reads every JSON value that JSON.stringify writes, to the same value', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        // Whole numbers beyond 2^53 are refused on purpose.
        fc.pre(!/\d{16}/.test(JSON.stringify(value)));
        const read = parse(JSON.stringify(value));
        // Not by JSON.parse, which is not always right (escaped-names.ts).
        expect(read.ok && JSON.stringify(read.value)).toBe(JSON.stringify(value));
      }),
    );
  });

  it('reads names with escapes as what they are, whatever names were read before', () => {
    // Each of these is taken for another one by JSON.parse itself once it has read a name with a backslash in its place.
    const names = ['"', '\\', '\n', '\r', '\f', '/', '\u0001', 'a"', 'a\\', 'a\n', 'a', '', '1', '__proto__', 'é"'];
    const { json } = fc.letrec((tie) => ({
      json: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        fc.constantFrom(0, null, 'text', '"', '\\n'),
        fc.array(tie('json'), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom(...names), tie('json'), { maxKeys: 4, noNullPrototype: true }),
      ),
    }));
    fc.assert(
      fc.property(json, (value) => {
        const read = parse(JSON.stringify(value));
        expect(read.ok && JSON.stringify(read.value)).toBe(JSON.stringify(value));
      }),
      { numRuns: cases(20_000, 1000) },
    );
    parse('{"first":[],"\\\\":0}');
    expect(parse('{"first":1,"\\"":2,"\\u005c":3}')).toEqual({ ok: true, value: { first: 1, '"': 2, '\\': 3 } });
    expect(problem('{"\\u0061":1,"\\x":2}')).toContain('not valid JSON');
  });

  it('never accepts what JSON.parse refuses, and never throws', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        const result = parseStrictJson(bytes);
        if (result.ok) expect(JSON.parse(Buffer.from(bytes).toString('utf8'))).toEqual(result.value);
      }),
      { numRuns: cases(2000) },
    );
  });

  it('refuses nesting above 64 levels before any recursion could fail', () => {
    expect(parse(`${'['.repeat(64)}${']'.repeat(64)}`).ok).toBe(true);
    expect(problem(`${'['.repeat(65)}${']'.repeat(65)}`)).toContain('64 levels');
    expect(problem('['.repeat(100_000))).toContain('64 levels');
    expect(problem('{"a":'.repeat(100_000))).toContain('64 levels');
  });

  it('refuses what holds too many keys, texts, lists or objects, and takes any count of numbers', () => {
    const many = (part: (at: number) => string, open: string, close: string) =>
      parse(`${open}${Array.from({ length: 120_000 }, (_, at) => part(at)).join(',')}${close}`);
    for (const part of ['""', '[]', '{}'])
      expect(
        many(() => part, '[', ']'),
        part,
      ).toMatchObject({ error: { why: 'too many parts' } });
    expect(many((at) => `"k${at}":1`, '{', '}')).toMatchObject({ ok: false, error: { why: 'too many parts' } });
    expect(many(() => '1', '[', ']').ok).toBe(true);
    expect(parse('{').ok ? null : parse('{')).toMatchObject({ error: { why: 'malformed' } });
  });

  it('refuses a key that stands twice, even when one of them is escaped', () => {
    expect(problem('{"a":1,"a":2}')).toContain('twice');
    expect(problem('{"a":1,"\\u0061":2}')).toContain('twice');
    expect(problem('{"x":[{"k":{},"k":1}]}')).toContain('twice');
    expect(parse('{"a":{"a":1},"b":[{"a":1},{"a":2}],"c":"a"}').ok).toBe(true);
  });

  it('refuses NUL and half surrogate pairs in values and keys', () => {
    expect(problem('{"a":"\\u0000"}')).toContain('NUL');
    expect(problem('{"a":["\\ud800"]}')).toContain('surrogate');
    expect(problem('{"\\udc00":1}')).toContain('surrogate');
    expect(parse('{"a":"\\ud83d\\ude00"}').ok).toBe(true);
  });

  it('refuses invalid UTF-8, a byte order mark, an empty body and numbers out of range', () => {
    expect(parseStrictJson(Buffer.from([0x22, 0xff, 0x22])).ok).toBe(false);
    expect(problem('\ufeff{}')).not.toBeNull();
    expect(problem('  ')).toContain('empty');
    expect(problem('{"a":1e999}')).toContain('out of range');
    expect(problem(`{"a":-${'9'.repeat(400)}}`)).toContain('out of range');
    // A whole number that would reach the provider as another one.
    expect(problem('{"a":12345678901234567890}')).toContain('out of range');
    expect(parse('{"a":1e300,"b":-0.5E-3,"c":9007199254740991}').ok).toBe(true);
  });

  it('does not take quotes, braces and commas inside strings for structure', () => {
    expect(parse('{"a":"\\\\","b":"}{,\\"a\\":","c":"\\\\\\""}')).toEqual({
      ok: true,
      value: { a: '\\', b: '}{,"a":', c: '\\"' },
    });
  });
});
