/** The address of a client behind load balancers, as Envoy's access log tells it. Each test runs Envoy alone. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEnvoyAlone } from '@gw/testing/envoy/alone';
import { expect, test } from 'vitest';

interface Call {
  /** Where the connection comes from. */
  readonly from: string;
  readonly forwardedFor?: string;
  readonly proxyHeader?: string | Buffer;
}

/** The client's address of each call as Envoy has logged it, or null where it has closed the connection without an answer. */
async function addressesOf(settings: Parameters<typeof startEnvoyAlone>[0], calls: readonly Call[]) {
  const dir = mkdtempSync(join(tmpdir(), 'gw-client-address-'));
  const accessLog = join(dir, 'access.log');
  const envoy = await startEnvoyAlone({ accessLog, ...settings });
  const replies = await Promise.all(calls.map((call, index) => answerOf(envoy.port, call, `/v1/call-${index}`)));
  // Envoy writes the rest of its log when it ends.
  await envoy.stop();
  const entries = readFileSync(accessLog, 'utf8')
    .trim()
    .split('\n')
    .map((line): { path: string; client_address: string; request_id: string } => JSON.parse(line));
  rmSync(dir, { recursive: true, force: true });
  return replies.map((reply, index) => {
    const entry = entries.find(({ path }) => path === `/v1/call-${index}`);
    if (reply === '') return entry === undefined ? null : 'logged without an answer';
    expect(reply).toMatch(/^HTTP\/1.1 404 /);
    // A client cannot choose the id by which its call is found.
    expect(entry?.request_id).toMatch(/^[0-9a-f-]{36}$/);
    expect(reply).toContain(`x-request-id: ${entry?.request_id}`);
    return entry?.client_address;
  });
}

function answerOf(port: number, { forwardedFor, from, proxyHeader = '' }: Call, path: string): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', localAddress: from });
  const headers = [
    'Host: gw',
    'X-Request-Id: forged',
    'X-Forwarded-Proto: forged',
    'Connection: close',
    ...(forwardedFor === undefined ? [] : [`X-Forwarded-For: ${forwardedFor}`]),
  ];
  socket.write(proxyHeader);
  socket.write(`GET ${path} HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`);
  let text = '';
  socket.on('data', (data) => {
    text += data;
  });
  socket.on('error', () => undefined);
  return new Promise((resolve) => socket.once('close', () => resolve(text)));
}

const client = '198.51.100.7';
const forged = '203.0.113.9';

test('by default X-Forwarded-For has no effect', async () => {
  const addresses = await addressesOf({}, [{ from: '127.0.0.5', forwardedFor: forged }, { from: '127.0.0.5' }]);
  expect(addresses).toEqual(['127.0.0.5', '127.0.0.5']);
});

test('a trusted proxy states the address of its client, and nobody else does', async () => {
  const addresses = await addressesOf({ trustedProxies: ['127.0.0.2', '10.0.0.0/8', '2001:db8::/32'] }, [
    { from: '127.0.0.5', forwardedFor: forged },
    { from: '127.0.0.2', forwardedFor: client },
    // The client has put one in front; its proxy appends the true one.
    { from: '127.0.0.2', forwardedFor: `${forged}, ${client}` },
    // Two proxies, one behind the other.
    { from: '127.0.0.2', forwardedFor: `${forged}, ${client}, 10.1.2.3` },
    { from: '127.0.0.2', forwardedFor: `${client}, 2001:db8::7` },
    { from: '127.0.0.2', forwardedFor: 'not an address' },
    { from: '127.0.0.2' },
  ]);
  expect(addresses).toEqual(['127.0.0.5', client, client, client, client, '127.0.0.2', '127.0.0.2']);
});

test('with the PROXY protocol trusted proxies alone can connect, and state the address before the first byte', async () => {
  const version1 = `PROXY TCP4 ${client} 192.0.2.1 4711 443\r\n`;
  const version2 = Buffer.concat([
    Buffer.from('0d0a0d0a000d0a515549540a2111000c', 'hex'),
    Buffer.from([...client.split('.'), ...'192.0.2.1'.split('.')].map(Number)),
    Buffer.from('126701bb', 'hex'),
  ]);
  const addresses = await addressesOf(
    { trustedProxies: ['127.0.0.2'], proxyProtocol: true, maxConnectionsPerAddress: 50 },
    [
      { from: '127.0.0.2', proxyHeader: version1 },
      { from: '127.0.0.2', proxyHeader: version2, forwardedFor: forged },
      // A probe of the proxy itself states nobody's address.
      { from: '127.0.0.2', proxyHeader: 'PROXY UNKNOWN\r\n' },
      { from: '127.0.0.5', proxyHeader: version1 },
      { from: '127.0.0.5' },
      { from: '127.0.0.2' },
    ],
  );
  expect(addresses).toEqual([client, client, '127.0.0.2', null, null, null]);
});
