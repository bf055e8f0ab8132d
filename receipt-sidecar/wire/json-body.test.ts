/** Where the receipt and its few numbers beside the token counts go in the text of a reply. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addToObject, parseObject, withoutForgery, withoutUsage } from './json-body.ts';

const usageGw = '{"receipt_id":"r","energy_wh":1,"carbon_g":null}';
const added = (text: string) => addToObject(text, parseObject(text) as Record<string, unknown>, { gw: '1', usageGw });

test.each([
  ['at the end', '{"id":1.50,"usage":{"total_tokens":7}}', '{"id":1.50,"usage":{"total_tokens":7,"gw":U},"gw":1}'],
  ['in the middle', '{"usage" : {"a":"}\\""} ,"b":[{}]}', '{"usage" : {"a":"}\\"","gw":U} ,"b":[{}],"gw":1}'],
  ['empty', '{"usage":{ }}', '{"usage":{ "gw":U},"gw":1}'],
  ['nested', '{"usage":{"d":{"usage":{}}}}', '{"usage":{"d":{"usage":{}},"gw":U},"gw":1}'],
  ['null', '{"usage":null}', '{"usage":null,"gw":1}'],
  ['missing', '{"a":{"usage":{}}}', '{"a":{"usage":{}},"gw":1}'],
  ['twice, the last of which counts', '{"usage":{"a":1},"usage":{}}', '{"usage":{"a":1},"usage":{"gw":U},"gw":1}'],
  [
    'in front of a text that looks like one',
    '{"usage":{"a":1},"b":"\\"usage\\":{"}',
    '{"usage":{"a":1,"gw":U},"b":"\\"usage\\":{","gw":1}',
  ],
  [
    'in front of a value of its name',
    '{"n":1.0,"usage":{"a":1},"b":"usage"}',
    '{"n":1.0,"usage":{"a":1,"gw":U},"b":"usage","gw":1}',
  ],
  [
    'in front of a nested one',
    '{"n":1e400,"usage":{"a":1},"x":{"usage":{}}}',
    '{"n":1e400,"usage":{"a":1,"gw":U},"x":{"usage":{}},"gw":1}',
  ],
  [
    'in front of a key that ends like it',
    '{"usage":{"a":1},"x\\"usage":{}}',
    '{"usage":{"a":1,"gw":U},"x\\"usage":{},"gw":1}',
  ],
  ['with what it holds of ours taken out', '{"usage":{"a":1,"gw":2},"b":1}', '{"usage":{"a":1,"gw":U},"b":1,"gw":1}'],
])('a usage %s', (_, text, expected) => {
  expect(added(text)).toBe(expected.replace('U', usageGw));
});

const mirrored = (text: string, usageImpacts: string | null) =>
  addToObject(text, parseObject(text) as Record<string, unknown>, { gw: '1', usageGw, usageImpacts });

test.each([
  ['beside the receipt', '{"usage":{"a":1}}', '{"usage":{"a":1,"gw":U,"impacts":I},"gw":1}'],
  ['in place of one', '{"usage":{"impacts":{"kWh":9},"a":1.0}}', '{"usage":{"a":1.0,"gw":U,"impacts":I},"gw":1}'],
  ['alone', '{"usage":{"IMPACTS":1}}', '{"usage":{"gw":U,"impacts":I},"gw":1}'],
  ['in any spelling', '{"usage":{"\\u0069mpacts":1,"impactſ":2}}', '{"usage":{"gw":U,"impacts":I},"gw":1}'],
  [
    'in a usage alone',
    '{"impacts":2,"usage":{"d":{"impacts":3}}}',
    '{"impacts":2,"usage":{"d":{"impacts":3},"gw":U,"impacts":I},"gw":1}',
  ],
  ['nowhere without a usage', '{"impacts":2}', '{"impacts":2,"gw":1}'],
])('impacts stand %s', (_, text, expected) => {
  expect(mirrored(text, '{"kWh":1}')).toBe(expected.replace('U', usageGw).replace('I', '{"kWh":1}'));
  // Where the receipt has no numbers, the client gets no others either.
  expect(mirrored(text, null)).toBe(expected.replace('U', usageGw).replace(',"impacts":I', ''));
});

test('impacts of a provider stay as they are where the account has not asked for ours', () => {
  expect(added('{"usage":{"impacts":{"kWh": 9.0}}}')).toBe(`{"usage":{"impacts":{"kWh": 9.0},"gw":${usageGw}},"gw":1}`);
});

test('a usage with much behind it is found, and nothing of that changes', () => {
  const data = `"data":[${'0.10,'.repeat(40_000)}1e400,{"usage":{}}]`;
  expect(added(`{"usage":{"a":1},${data}}`)).toBe(`{"usage":{"a":1,"gw":${usageGw}},${data},"gw":1}`);
});

/** Names that no object of a reply has (the test of inner names). */
const withoutPrototypes = (value: unknown) =>
  JSON.stringify(value, (_, inner) =>
    isObject(inner) ? Object.fromEntries(Object.entries(inner).filter(([name]) => name !== '__proto__')) : inner,
  );
const isObject = (value: unknown): value is object =>
  value !== null && typeof value === 'object' && !Array.isArray(value);

