import fc from 'fast-check';
import { expect, it } from 'vitest';
import { redacted } from './redaction.ts';

it.each([
  ['bad \r\nX: y key sk-PROVIDERSECRET at http://10.0.0.5/internal', 'bad X: y key [redacted] at [url]'],
  ['Incorrect API key provided: sk-abcd*****wxyz.', 'Incorrect API key provided: [redacted]'],
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
  ['a\u0000b\u001b[31mc\u202ed\u200be\u2028f', 'a b [31mc d e f'],
])('hides what is not the client’s: %j', (text, shown) => {
  expect(redacted(text)).toBe(shown);
});

it.each([
  "Invalid type for 'messages[0].content[1].image_url': expected a string, but got an object instead.",
  'max_tokens is too large: 100000. This model supports at most 16,384 completion tokens, whereas you provided 1.5e5.',
  'Additional properties are not allowed (`additionalProperties` in /messages/0/content, response_format.json_schema).',
  'Use max_completion_tokens with claude-3-5-sonnet-20241022, not text-embedding-3-small at 12:30:45.',
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
