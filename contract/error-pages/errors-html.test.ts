import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { errorCatalogue, fieldErrors } from '../error-catalogue.ts';
import type { ErrorDefinition } from '../error-definition.ts';
import { exampleAddresses } from '../example-addresses.ts';
import { operatorErrorCatalogue } from '../operator-errors.ts';
import { errorPagePolicy, errorPages } from './errors-html.ts';

const all = Object.entries<ErrorDefinition>({ ...errorCatalogue, ...fieldErrors, ...operatorErrorCatalogue });
const pages = errorPages(exampleAddresses);
const textOf = (page: string): string =>
  page
    .replace(/<style>.*<\/style>/s, '')
    .replace(/<[^>]+>/g, '')
    .replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)));
const plain = (text: string): string => text.replaceAll('`', '');
const linksOf = (page: string): string[] => [...page.matchAll(/href="([^"]*)"/g)].map(([, target = '']) => target);

test.each(all)('%s has a page that says what it means, what to do and whether to retry', (code, definition) => {
  const text = textOf(pages.ofCode.get(code) ?? '');
  for (const told of [definition.message, definition.when, definition.action, definition.type])
    expect(text).toContain(plain(told));
  expect(text).toContain(`HTTP ${definition.status}`);
  expect(text).toMatch(
    { never: /Never\./, after_retry_after: /After the seconds/, with_backoff: /2\^attempt/ }[definition.retry],
  );
  expect(text).toContain(`"doc_url": "https://gw.example.com/errors/${code}"`);
});

test('the lists lead to each code, and no page is about anything else', () => {
  const codes = all.map(([code]) => code).toSorted();
  expect([...pages.ofCode.keys()].toSorted()).toEqual(codes);
  expect(linksOf(pages.list).toSorted()).toEqual(codes.map((code) => `errors/${code}`));
  expect(linksOf(pages.unknown).toSorted()).toEqual(codes);
});

test('the content policy lets the style of each page pass, and there is no script', () => {
  for (const page of [pages.list, pages.unknown, ...pages.ofCode.values()]) {
    const styles = [...page.matchAll(/<style>(.*?)<\/style>/gs)].map(([, style = '']) => style);
    const hashes = styles.map((style) => `'sha256-${createHash('sha256').update(style).digest('base64')}'`);
    expect(errorPagePolicy.split('; ')).toContain(`style-src ${hashes.join(' ')}`);
    expect(page).not.toMatch(/<script|style=|\son\w+=/i);
  }
});

test('what an address of the settings says stays text', () => {
  const { ofCode } = errorPages({ ...exampleAddresses, baseUrl: 'https://gw.example/<script>&"' });
  for (const page of ofCode.values()) expect(page).not.toMatch(/<script|&"/);
});
