import { describe, expect, it } from 'vitest';
import { parseRequest } from './parse.ts';
import { outgoing, serialise } from './provider-body.ts';

const chat = (fields: object) =>
  parseRequest(
    'chat',
    Buffer.from(JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }], ...fields })),
  );
const errorOf = (fields: object) => {
  const parsed = chat(fields);
  if (parsed.ok) throw new Error('was accepted');
  return { code: parsed.error.code, param: parsed.error.param, status: parsed.error.status, type: parsed.error.type };
};
/** Returns what the provider gets of a body that is written like this, as text and as JSON.parse reads it; or the error. */
function sentOf(endpoint: 'chat' | 'completions' | 'embeddings', written: string) {
  const parsed = parseRequest(endpoint, Buffer.from(written));
  if (!parsed.ok) return { code: parsed.error.code, param: parsed.error.param };
  const target = { providerModel: 'p', takesTemperature: true, refused: [] };
  return Buffer.concat(serialise(outgoing(parsed.value), target)).toString();
}
const refused = (code: string, param: string | null) => ({ code, param, status: 400, type: 'validation_error' });

describe('a request', () => {
  it('names the field at fault and the code of its family', () => {
    expect(errorOf({ temperature: 2.5 })).toEqual(refused('invalid_temperature', 'temperature'));
    expect(errorOf({ temperature: 'hot' })).toEqual(refused('invalid_temperature', 'temperature'));
    expect(errorOf({ top_p: -0.1 })).toEqual(refused('invalid_top_p', 'top_p'));
    expect(errorOf({ max_tokens: 1.5 })).toEqual(refused('invalid_max_tokens', 'max_tokens'));
    expect(errorOf({ messages: [] })).toEqual(refused('invalid_messages', 'messages'));
    expect(errorOf({ messages: [{ role: 'nobody', content: 'x' }] })).toEqual(
      refused('invalid_role', 'messages[0].role'),
    );
    expect(errorOf({ messages: [{ role: 'user', content: 5 }] })).toEqual(
      refused('invalid_content', 'messages[0].content'),
    );
    expect(errorOf({ gw: { tier: 'best' } })).toEqual(refused('invalid_tier', 'gw.tier'));
    expect(errorOf({ gw: { boundary: 1 } })).toEqual(refused('invalid_boundary', 'gw.boundary'));
    expect(errorOf({ gw: { colour: 'green' } })).toEqual(refused('invalid_gw', 'gw.colour'));
    expect(errorOf({ extra_body: { gw: { tier: 1 } } })).toEqual(refused('invalid_tier', 'extra_body.gw.tier'));
  });

  it('makes no code, and no long text, of what the client named', () => {
    expect(errorOf({ logit_bias: { 50256: 500 } })).toEqual(refused('invalid_logit_bias', 'logit_bias.50256'));
    const parsed = chat({ gw: { ['k'.repeat(1_000_000)]: 1 } });
    expect(parsed.ok ? 0 : JSON.stringify(parsed.error).length).toBeLessThan(500);
  });

  it('refuses millions of wrong values without looking at each', () => {
    const many = Array.from({ length: 2_000_000 }, () => 0);
    const bytes = (fields: object) => Buffer.from(JSON.stringify({ model: 'm', ...fields }));
    const messages = parseRequest('chat', bytes({ messages: many }));
    expect(messages.ok ? null : messages.error.code).toBe('invalid_request');
    const mixed = parseRequest('embeddings', bytes({ input: [...many, 'x'] }));
    expect(mixed.ok ? null : mixed.error).toMatchObject({ code: 'invalid_input', param: 'input' });
    const pairs = Object.fromEntries(many.slice(0, 40_000).map((value, at) => [`k${at}`, value]));
    // Not the first of them, but that they are too many.
    for (const field of ['metadata', 'logit_bias'])
      expect(errorOf({ [field]: pairs })).toEqual(refused(`invalid_${field}`, field));
    const tokens = parseRequest('embeddings', bytes({ input: many }));
    expect(tokens.ok && (tokens.value.body.input as number[]).length).toBe(2_000_000);
  });

  it('counts the values of a list that its endpoint knows nothing of, and passes it on if they are few', () => {
    const many = Array.from({ length: 60_000 }, () => 0);
    for (const field of ['prompt', 'input'])
      expect(errorOf({ [field]: many })).toEqual(refused('invalid_request', null));
    const few = chat({ input: [{ a: 1 }], prompt: [1, 'a'] });
    expect(few.ok && few.value.body).toMatchObject({ input: [{ a: 1 }], prompt: [1, 'a'] });
  });

  it('takes every form of texts and tokens, and no mixture', () => {
    const input = (value: unknown) =>
      parseRequest('embeddings', Buffer.from(JSON.stringify({ model: 'm', input: value }))).ok;
    for (const good of ['a', ['a', 'b'], [1, 2], [[1], [2, 3]]]) expect(input(good), JSON.stringify(good)).toBe(true);
    for (const bad of [
      '',
      [],
      [''],
      ['a', 1],
      [1, 'a'],
      [[1], 'a'],
      [[]],
      [1.5],
      [-1],
      5,
      null,
      {},
      Array(2049).fill('a'),
    ]) {
      expect(input(bad), JSON.stringify(bad)).toBe(false);
    }
  });

  it('takes the names of tools that OpenAI and others have, and no text', () => {
    const named = (name: string) => chat({ tools: [{ type: 'function', function: { name } }] }).ok;
    for (const good of ['get_weather', 'mcp__files__read-2', 'a.b:c/d', '$web_search'])
      expect([good, named(good)]).toEqual([good, true]);
    for (const bad of ['', 'a b', 'ä', 'a"b', 'a'.repeat(129)]) expect([bad, named(bad)]).toEqual([bad, false]);
  });

  it('says which required parameter is missing', () => {
    expect(errorOf({ model: undefined })).toEqual(refused('missing_required_parameter', 'model'));
    expect(errorOf({ messages: undefined })).toEqual(refused('missing_required_parameter', 'messages'));
    expect(errorOf({ messages: [{ content: 'x' }] })).toEqual(
      refused('missing_required_parameter', 'messages[0].role'),
    );
    expect(errorOf({ messages: [{ role: 'user' }] })).toEqual(
      refused('missing_required_parameter', 'messages[0].content'),
    );
  });

  it('takes the options from gw or extra_body.gw, and refuses two that differ', () => {
    for (const fields of [
      { gw: { tier: 'proxy' } },
      { extra_body: { gw: { tier: 'proxy' } } },
      { gw: { tier: 'proxy' }, extra_body: { gw: { tier: 'proxy' } } },
    ]) {
      const parsed = chat(fields);
      expect(parsed.ok && parsed.value.request.options).toEqual({ tier: 'proxy' });
    }
    expect(errorOf({ gw: { tier: 'proxy' }, extra_body: { gw: { tier: 'auto' } } })).toEqual(
      refused('invalid_gw', 'gw'),
    );
  });

  it('takes an option of null for none, and remembers where the client wrote the others', () => {
    const optionsOf = (fields: object) => {
      const parsed = chat(fields);
      return parsed.ok ? [parsed.value.request.options, parsed.value.request.optionsPath] : parsed.error;
    };
    const nothing = { tier: null, boundary: null, region: null };
    expect(optionsOf({ gw: nothing })).toEqual([{}, 'gw']);
    expect(optionsOf({ gw: { ...nothing, tier: 'proxy' } })).toEqual([{ tier: 'proxy' }, 'gw']);
    expect(optionsOf({ gw: null, extra_body: { gw: { ...nothing, tier: 'proxy' } } })).toEqual([
      { tier: 'proxy' },
      'extra_body.gw',
    ]);
    expect(optionsOf({ gw: { region: null }, extra_body: { gw: {} } })).toEqual([{}, 'gw']);
    expect(errorOf({ gw: { colour: null } })).toEqual(refused('invalid_gw', 'gw.colour'));
  });

  it('refuses a body that is no object', () => {
    for (const body of ['[]', '"text"', '5', 'null']) {
      const parsed = parseRequest('chat', Buffer.from(body));
      expect(parsed.ok ? null : parsed.error.code).toBe('invalid_json');
    }
  });

  it('reaches the provider with unknown fields, without ours, with usage asked for and the temperature spelled out', () => {
    const parsed = chat({ gw: { tier: 'proxy' }, extra_body: {}, vendor_option: { a: 1 }, stream: true });
    if (!parsed.ok) throw new Error(parsed.error.message);
    const own = outgoing(parsed.value);
    const sentTo = (model: string, takesTemperature: boolean) =>
      JSON.parse(Buffer.concat(serialise(own, { providerModel: model, takesTemperature, refused: [] })).toString());
    const sent = sentTo('upstream-name', true);
    expect(sent).toEqual({
      model: 'upstream-name',
      messages: [{ role: 'user', content: 'hi' }],
      vendor_option: { a: 1 },
      stream: true,
      temperature: 1,
      stream_options: { include_usage: true },
    });
    expect(sentTo('m', false)).not.toHaveProperty('temperature');
    expect(parsed.value.request.wantsUsage).toBe(false);
    // As bytes of a thread, too.
    const rest = new TextEncoder().encode(String(own.rest));
    const target = { providerModel: 'm', takesTemperature: true, refused: [] };
    expect(Buffer.concat(serialise({ ...own, rest }, target))).toEqual(Buffer.concat(serialise(own, target)));
  });

  it('is told by its bytes, and by the bound that the client set', () => {
    const parsed = chat({ max_completion_tokens: 7 });
    expect(parsed.ok && parsed.value.request).toMatchObject({
      promptBytes: 83,
      estimatedPromptTokens: 5,
      outputField: 'max_completion_tokens',
      maxTokens: 7,
    });
    expect(chat({ max_tokens: 5 })).toMatchObject({ value: { request: { outputField: 'max_tokens', maxTokens: 5 } } });
    expect(chat({ max_tokens: null })).toMatchObject({ value: { request: { outputField: null, maxTokens: null } } });
  });
});

