import fc from 'fast-check';
import { expect, test } from 'vitest';
import { elementsOf, membersOf, objectOf } from './json-members.ts';

test('members keep their order, their digits and their escapes', () => {
  const json =
    ' { "why" : "\\u00e9,}" ,\n"2": [1.0, {"b":2,"a":1}], "1":18446744073709551615, "\\u0061\\"":-0 ,"1":{} } ';
  expect(membersOf(json)).toEqual([
    ['why', '"\\u00e9,}"'],
    ['2', '[1.0, {"b":2,"a":1}]'],
    ['1', '18446744073709551615'],
    ['a"', '-0'],
    ['1', '{}'],
  ]);
  expect(objectOf(membersOf(json))).toBe(
    '{"why":"\\u00e9,}","2":[1.0, {"b":2,"a":1}],"1":18446744073709551615,"a\\"":-0,"1":{}}',
  );
  expect(elementsOf('[ 1.0,"a,b" , [2,3],{"c":[4]} ]')).toEqual(['1.0', '"a,b"', '[2,3]', '{"c":[4]}']);
  expect([membersOf(' { } '), elementsOf('[]'), objectOf([])]).toEqual([[], [], '{}']);
});

test('an object of its members is the same object', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.constantFrom(0, 2), (value, indent) => {
      const json = JSON.stringify(value, null, indent);
      expect(JSON.parse(objectOf(membersOf(json)))).toEqual(JSON.parse(json));
    }),
  );
});