test('whatever the reply is, both are added and nothing else changes', () => {
  const key = fc.constantFrom('usage', 'Usage', 'gw', 'choices', '"usage":{', 'x"usage', 'é');
  const value = fc.oneof(fc.dictionary(key, fc.jsonValue(), { maxKeys: 3 }), fc.jsonValue(), fc.constant('usage'));
  fc.assert(
    fc.property(fc.dictionary(key, value, { maxKeys: 5 }), fc.constantFrom(0, 1), (reply, indent) => {
      const { gw: _, usage, ...others } = JSON.parse(withoutPrototypes(reply));
      const isCounted = usage !== null && typeof usage === 'object' && !Array.isArray(usage);
      const { Usage } = others;
      if (Usage !== null && typeof Usage === 'object' && !Array.isArray(Usage)) delete Usage.gw;
      const shown = isCounted ? { usage: { ...usage, gw: JSON.parse(usageGw) } } : 'usage' in reply ? { usage } : {};
      expect(JSON.parse(added(JSON.stringify(reply, null, indent)))).toEqual({ ...others, ...shown, gw: 1 });
    }),
  );
});

test('what is written anew has the names of tokens that the provider gave', () => {
  // Names that Node's JSON.parse would take those of the reply for from then on (contract/internal/escaped-names.ts).
  JSON.parse('{"top_logprobs":[{"a":0.5,"\\\\":1.5}]}');
  const logprobs = '"logprobs":{"top_logprobs":[{"a":-0.1,"\\n":-2.5}]}';
  const text = `{"choices":[{${logprobs}}],"usage":{"total_tokens":7}}`;
  const value = parseObject(text) as Record<string, unknown>;
  expect(withoutUsage(text, value).text).toBe(`{"choices":[{${logprobs}}]}`);
  const forged = `{"gw":1,"choices":[{${logprobs}}]}`;
  expect(withoutForgery(forged, parseObject(forged) as Record<string, unknown>)).toBe(`{"choices":[{${logprobs}}]}`);
});

test('what stays when something is removed stays as it is written', () => {
  const rest = '"why":"\\u00e9","2":1.0,"1":18446744073709551615,"choices":[{"b":1E+2,"1":-0}]';
  const text = `{ "gw" : {"a":[1]}, ${rest}, "usage" : {"total_tokens":7.0,"2":1,"GW":1} }`;
  const value = parseObject(text) as Record<string, unknown>;
  expect(withoutForgery(text, value)).toBe(`{${rest},"usage":{"total_tokens":7.0,"2":1}}`);
  const chunk = `{${rest},"usage":{"total_tokens":7.0}}`;
  expect(withoutUsage(chunk, parseObject(chunk) as Record<string, unknown>).text).toBe(`{${rest}}`);
});

test('a forgery goes from each of two members with one name', () => {
  const text = '{"usage":{"gw":1,"a":1},"usage":{"\\u0067w":2,"b":1},"gw":3,"g\\u0057":4}';
  const value = parseObject(text) as Record<string, unknown>;
  expect(withoutForgery(text, value)).toBe('{"usage":{"a":1},"usage":{"b":1}}');
});

test.each([
  ['in an answer', '{"choices":[{"gw":{"a":[1]},"index":0}]}', '{"choices":[{"index":0}]}'],
  ['in its message', '{"choices":[{"message":{"x":1,"gw":1, "y":2}}]}', '{"choices":[{"message":{"x":1, "y":2}}]}'],
  ['alone in it', '{"choices":[{"delta":{ "gw":1 }}]}', '{"choices":[{"delta":{}}]}'],
  ['first and last', '{"data":[{"gw":1,"Gw":2,"a":1,"g\\u0077":3}]}', '{"data":[{"a":1}]}'],
  [
    'of a trace',
    '{"a":1.0,"c":[0,{"delta":{"ROUTING_TRACE":[{}],"b":"\\""}}]}',
    '{"a":1.0,"c":[0,{"delta":{"b":"\\""}}]}',
  ],
  ['as a prototype', '{"__proto__":{"gw":1},"a":{"b":[[{"\\u005f_proto__":1,"c":1}]]}}', '{"a":{"b":[[{"c":1}]]}}'],
  ['in a prototype that is in one', '{"a":{"x":1,"__proto__":{"y":1,"__proto__":{}}},"b":2}', '{"a":{"x":1},"b":2}'],
])('a forgery %s goes, and nothing else', (_, text, expected) => {
  const value = parseObject(text) as Record<string, unknown>;
  expect(withoutForgery(text, value)).toBe(expected);
});

test.each([
  '{"choices":[{"logprobs":{"top_logprobs":[{"gw":-1,"routing_trace":-2}]},"text":"\\"gw\\":1"}]}',
  '{"metadata":{"gw":"of a client"},"a":[["gw",{"gw":1}]]}',
  '{"choices":[{"message":{"content":"gw","tool_calls":[{"function":{"gw":1}}]}}]}',
])('a name that a client may have given stays: %s', (text) => {
  expect(JSON.parse(withoutForgery(text, parseObject(text) as Record<string, unknown>))).toEqual(JSON.parse(text));
});

test('names that are nested, many times over, cost one pass', () => {
  const nested = '{"gw":'.repeat(120);
  const text = `{"choices":[{"a":${`[${Array(4000)
    .fill(nested + 1 + '}'.repeat(120))
    .join()}]`}}]}`;
  const value = parseObject(text) as Record<string, unknown>;
  const began = performance.now();
  expect(withoutForgery(text, value)).toHaveLength(text.length);
  // Some 3 MB: a pass for each level would take far longer.
  expect(performance.now() - began).toBeLessThan(5000);
});