describe('what a request charges itself to', () => {
  const asks = {
    chat: { messages: [{ role: 'user', content: 'hi' }] },
    completions: { prompt: 'hi' },
    embeddings: { input: 'hi' },
    responses: { input: 'hi' },
    messages: { messages: [{ role: 'user', content: 'hi' }], max_tokens: 8 },
  } as const;
  const parsed = (endpoint: keyof typeof asks, metadata: unknown) =>
    parseRequest(endpoint, Buffer.from(JSON.stringify({ model: 'm', ...asks[endpoint], metadata })));

  describe.each(['chat', 'completions', 'embeddings', 'responses', 'messages'] as const)('of %s', (endpoint) => {
    it('is metadata.project, without what stands around it, and the provider does not get it', () => {
      const read = (metadata: unknown) => {
        const result = parsed(endpoint, metadata);
        if (!result.ok) throw new Error(result.error.message);
        const { body, request } = result.value;
        return [request.project, body.metadata];
      };
      expect(read({ project: ' Köln 1 ' })).toEqual(['Köln 1', undefined]);
      expect(read({ project: 'x'.repeat(64), other: 'y' })).toEqual(['x'.repeat(64), { other: 'y' }]);
      expect(read({ project: null, other: 'y' })).toEqual([undefined, { other: 'y' }]);
      expect(read({ other: 'y' })).toEqual([undefined, { other: 'y' }]);
      expect(read(null)).toEqual([undefined, null]);
      expect(read(undefined)).toEqual([undefined, undefined]);
    });

    it.each(['', ' ', 'x'.repeat(65), 'a\nb', '\u0007', 5, true, ['a'], { a: 1 }])(
      '%j is an error that names it',
      (project) => {
        const result = parsed(endpoint, { project });
        expect(result.ok ? null : result.error).toMatchObject({
          status: 400,
          code: 'invalid_metadata',
          param: 'metadata.project',
        });
      },
    );
  });

  it('is one of at most 16 pairs with short names and texts, as OpenAI has them', () => {
    const refusal = (metadata: unknown) => {
      const result = parsed('chat', metadata);
      return result.ok ? null : result.error.param;
    };
    expect(refusal({ a: 5 })).toBe('metadata.a');
    expect(refusal({ a: 'x'.repeat(513) })).toBe('metadata.a');
    expect(refusal({ ['k'.repeat(65)]: 'x' })).toBe(`metadata.${'k'.repeat(64)}`);
    const pairs = (many: number) => Object.fromEntries(Array.from({ length: many }, (_, at) => [`k${at}`, 'x']));
    expect([refusal(pairs(16)), refusal(pairs(17))]).toEqual([null, 'metadata']);
  });
});

