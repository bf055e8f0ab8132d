/** The pages as the control plane serves them. What they do, `test/dashboard` shows in a browser. */
import { startTestApp } from '@gw/testing/control-plane/app';
import { forFile } from '@gw/testing/for-file';
import { expect, test } from 'vitest';

const running = forFile(startTestApp);

const get = (url: string, headers: Record<string, string> = {}) =>
  running.operator.inject({ method: 'GET', url, headers });

test('a page loads scripts and styles of its own alone, with a nonce that no other reply has', async () => {
  const replies = await Promise.all([get('/dashboard/'), get('/dashboard/receipts/rcpt_1')]);
  const nonces = replies.map(({ body, headers, statusCode }) => {
    const policy = String(headers['content-security-policy']);
    expect([statusCode, headers['content-type'], headers['cache-control']]).toEqual([
      ...[200, 'text/html; charset=utf-8', 'no-store'],
    ]);
    expect(policy).toMatch(/^default-src 'none'; script-src 'self'; /);
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain('unsafe');
    const [, nonce = ''] = /style-src 'self' 'nonce-([^']{20,})'/.exec(policy) ?? [];
    expect(nonce).not.toBe('');
    expect([...body.matchAll(/nonce="([^"]*)"/g)].map(([, found]) => found)).toContain(nonce);
    expect(body).not.toContain('{nonce}');
    return nonce;
  });
  expect(new Set(nonces).size).toBe(2);
});

test('the address of the port leads there', async () => {
  for (const url of ['/', '/dashboard']) {
    const reply = await get(url);
    expect([reply.statusCode, reply.headers.location]).toEqual([302, '/dashboard/']);
  }
});

test('a file of the pages is kept for ever, and comes compressed', async () => {
  const [, script = ''] = /src="([^"]+\.js)"/.exec((await get('/dashboard/')).body) ?? [];
  const reply = await get(script, { 'accept-encoding': 'br' });
  expect([reply.statusCode, reply.headers['content-type'], reply.headers['content-encoding']]).toEqual([
    ...[200, expect.stringMatching(/javascript/), 'br'],
  ]);
  expect(reply.headers['cache-control']).toBe('public, max-age=31536000, immutable');
  expect(reply.headers['x-content-type-options']).toBe('nosniff');
});

test.each([
  '/dashboard/assets/none.js',
  '/dashboard/assets/',
  '/dashboard/assets/../index.html',
  '/dashboard/assets/%2e%2e/index.html',
  '/dashboard/assets/..%2f..%2fcontrol-plane.js',
  '/dashboard/assets/%00.js',
  '/dashboard/assets/..%5cindex.html',
])('%s is no file of the pages', async (url) => {
  const reply = await get(url);
  expect(reply.statusCode === 200 && !reply.body.startsWith('<!doctype html>')).toBe(false);
  expect(reply.body).not.toContain('import.meta');
  if (reply.statusCode !== 200) expect(reply.json()).toMatchObject({ error: { code: expect.any(String) } });
});
