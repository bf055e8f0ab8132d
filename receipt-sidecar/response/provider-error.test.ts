import { expect, it } from 'vitest';
import { providerError } from './provider-error.ts';

const said = (error: object) => JSON.stringify({ error });

it.each([
  [401, 'upstream_auth_failed', 502],
  [403, 'upstream_auth_failed', 502],
  [429, 'upstream_rate_limited', 502],
  [408, 'upstream_timeout', 502],
  [504, 'upstream_timeout', 502],
  [500, 'upstream_error', 502],
  [204, 'upstream_invalid_response', 502],
  [302, 'upstream_invalid_response', 502],
  [404, 'upstream_rejected_request', 400],
])('a %i of the provider is %s, and shows nothing of what it said', (status, code, ours) => {
  const error = providerError(status, status === 404 ? '' : said({ message: 'secret', param: 'temperature' }));
  expect(error).toMatchObject({ code, status: ours, param: null });
  expect(error.message).not.toContain('secret');
});

it('takes over the field and the message of a rejected request, and no more', () => {
  const named = providerError(400, said({ message: 'too hot', param: 'temperature', internal: 'host' }));
  expect(named).toEqual({
    code: 'invalid_temperature',
    type: 'validation_error',
    status: 400,
    message: 'too hot',
    param: 'temperature',
  });
  expect(providerError(422, said({ message: 'no', param: '<script>' }))).toMatchObject({
    code: 'upstream_rejected_request',
    param: null,
  });
  expect(providerError(400, said({ message: 'long', code: 'context_length_exceeded' })).code).toBe('prompt_too_long');
  expect(providerError(400, '<html>').message).not.toContain('html');
});
