import { expect, test } from 'vitest';
import { isConfidentialUrl } from './loopback.ts';

test('https and loopback are confidential; names and addresses that only look like loopback are not', () => {
  for (const url of ['https://ops.example', 'http://localhost:8081', 'http://127.0.0.1', 'http://[::1]:1'])
    expect([url, isConfidentialUrl(url)]).toEqual([url, true]);
  for (const url of [
    'http://ops.example',
    'http://127.0.0.1.example',
    'http://localhost.example',
    'ftp://127.0.0.1',
    'x',
  ])
    expect([url, isConfidentialUrl(url)]).toEqual([url, false]);
});