describe('what the client wrote', () => {
  const messages = '"messages":[{"role":"user","content":"x"}]';
  const opening = '{"model":"p","temperature":1,';

  it.each([
    [
      'the schema of an answer',
      '"response_format":{"type":"json_schema","json_schema":{"name":"s","schema":{"properties":{"why":{},"2":{},"1":{}}}}}',
    ],
    [
      'the schema of a tool',
      '"tools":[{"type":"function","function":{"name":"f","parameters":{"properties":{"why":{},"404":{},"200":{}}}}}]',
    ],
    ['the schema of a function', '"functions":[{"name":"f","parameters":{"properties":{"why":{},"404":{},"200":{}}}}]'],
    [
      'a bound of 64 bits',
      '"functions":[{"name":"f","parameters":{"maximum":18446744073709551615,"minimum":-9223372036854775808}}]',
    ],
    ['numbers', '"vendor":{"a":[1.0,1e2,-0,1E400,0.10000000000000000000001],"b": 18446744073709552000 }'],
    ['names that look like numbers, at the top', '"why":1,"7":2,"3":3'],
    ['a name that objects have', '"__proto__":{"a":1.0},"constructor":{"__proto__":2}'],
    ['escapes of texts', '"vendor":"\\ud83d\\ude00 \\u00e9 \\/"'],
  ])('goes on as it is: %s', (_, written) => {
    expect(sentOf('chat', `{"model":"m",${messages}, ${written} }`)).toBe(`${opening}${messages},${written}}`);
  });

  it('goes on as it is in the fields that deployments take by other names', () => {
    const sent = sentOf(
      'chat',
      `{"model":"m",${messages},"seed":9223372036854775807,"metadata":{ "é":"1",\n"2":"b","1":"a"}}`,
    );
    expect(sent).toBe(`${opening}"seed":9223372036854775807,"metadata":{ "\\u00e9":"1", "2":"b","1":"a"},${messages}}`);
    expect(sentOf('chat', `{"model":"m",${messages},"logit_bias":{"50":1.0,"7":-1e1},"temperature":1.0}`)).toBe(
      `{"model":"p","logit_bias":{"50":1.0,"7":-1e1},${messages},"temperature":1.0}`,
    );
    expect(sentOf('chat', `{"model":"m",${messages},"metadata":{"project":"p","2":"b","1":"a"}}`)).toBe(
      `${opening}"metadata":{"2":"b","1":"a"},${messages}}`,
    );
  });

  it('goes on as it is beside the usage that a stream is asked for', () => {
    const stream = (options: string) => sentOf('chat', `{"model":"m",${messages},"stream":true${options}}`);
    const asking = (options: string) => `${opening}"stream_options":${options},${messages},"stream":true}`;
    expect(stream('')).toBe(asking('{"include_usage":true}'));
    expect(stream(',"stream_options":null')).toBe(asking('{"include_usage":true}'));
    expect(stream(',"stream_options":{"include_usage":false,"b":1.0,"1":2}')).toBe(
      asking('{"b":1.0,"1":2,"include_usage":true}'),
    );
    expect(stream(',"stream_options":{"include_usage":true,"1":2.0}')).toBe(asking('{"include_usage":true,"1":2.0}'));
  });

  it('is a whole number in digits where the API has one, since some servers take no other', () => {
    expect(sentOf('chat', `{"model":"m",${messages},"max_tokens":100.0,"n":1e0,"seed":4.0}`)).toBe(
      `${opening}"max_tokens":100,"seed":4,${messages},"n":1}`,
    );
    expect(sentOf('completions', '{"model":"m","prompt":"x","best_of":2.0,"logprobs":1.0}')).toBe(
      `${opening}"prompt":"x","best_of":2,"logprobs":1}`,
    );
    expect(sentOf('embeddings', '{"model":"m","input":[[1,2]],"dimensions":2.56e2}')).toBe(
      '{"model":"p","input":[[1,2]],"dimensions":256}',
    );
    expect(sentOf('chat', `{"model":"m",${messages},"max_tokens":18446744073709551615}`)).toEqual({
      code: 'invalid_max_tokens',
      param: 'max_tokens',
    });
    expect(sentOf('chat', `{"model":"m",${messages},"temperature":1e400}`)).toMatchObject({ param: 'temperature' });
    expect(sentOf('chat', `{"model":"m",${messages},"seed":1.5}`)).toEqual({ code: 'invalid_seed', param: 'seed' });
    expect(sentOf('embeddings', '{"model":"m","input":[18446744073709551615]}')).toMatchObject({ param: 'input' });
  });

  it('is told apart from another body with the same key by digits that a double does not hold', () => {
    const keyed = (vendor: string) => {
      const body = Buffer.from(`{"model":"m",${messages},"vendor":${vendor}}`);
      const parsed = parseRequest('chat', body, undefined, true);
      return parsed.ok ? parsed.value.request.bodySha256 : '';
    };
    expect(keyed('[18446744073709551615]')).not.toBe(keyed('[18446744073709551614]'));
    expect(keyed('{"b":1.0,"a":1e2}')).toBe(keyed('{"a":100,"b":1}'));
  });

  it('may begin with a mark, and holds no half of a pair and no NUL', () => {
    const written =
      '{"model":"m","messages":[{"role":"assistant","content":"hi \\ud83d \\u0000"},{"role":"user","content":"go on"}]}';
    expect(sentOf('chat', `\ufeff${written}`)).toBe(
      `${opening}"messages":[{"role":"assistant","content":"hi \ufffd \ufffd"},{"role":"user","content":"go on"}]}`,
    );
  });
});

