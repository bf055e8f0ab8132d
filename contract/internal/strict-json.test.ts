import { cases } from '@gw/testing/cases';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseStrictJson, readJsonText } from './strict-json.ts';
import { wellFormed } from './well-formed.ts';

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

describe('JSON that is passed on', () => {
  const read = (text: string) => {
    const result = readJsonText(Buffer.from(text));
    return result.ok ? { ...result.value, members: [...result.value.members] } : result.error.problem;
  };

  it('keeps the order of names, and each number as it is written', () => {
    expect(read('{"b":{"why":1,"2":1.0,"1":1e2},"9": -0 ,"a":[1e400,18446744073709551615]}')).toEqual({
      value: { b: { why: 1, 2: 1, 1: 100 }, 9: -0, a: [Number.POSITIVE_INFINITY, 2 ** 64] },
      members: [
        ['b', '{"why":1,"2":1.0,"1":1e2}'],
        ['9', '-0'],
        ['a', '[1e400,18446744073709551615]'],
      ],
      inexact: ['1e400', '18446744073709551615'],
    });
  });

  it('has the members of any object as JSON.parse has them, in the order of the text', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.constantFrom(0, 2), (object, indent) => {
        const entries = Object.entries(object);
        const written = entries.map(
          ([name, value]) => `${JSON.stringify(name)} : ${JSON.stringify(value, null, indent)}`,
        );
        const result = readJsonText(Buffer.from(`{${written.join(' ,')}}`));
        const members = result.ok ? [...result.value.members] : [];
        expect(members.map(([name, json]) => [name, JSON.parse(json)])).toEqual(
          entries.map(([name, value]) => [
            name.toWellFormed().replaceAll('\0', '\ufffd'),
            JSON.parse(wellFormed(JSON.stringify(value))),
          ]),
        );
      }),
    );
  });

  it('has nothing that could be read in two ways: odd names, halves of pairs, NUL, a mark in front', () => {
    expect(read('\ufeff{"\\u0061":{"\\u0062\\"":"\\u0063"},"d":"\\ud83d","\\u0000":1}')).toEqual({
      value: { a: { 'b"': 'c' }, d: '\ufffd', '\ufffd': 1 },
      members: [
        ['a', '{"b\\"":"\\u0063"}'],
        ['d', '"\ufffd"'],
        ['\ufffd', '1'],
      ],
      inexact: [],
    });
    expect(read('{"\\ud800":1,"\\udc00":2}')).toContain('twice');
    expect(read('{"a":1,"\\u0061":2}')).toContain('twice');
    expect(read('{"\\u0061":1,"\\x":2}')).toContain('not valid JSON');
    expect(read('{"a":\\u0000}')).toContain('not valid JSON');
    expect(read('["\\u0061"]')).toEqual({ value: ['a'], members: [], inexact: [] });
    expect(read('{"__proto__":{"a":1.0}}')).toMatchObject({ members: [['__proto__', '{"a":1.0}']] });
  });

  it('has no number that takes a reader long', () => {
    expect(read(`{"a":${'9'.repeat(1024)}}`)).toMatchObject({ value: { a: Number.POSITIVE_INFINITY } });
    for (const number of ['9'.repeat(1025), `0.${'1'.repeat(1023)}`]) expect(read(`{"a":${number}}`)).toContain('1024');
  });
});
