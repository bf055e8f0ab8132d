/** When an Envoy counts as idle, by an admin socket that is a stand-in. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { drainEnvoy } from './drain.ts';

it('goes on for a call that came over a kept connection while the access log had its last words', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'gw-drain-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const adminSocket = join(dir, 'admin.sock');
  // Connections and calls, as they are found one time after the other.
  const found: [number, number][] = [
    [0, 0],
    [1, 1],
    [1, 1],
    [0, 0],
    [0, 0],
  ];
  const server = createServer((incoming, reply) => {
    const [connections, calls] = incoming.url?.startsWith('/stats') ? (found.shift() ?? [0, 0]) : [];
    reply.end(`http.public.downstream_cx_active: ${connections}\nhttp.public.downstream_rq_active: ${calls}\n`);
  });
  await new Promise<void>((resolve) => server.listen(adminSocket, resolve));
  onTestFinished(() => void server.close());
  await drainEnvoy({ adminSocket, noticeS: 0, drainS: 600, hurry: new AbortController().signal });
  expect(found).toEqual([]);
});
