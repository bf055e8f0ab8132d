import { describe, expect, test } from 'vitest';
import { errorCatalogue } from './error-catalogue.ts';
import { type ErrorDefinition, retriedByStatus } from './error-definition.ts';
import { errorsPage } from './error-pages/errors-page.ts';
import { type ApiError, apiError, docUrl, errorBody, errorHeaders, fieldError, retriedBySdks } from './errors.ts';
import { exampleAddresses } from './example-addresses.ts';
import { openApiDocument } from './openapi/openapi.ts';
import { operatorErrorCatalogue } from './operator-errors.ts';

const all = Object.entries<ErrorDefinition>({ ...errorCatalogue, ...operatorErrorCatalogue });
const document = openApiDocument('');
const catalogues = {
  ...(document['x-error-catalogue'] as object),
  ...(document['x-operator-error-catalogue'] as object),
};
const errorOf = (code: string, detail = {}): ApiError => apiError(code as keyof typeof errorCatalogue, detail);

describe.each(all)('%s', (code, definition) => {
  test('says everything that a client has to know', () => {
    const { message, when, action } = definition;
    for (const text of [message, when, action]) expect(text).toMatch(/^[A-Z`].*\.$/s);
  });

  test('is sent again by the SDKs exactly where it may be', () => {
    const error = errorOf(code);
    expect(retriedBySdks(error)).toBe(definition.retry !== 'never');
    const overruled = retriedByStatus(definition.status) && definition.retry === 'never';
    expect(errorHeaders(error).get('x-should-retry')).toBe(overruled ? 'false' : undefined);
  });

  test('tells how to authenticate with 401, and how long to wait where waiting helps', () => {
    const headers = errorHeaders(errorOf(code));
    expect(headers.get('www-authenticate')).toBe(definition.status === 401 ? 'Bearer' : undefined);
    const waitingHelps = definition.status === 429 || code === 'overloaded';
    expect(headers.get('retry-after')).toBe(waitingHelps ? '1' : undefined);
    expect(definition.retry === 'after_retry_after').toBe(waitingHelps);
  });

  test('has a page of its own, an anchor of its own on the published one, and an entry in the document', () => {
    const headings = errorsPage().match(/^#+ .*$/gm) ?? [];
    expect(headings.filter((heading) => heading === `### ${code}`)).toHaveLength(1);
    expect(Object.entries(catalogues)).toContainEqual([code, definition]);
    expect(docUrl(exampleAddresses, code)).toBe(`https://gw.example.com/errors/${code}`);
    expect(docUrl({ ...exampleAddresses, docsUrl: 'https://docs.example.com/errors' }, code)).toBe(
      `https://docs.example.com/errors#${code}`,
    );
  });
});

test('the guidance of each type is that of the specification', () => {
  const guidance = {
    auth_error: 'never',
    validation_error: 'never',
    policy_error: 'never',
    rate_limit_error: 'after_retry_after',
    inference_error: 'with_backoff',
    methodology_error: 'with_backoff',
    internal_error: 'with_backoff',
  };
  // An overload of the gateway passes sooner than a failure of a provider.
  for (const [code, { type, retry }] of all)
    if (type !== 'region_unavailable' && code !== 'overloaded') expect(retry, code).toBe(guidance[type]);
});

test('a wait that is longer than a minute is not the SDK’s', () => {
  const spent = (retryAfterS: number) => errorHeaders(apiError('daily_budget_exceeded', { retryAfterS }));
  expect([...spent(61)]).toEqual([
    ['content-type', 'application/json'],
    ['retry-after', '61'],
    ['x-should-retry', 'false'],
  ]);
  expect(spent(60).get('x-should-retry')).toBeUndefined();
});

test('a code of the family invalid_<field> leads to the entry of the family', () => {
  const error = fieldError('messages[0].role', 'wrong');
  expect(docUrl(exampleAddresses, error.code)).toBe('https://gw.example.com/errors/invalid_field');
  expect(errorsPage()).toContain('### invalid_field\n');
  expect(retriedBySdks(error)).toBe(false);
});

test('names that every object has are no codes', () => {
  for (const name of ['constructor', '__proto__', 'toString'])
    expect(docUrl(exampleAddresses, name)).toMatch(/\/invalid_field$/);
});

test('messages name whom to ask', () => {
  expect(errorBody(apiError('dual_use_screen_block'), exampleAddresses)).toContain('audit@example.com');
  expect(errorBody(apiError('revoked_api_key'), exampleAddresses)).toContain('security@example.com');
  expect(errorBody(apiError('region_degraded'), exampleAddresses)).toContain('https://status.example.com');
});
