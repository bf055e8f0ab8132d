import { describe, expect, it } from 'vitest';
import { providerFields } from './provider-fields.ts';
import { endpointUrl } from './provider-path.ts';

const url = (path: string | null, model = 'm') =>
  endpointUrl({ base_url: 'https://llm.example.com/v1', path }, 'chat/completions', model);

describe('the path of a provider', () => {
  it('is the endpoint under the base URL, or what a template makes of it', () => {
    expect(url(null)).toBe('https://llm.example.com/v1/chat/completions');
    expect(url('openai/deployments/{model}/{endpoint}?api-version=2024-10-21', "a b/c'd")).toBe(
      'https://llm.example.com/v1/openai/deployments/a%20b%2Fc%27d/chat/completions?api-version=2024-10-21',
    );
    expect(url('{endpoint}', '$&')).toBe('https://llm.example.com/v1/chat/completions');
  });

  it.each([...['{endpoint}', '/{endpoint}', 'a/{model}/{endpoint}?b=c', 'a.b/{endpoint}', '{endpoint}?x=%20']])(
    '%s is taken',
    (path) => {
      expect(providerFields.path.entry.parse(path)).toBe(path.replace(/^\//, ''));
    },
  );

  it.each([
    ...['', 'chat', 'a//{endpoint}', '{endpoint}{endpoint}', '{model}/{model}/{endpoint}', '{other}/{endpoint}'],
    ...[
      '{endpoint}#x',
      '{endpoint}?',
      '{endpoint} x',
      "{endpoint}'",
      'a?x={endpoint}',
      '{endpoint}?x=1?y',
      '{endpoint}\n',
    ],
  ])('%j is refused', (path) => {
    expect(providerFields.path.entry.safeParse(path).success).toBe(false);
  });
});

describe('more headers of a provider', () => {
  const { entry } = providerFields.headers;
  it('are names in small letters with values of visible characters', () => {
    expect(entry.safeParse({ 'x-region': 'sweden central', 'anthropic-version': '2023-06-01' }).success).toBe(true);
    for (const headers of [
      { 'X-Region': 'a' },
      { 'x-a': '' },
      { 'x-a': 'é' },
      { 'x-a': 'a\nb' },
      { 'x-a': '%REQ(a)%' },
      ['a'],
    ])
      expect(entry.safeParse(headers).success, JSON.stringify(headers)).toBe(false);
  });

  it.each([
    'authorization',
    'api-key',
    'x-api-key',
    'x-auth-token',
    'host',
    'content-length',
    'x-gw-a',
    'cookie',
    'user-agent',
  ])('are not %s', (name) => {
    expect(entry.safeParse({ [name]: 'a' }).success).toBe(false);
  });
});

describe('fields of a request', () => {
  const { entry } = providerFields.request_fields;
  it.each([
    { max_completion_tokens: 'max_tokens', seed: null },
    { seed: 'random_seed', user: null },
  ])('%j are rules', (rules) => {
    expect(entry.safeParse(rules).success).toBe(true);
  });

  it.each([
    ...[{ n: null }, { seed: 'temperature' }, { seed: 'seed' }, { max_tokens: null }, { max_completion_tokens: null }],
    ...[
      { max_tokens: 'max_completion_tokens', max_completion_tokens: 'max_tokens' },
      { seed: 'user', user: null },
    ],
    ...[{ seed: 'random_seed', user: 'random_seed' }, ['seed'], 'seed'],
  ])('%j are none', (rules) => {
    expect(entry.safeParse(rules).success).toBe(false);
  });
});
