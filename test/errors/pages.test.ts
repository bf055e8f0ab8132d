/** `doc_url` leads a person to a page about the code, without a key, whichever part has made the error. */
import { errorCatalogue, fieldErrors } from '@gw/contract/error-catalogue';
import { operatorErrorCatalogue } from '@gw/contract/operator-errors';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { call, type Reply, send, stack } from '../input/ask.ts';

const read = (path: string, method = 'GET'): Promise<Reply> => send({ method, path, key: null });
const policy = "default-src 'none'; style-src 'sha256-";

function expectPage(reply: Reply, status: number, heading: string): void {
  expect([reply.status, reply.headers['content-type']]).toEqual([status, 'text/html; charset=utf-8']);
  expect(reply.text).toContain(`<h1>${heading}</h1>`);
  expect(reply.headers['content-security-policy']?.toString().startsWith(policy)).toBe(true);
  expect(reply.headers['x-content-type-options']).toBe('nosniff');
}

const body = z.object({ error: z.object({ code: z.string(), doc_url: z.string() }) });
/** Follows the link as a browser would. */
async function follow(text: string): Promise<{ code: string; page: Reply }> {
  const { code, doc_url } = body.parse(JSON.parse(text)).error;
  const { origin, pathname } = new URL(doc_url);
  expect(origin).toBe(stack.publicUrl);
  return { code, page: await read(pathname) };
}

test.each<[string, string, () => Promise<{ text: string }>]>([
  ['a key that is missing', 'invalid_api_key', () => send({ method: 'GET', path: '/v1/models', key: null })],
  ['a model that is not there', 'invalid_model', () => call({ model: 'none' })],
  ['a path that is not there', 'unknown_endpoint', () => read('/nothing')],
  ['a request that Envoy cannot read', 'invalid_request', () => read('/v1/models/%00')],
  ['a receipt that is not there', 'receipt_not_found', () => send({ method: 'GET', path: '/v1/gw/receipts/rcpt_x' })],
  ['a session that is missing', 'invalid_session', () => operatorsPort()],
])('the error of %s leads to its page', async (_name, expected, ask) => {
  const { code, page } = await follow((await ask()).text);
  expect(code).toBe(expected);
  expectPage(page, 200, code);
});

const operatorsPort = async () => ({ text: await (await fetch(`${stack.controlUrl}/operator/v1/accounts`)).text() });

test('the error of a field leads to the page of the family', async () => {
  const { code, page } = await follow((await call({ temperature: 'hot' })).text);
  expect(code).toBe('invalid_temperature');
  expectPage(page, 200, 'invalid_field');
  expect(page.text).toContain('<code>invalid_temperature</code>');
  expectPage(await read('/errors/invalid_temperature'), 200, 'invalid_field');
});

test('every code has its page, and HEAD answers as GET', async () => {
  for (const code of Object.keys({ ...errorCatalogue, ...fieldErrors, ...operatorErrorCatalogue })) {
    expectPage(await read(`/errors/${code}`), 200, code);
    const head = await read(`/errors/${code}`, 'HEAD');
    expect([head.status, head.headers['content-type'], head.text]).toEqual([200, 'text/html; charset=utf-8', '']);
  }
});

test('the list has every code; so has the page for a code that there is not', async () => {
  const [list, unknown] = [await read('/errors'), await read('/errors/no_such_code')];
  expectPage(list, 200, 'Errors');
  expectPage(unknown, 404, 'There is no such error');
  for (const code of Object.keys({ ...errorCatalogue, ...operatorErrorCatalogue })) {
    expect(list.text).toContain(`href="errors/${code}"`);
    expect(unknown.text).toContain(`href="${code}"`);
  }
  expect((await read('/errors/no_such_code', 'HEAD')).status).toBe(404);
});

test('a code of the path is never on the page', async () => {
  const page = await read('/errors/hostile~text');
  expect([page.status, page.text.includes('hostile')]).toEqual([404, false]);
});