describe('a literal extra_body', () => {
  const messages = '"messages":[{"role":"user","content":"x"}]';
  const sent = (extra: string, beside = '') =>
    sentOf('chat', `{"model":"m","extra_body":${extra},${messages}${beside}}`);

  it('holds fields as the SDKs send them', () => {
    const thinking = '"chat_template_kwargs":{"enable_thinking":false,"2":1.0}';
    expect(sent(`{"gw":{"tier":"auto"},${thinking},"top_k":5.0}`)).toBe(
      `{"model":"p","temperature":1,${thinking},"top_k":5.0,${messages}}`,
    );
    expect(sent('{"temperature":0.50,"max_tokens":7}')).toBe(
      `{"model":"p","max_tokens":7,"temperature":0.50,${messages}}`,
    );
    expect(sentOf('completions', '{"model":"m","prompt":"x","extra_body":{"top_k":5}}')).toContain('"top_k":5');
    expect(sentOf('embeddings', '{"model":"m","extra_body":{"input":"x","truncate":"END"}}')).toBe(
      '{"model":"p","input":"x","truncate":"END"}',
    );
    for (const nothing of ['null', '{}', '{"gw":null}', '{"gw":{}}'])
      expect(sent(nothing)).toBe(`{"model":"p","temperature":1,${messages}}`);
  });

  it('stays one for Google, which reads its options nowhere else', () => {
    const google = '{"google":{"thinking_config":{"thinking_budget":0}}}';
    expect(sent(google)).toBe(`{"model":"p","temperature":1,"extra_body":${google},${messages}}`);
    expect(sent('{"top_k":1,"gw":{},"google":{"thinking_config":{}}}')).toBe(
      `{"model":"p","temperature":1,"top_k":1,"extra_body":{"google":{"thinking_config":{}}},${messages}}`,
    );
  });

  it.each([
    ['{"temperature":3}', '', 'invalid_temperature', 'extra_body.temperature'],
    ['{"base_url":"x"}', '', 'unsupported_field', 'extra_body.base_url'],
    ['{"google":{"cached_content":"x"}}', '', 'unsupported_field', 'extra_body.google.cached_content'],
    ['{"google":{"api_key":"x"}}', '', 'unsupported_field', 'extra_body.google.api_key'],
    ['{"metadata":{"guardrails":"x"}}', '', 'unsupported_field', 'extra_body.metadata.guardrails'],
    ['{"max_tokens":1}', ',"max_completion_tokens":2', 'invalid_max_tokens', 'extra_body.max_tokens'],
    ['{"temperature":1}', ',"temperature":1', 'invalid_extra_body', 'extra_body.temperature'],
    ['{"model":"n"}', '', 'invalid_extra_body', 'extra_body.model'],
    ['{"google":{}}', ',"google":{}', 'invalid_extra_body', 'extra_body.google'],
    ['{"extra_body":{"google":{}}}', '', 'invalid_extra_body', 'extra_body.extra_body'],
    ['"text"', '', 'invalid_extra_body', 'extra_body'],
    ['[]', '', 'invalid_extra_body', 'extra_body'],
  ])('%s with %s is refused, and named by its place', (extra, beside, code, param) => {
    expect(sent(extra, beside)).toEqual({ code, param });
  });

  it('charges the call to a project, and can hold no name twice in other spellings', () => {
    const parsed = parseRequest(
      'chat',
      Buffer.from(`{"model":"m",${messages},"extra_body":{"metadata":{"project":"p"}}}`),
    );
    expect(parsed.ok && [parsed.value.request.project, parsed.value.texts.has('metadata')]).toEqual(['p', false]);
    expect(sent('{"Model":"n"}')).toEqual({ code: 'unsupported_field', param: 'extra_body.Model' });
    expect(sent('{"__proto__":{"temperature":3}}')).toContain('"__proto__":{"temperature":3}');
  });
});
