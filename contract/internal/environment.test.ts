import { expect, test } from 'vitest';
import { readSettings } from './environment.ts';

const read = (environment: Record<string, string>) => {
  const settings = readSettings(environment);
  const addresses = settings.addresses();
  settings.finish();
  return addresses;
};

test('errors point to the published page where there is one', () => {
  expect(read({}).docsUrl).toBeUndefined();
  expect(read({ GW_DOCS_URL: '' }).docsUrl).toBeUndefined();
  expect(read({ GW_DOCS_URL: 'https://docs.example.com/errors' }).docsUrl).toBe('https://docs.example.com/errors');
});

test.each(['docs.example.com', 'https://docs.example.com/errors#codes', 'javascript:alert(1)'])(
  'the page %s is refused with an example',
  (page) => {
    expect(() => read({ GW_DOCS_URL: page })).toThrow('GW_DOCS_URL=https://docs.example.com/errors');
  },
);
