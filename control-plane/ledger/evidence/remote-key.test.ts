/** A key in a key service signs as one in a seed does, and what is wrong with the service is an error that says whether to wait. */
import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { type SigningKey, signingKeyOf } from '@gw/contract/internal/evidence-keys';
import { checkSignature, signed } from '@gw/evidence/signature';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { remoteKey } from './remote-key.ts';

/** The versions of the key in the service. */
const versions = [signingKeyOf('01'.repeat(32)), signingKeyOf('02'.repeat(32))] as const;
const [first, second] = versions;
let status: number | null;
let token: string;
let folder: string;
const server = createServer(async (request, response) => {
  if (status === null) return;
  const { input, key_version } = (await json(request)) as { input: string; key_version: number };
  const isMeant = request.url === '/v1/transit/sign/gw' && request.headers['x-vault-token'] === token;
  const key = versions[key_version - 1];
  if (status !== 200 || !isMeant || key === undefined)
    return response.writeHead(status === 200 ? 403 : status).end('{"errors":["permission denied"]}');
  const signature = Buffer.from(await key.sign(Buffer.from(input, 'base64'))).toString('base64');
  response.end(JSON.stringify({ data: { signature: `vault:v${key_version}:${signature}` } }));
});
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gw-remote-key-'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await rm(folder, { recursive: true });
});
beforeEach(() => {
  [status, token] = [200, 'a-token'];
  writeFileSync(join(folder, 'token'), 'a-token\n');
});

function keyOf(version: number, { publicJwk }: SigningKey, timeoutMs?: number): SigningKey {
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/v1/transit/keys/gw?version=${version}`;
  return remoteKey({ url, tokenFile: join(folder, 'token') }, publicJwk, timeoutMs);
}
const value = { text: 'x'.repeat(100_000) };

test('what it signs is what a seed signs, however long it is', async () => {
  expect(await signed(value, keyOf(1, first))).toEqual(await signed(value, first));
});

test('two instances rotate one after the other, and what each has signed holds', async () => {
  const signatures = [await signed(value, keyOf(1, first)), await signed(value, keyOf(2, second))];
  const keys = [second.publicJwk, first.publicJwk];
  for (const each of signatures) expect(await checkSignature(value, each, { keys })).toBe('trusted');
});

test('a token that was renewed is read again', async () => {
  const key = keyOf(1, first);
  await key.sign(Buffer.from('x'));
  token = 'renewed';
  await expect(key.sign(Buffer.from('x'))).rejects.toMatchObject({
    isTemporary: false,
    message: expect.stringContaining('403'),
  });
  writeFileSync(join(folder, 'token'), 'renewed');
  expect(await key.sign(Buffer.from('x'))).toHaveLength(64);
});

test('a signature by another version or key is not handed on', async () => {
  await expect(keyOf(2, first).sign(Buffer.from('x'))).rejects.toMatchObject({
    isTemporary: false,
    message: expect.stringContaining('another key than GW_EVIDENCE_PUBLIC_KEYS begins with'),
  });
});

test('a service that is sealed, silent or gone is one to wait for, and its error has no token', async () => {
  status = 503;
  await expect(keyOf(1, first).sign(Buffer.from('x'))).rejects.toMatchObject({ isTemporary: true });
  status = null;
  const silence = keyOf(1, first, 200).sign(Buffer.from('x'));
  await expect(silence).rejects.toMatchObject({ isTemporary: true, message: expect.not.stringContaining('a-token') });
  const gone = remoteKey(
    { url: 'http://127.0.0.1:1/v1/transit/keys/gw', tokenFile: join(folder, 'token') },
    first.publicJwk,
  );
  await expect(gone.sign(Buffer.from('x'))).rejects.toMatchObject({
    isTemporary: true,
    message: expect.stringMatching(/^The key service does not answer for version 1 of gw at http:\/\/127\.0\.0\.1:1: /),
  });
});
