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

  it.each(['9223372036854775807', '-9007199254740993'])('names a seed that it cannot pass on exactly: %s', (seed) => {
    const body = (field: string) => Buffer.from(`{"model":"m","messages":[],"n":1,${field}}`);
    const errorFor = (field: string) => {
      const parsed = parseRequest('chat', body(field));
      return parsed.ok ? null : { code: parsed.error.code, param: parsed.error.param };
    };
    expect(errorFor(`"seed":${seed}`)).toEqual({ code: 'invalid_seed', param: 'seed' });
    expect(errorFor(`"other":${seed}`)).toEqual({ code: 'invalid_json', param: null });
    expect(errorFor(`"other":{"seed":${seed}}`)).toEqual({ code: 'invalid_json', param: null });
    expect(errorFor(`"seed":1,"other":[${seed}]`)).toEqual({ code: 'invalid_json', param: null });
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
    const own = outgoing(parsed.value.request, parsed.value.body);
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
    const rest = new TextEncoder().encode(JSON.stringify(own.rest));
    expect(
      Buffer.concat(serialise({ ...own, rest }, { providerModel: 'm', takesTemperature: true, refused: [] })),
    ).toEqual(Buffer.concat(serialise(own, { providerModel: 'm', takesTemperature: true, refused: [] })));
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
  } as const;
  const parsed = (endpoint: keyof typeof asks, metadata: unknown) =>
    parseRequest(endpoint, Buffer.from(JSON.stringify({ model: 'm', ...asks[endpoint], metadata })));

  describe.each(['chat', 'completions', 'embeddings'] as const)('of %s', (endpoint) => {
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
