import fc from 'fast-check';
import { expect, it } from 'vitest';
import { redacted } from './redaction.ts';

it.each([
  ['bad \r\nX: y key sk-PROVIDERSECRET at http://10.0.0.5/internal', 'bad X: y key [redacted] at [url]'],
  ['Incorrect API key provided: sk-abcd*****wxyz.', 'Incorrect API key provided: [redacted].'],
  ['Authorization: Bearer abcDEF123456', 'Authorization: [redacted]'],
  ['sent Bearer abc.DEF-123 to us', 'sent Bearer [redacted] to us'],
  ['api_key="hunter2" is wrong', 'api_key="[redacted]" is wrong'],
  ['gw_live_abcdef is no key, AKIAIOSFODNN7EXAMPLE neither', '[redacted] is no key, [redacted] neither'],
  ['token eyJhbGciOiJI.eyJzdWIi.abc expired', 'token [redacted] expired'],
  ['hash 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b', 'hash [redacted]'],
  ['id QWxhZGRpbjpvcGVuIHNlc2FtZQ== here', 'id [redacted] here'],
  ['ask ops@provider.example for help', 'ask [e-mail] for help'],
  ['upstream 10.1.2.3:8000 and [fe80::1] and ::1', 'upstream [address] and [[address]] and [address]'],
  ['vllm-7.svc.cluster.local:8000/v1 failed on localhost:99', '[address] failed on [address]'],
  ['worker gpu-node-3:8080 of api.provider.ai', 'worker [address] of [address]'],
  ['File "/opt/vllm/engine.py", line 12', 'File "[path]", line 12'],
  ['a\u0000b\u001b[31mc\u202ed\u200be\u2028f', 'a b [31mcde f'],
  ['no answer of ollama:11434 or litellm:4000/v1', 'no answer of [address] or [address]'],
  ['worker inference-7.prod.example.eu, ip-10-2-3-4 (vllm:8000)', 'worker [address], [address] ([address])'],
  ['the key "abcd1234efgh5678" is unknown', 'the key "[redacted]" is unknown'],
  ['token: abcdef1234, key=abcd1234efgh, token=x1', 'token: [redacted], key=[redacted], token=[redacted]'],
  ['Incorrect API key provided: Ab3dE-fG4hI-jK5lM-nO6pQ.', 'Incorrect API key provided: [redacted].'],
  ['bad key qwertyuiopasdfghjklzxcvb', 'bad key [redacted]'],
  ['{"api_key": "hunter", "secret":"other"}', '{"api_key": "[redacted]", "secret":"[redacted]"}'],
  ['of org-AbCdEf123456 or arn:aws:bedrock:eu-west-1:123456789012:model/x', 'of [redacted] or [redacted]'],
  ['in C:\\Users\\svc and /models/llama/x', 'in [path] and [path]'],
  ['s\u200bk-abcdef, ｓｋ-abcdef and s\u3164k-abcdef', '[redacted], [redacted] and [redacted]'],
  ['see http://10.0.0.5/a,b(c)?k=v;w now', 'see [url] now'],
  [`a ${'x'.repeat(300)} b`, 'a [redacted] b'],
])('hides what is not the client’s: %j', (text, shown) => {
  expect(redacted(text)).toBe(shown);
});

it.each([
  "Invalid type for 'messages[0].content[1].image_url': expected a string, but got an object instead.",
  'max_tokens is too large: 100000. This model supports at most 16,384 completion tokens, whereas you provided 1.5e5.',
  'Additional properties are not allowed (`additionalProperties` in /messages/0/content, response_format.json_schema).',
  'Use max_completion_tokens with claude-3-5-sonnet-20241022, not text-embedding-3-small at 12:30:45.',
  'max_tokens: 4096 and messages[0].content, messages.0.content, tools.1.id; key: max_tokens, token 4096 of 16k at /v1/models.',
  "Unexpected key 'messages[0].content' in tool_calls.0.id: engine.py, e.g. prompt.It takes 4096 tokens: 12 of key.",
  'The API key is fine; basic authentication and bearer tokens differ, top_k:50, std::vector, 2026-11-22T06:45:21Z, image/png',
])('leaves what helps: %s', (text) => {
  expect(redacted(text)).toBe(text);
});

it('calls a model as the client does', () => {
  const names = new Map([['vendor/Inner-8B-v2', 'sim-small']]);
  expect(redacted('The model `vendor/Inner-8B-v2` does not exist.', names)).toBe(
    'The model `sim-small` does not exist.',
  );
});

it.each([
  ['model', 'Too many images for model. Please remodel your model_id, sub.model or model-name.'],
  ['gpt-4', 'Use gpt-4o, gpt-4-turbo, gpt-4.1, gpt-4:free or vendor/gpt-4, not `gpt-4` (gpt-4), model=gpt-4.'],
  ['a.b(c', 'Not axb(c but a.b(c.'],
  ['é', 'No café, but é.'],
])('replaces a name as a whole word alone: %s', (theirs, text) => {
  const shown = {
    model: 'Too many images for M. Please remodel your model_id, sub.model or model-name.',
    'gpt-4': 'Use gpt-4o, gpt-4-turbo, gpt-4.1, gpt-4:free or vendor/gpt-4, not `M` (M), model=M.',
    'a.b(c': 'Not axb(c but M.',
    é: 'No café, but M.',
  }[theirs];
  expect(redacted(text, new Map([[theirs, 'M']]))).toBe(shown);
});

it('leaves the client’s own name of a model, whatever it looks like', () => {
  const ours = 'org/Xy7Q9zKf03LmN5pR8sTv.example.com:8000';
  const names = new Map([['inner', ours]]);
  expect(redacted(`No "inner", key ${ours}.`, names)).toBe(`No "${ours}", key ${ours}.`);
});

it('shows a bounded text, and no part of a word that was cut', () => {
  expect(redacted('x '.repeat(5000))?.length).toBe(500);
  const spaced = `${'http://a.example/b '.repeat(100)}`.slice(0, 1990);
  expect(redacted(`${spaced} sk${'-secret1'.repeat(100)}`)).not.toMatch(/secret|sk-/);
  expect(redacted(' \u0000\n ')).toBeNull();
});

it('is quick and quiet about any text', () => {
  fc.assert(
    fc.property(
      fc.string({
        unit: fc.constantFrom('a', 'A', '1', '.', '-', ':', '/', '@', ' ', '=', '_', '\n'),
        maxLength: 3000,
      }),
      (text) => {
        const shown = redacted(text);
        expect(shown ?? '').not.toMatch(/\p{Cc}|:\/\/\w/u);
        expect((shown ?? '').length).toBeLessThanOrEqual(500);
      },
    ),
  );
});
