/**
 * h2spec, which others wrote, against our HTTP/2. It is a program in Go, so it runs only where GW_H2SPEC names it:
 * `go install github.com/summerwind/h2spec/cmd/h2spec@v2.2.1+incompatible` gets it.
 *
 * Its findings are listed with their reasons; docs/decisions/0001-own-grpc-server.md explains them.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Http2Connection } from './connection.ts';

/** Package of h2spec → how many of its cases we do not follow. */
const exceptions: Readonly<Record<string, number>> = {
  // It sends 20 KiB and calls that too large, although we announce frames of 64 KiB.
  'http2/4.2': 1,
  // Frames for a stream that has ended are ignored: they may have crossed the end.
  'http2/5.1': 4,
  'http2/5.1.1': 1,
  // RFC 9113 takes priorities back; they are not read.
  'http2/5.3.1': 2,
  // Requests are not validated beyond what picks the method: Envoy makes them.
  'http2/8.1.2': 1,
  'http2/8.1.2.1': 3,
  'http2/8.1.2.2': 2,
  'http2/8.1.2.3': 7,
  'http2/8.1.2.6': 2,
};

const program = process.env.GW_H2SPEC;

/** Package → how many of its cases failed. */
function failures(report: string): Record<string, number> {
  const failed: Record<string, number> = {};
  for (const [, name = '', body = ''] of report.matchAll(/<testcase package="([^"]+)"[^>]*>(.*?)<\/testcase>/gs))
    if (/<failure|<error/.test(body)) failed[name] = (failed[name] ?? 0) + 1;
  return failed;
}

test.skipIf(!program)('h2spec finds what is listed, and nothing else', async () => {
  const server = createServer((socket) => {
    new Http2Connection(socket, (_headers, stream) => ({
      data: () => undefined,
      // Not at once: some cases go on with a stream that their end of it has closed.
      ended: async () => {
        await delay(50);
        stream.sendHeaders(Buffer.from([0x88]), false);
        stream.sendData(Buffer.from('Hello'));
        stream.sendHeaders(Buffer.from([0x00, 1, 0x61, 1, 0x62]), true);
      },
      closed: () => undefined,
    }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const dir = mkdtempSync(join(tmpdir(), 'gw-h2spec-'));
  try {
    const { port } = server.address() as { port: number };
    const report = join(dir, 'report.xml');
    const child = spawn(program ?? '', ['-h', '127.0.0.1', '-p', String(port), '-j', report, '-o', '1']);
    child.stdout.resume();
    child.stderr.resume();
    await new Promise((resolve, reject) => child.on('error', reject).on('close', resolve));
    const text = readFileSync(report, 'utf8');
    expect(text.match(/<testcase /g)?.length).toBeGreaterThan(100);
    expect(failures(text)).toEqual(exceptions);
  } finally {
    server.close();
    rmSync(dir, { recursive: true, force: true });
  }
});
