/** Tests what `./gw verify --receipt` asks for and prints; evidence/kept-receipt.test.ts tests what it finds. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { inCheckout } from '@gw/stack/checkout';
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { runCommand } from '../command-list.ts';

const folder = mkdtempSync(join(tmpdir(), 'gw-verify-receipt-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
afterEach(() => vi.unstubAllEnvs());

const receipt = JSON.parse(readFileSync(inCheckout('docs', 'examples', 'receipt.json'), 'utf8'));
const file = (name: string, value: unknown): string => {
  writeFileSync(join(folder, name), JSON.stringify(value));
  return join(folder, name);
};

async function said(...args: string[]): Promise<{ code: number; out: string }> {
  let out = '';
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    out += text;
    return true;
  });
  try {
    return { code: await runCommand(['verify', '--receipt', ...args]), out };
  } finally {
    write.mockRestore();
  }
}

/** A gateway that answers each path with a status and a value. */
async function gateway(answers: (path: string) => readonly [number, unknown]) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.headers.authorization} ${request.url}`);
    const [status, value] = answers(request.url ?? '');
    response.writeHead(status).end(JSON.stringify(value));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop: () => server.close() };
}

test('a gateway that has no such receipt is told of as missing, with what to do', async () => {
  vi.stubEnv('GW_KEY', 'gw_test');
  const { asked, stop, url } = await gateway(() => [404, { error: { code: 'receipt_not_found' } }]);
  const { code, out } = await said(file('reply.json', { choices: [], gw: receipt }), '--url', `${url}/v1/`);
  stop();
  expect(code).toBe(1);
  expect(out).toContain(`receipt     ${receipt.id}, version 1\n`);
  expect(out).toMatch(/ {2}missing: the gateway has no such receipt\. Keep the file/);
  expect(asked.sort()).toEqual([
    `Bearer gw_test /v1/gw/receipts/${receipt.id}`,
    `Bearer gw_test /v1/gw/receipts/${receipt.id}/proof?version=1`,
    `Bearer gw_test /v1/gw/receipts/${receipt.id}?version=1`,
  ]);
});

test('a proof from a file needs no gateway, and one that does not fit ends with 1', async () => {
  const proof = file('proof.json', { object: 'gw.receipt_proof', receipt_id: receipt.id, version: 1, leaf_hash: 'x' });
  const { code, out } = await said(file('receipt.json', receipt), '--proof', proof, '--json');
  expect(code).toBe(1);
  expect(JSON.parse(out)).toMatchObject({
    receipt: receipt.id,
    batch: null,
    log: null,
    mismatches: [expect.any(String)],
  });
});

test('without a receipt, a proof or a key it says what is missing; a refusal is no word on the receipt', async () => {
  const kept = file('receipt.json', receipt);
  await expect(said(file('other.json', { choices: [] }))).rejects.toThrow('is neither a receipt nor a reply');
  await expect(said(kept)).rejects.toThrow('--proof FILE, or --url URL of the gateway with GW_KEY set');
  vi.stubEnv('GW_KEY', 'gw_test');
  await expect(said(kept, '--url', 'http://gateway.example')).rejects.toThrow('--url has to be https');
  const { stop, url } = await gateway(() => [403, { error: { code: 'insufficient_scope' } }]);
  await expect(said(kept, '--url', url)).rejects.toThrow(/answers 403 .*insufficient_scope/);
  stop();
  await expect(said(kept, '--url', url)).rejects.toThrow('does not answer');
});

test('a gateway that does not stop answering is left at 16 MiB, and one that breaks off is told', async () => {
  vi.stubEnv('GW_KEY', 'gw_test');
  const kept = file('receipt.json', receipt);
  let sent = 0;
  const piece = Buffer.alloc(1024 * 1024, ' ');
  const serving = async (write: (response: ServerResponse) => void) => {
    const server = createServer((_, response) => write(response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop: () => server.close() };
  };
  const endless = await serving((response) => {
    Readable.from(repeated(piece, 200))
      .on('data', () => (sent += piece.length))
      .pipe(response)
      .on('error', () => {});
  });
  await expect(said(kept, '--url', endless.url)).rejects.toThrow('answers with more than 16777216 bytes');
  endless.stop();
  // Three were asked for, and some of each is on its way.
  expect(sent).toBeLessThan(3 * 32 * piece.length);
  const broken = await serving((response) => {
    response.writeHead(200, { 'content-length': 100 }).write('{');
    setTimeout(() => response.destroy(), 20);
  });
  await expect(said(kept, '--url', broken.url)).rejects.toThrow('broke off');
  broken.stop();
});

function* repeated(piece: Buffer, times: number): Generator<Buffer> {
  for (let n = 0; n < times; n += 1) yield piece;
}
