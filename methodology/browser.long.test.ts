/**
 * The published package in a real browser: the modules as they are, without a bundler, and a receipt that is checked by its
 * lineage there. package.test.ts shows the same of each machine with what a browser has alone.
 */
import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { call } from './testdata/facts.ts';
import { sampleOf } from './testdata/lineages.ts';

const names = ['chromium', 'chromium-browser', 'google-chrome'];
const found = names.find((name) => {
  try {
    return execFileSync(name, ['--version'], { stdio: ['ignore', 'pipe', 'ignore'] }).length > 0;
  } catch {
    return false;
  }
});
const how = found === undefined ? ' (skipped: no Chromium; Debian and Ubuntu: apt-get install chromium)' : '';

const folder = mkdtempSync(join(tmpdir(), 'gw-methodology-browser-'));
const built = join(folder, 'built');
const types: Readonly<Record<string, string>> = { '.js': 'text/javascript', '.json': 'application/json' };

const page = `<!doctype html><title>@gw/methodology</title>
<script type="importmap">{"imports":{"@gw/methodology/recompute":"/recompute.js"}}</script>
<pre id="result"></pre>
<script type="module">
  import { verify } from '@gw/methodology/recompute';
  const { lineage, receipt } = await (await fetch('/sample.json')).json();
  const forged = { ...receipt, energy_wh: receipt.energy_wh * 2 };
  const lines = [verify(lineage, receipt).ok, verify(lineage, forged).mismatches.map((line) => line.split(':')[0])];
  document.getElementById('result').textContent = JSON.stringify(lines);
</script>`;

const sample = sampleOf(call, 'gw-2.0');
const server = createServer((request, response) => {
  const path = normalize(new URL(request.url ?? '/', 'http://localhost').pathname);
  const send = (type: string, body: string | Buffer) => response.setHeader('content-type', type).end(body);
  if (path === '/') return send('text/html', page);
  if (path === '/sample.json')
    return send('application/json', JSON.stringify({ lineage: sample?.lineage, receipt: sample?.impact }));
  try {
    send(types[extname(path)] ?? 'application/octet-stream', readFileSync(join(built, path)));
  } catch {
    response.writeHead(404).end();
  }
});

beforeAll(async () => {
  execFileSync(process.execPath, [fileURLToPath(new URL('./scripts/build.mjs', import.meta.url)), built]);
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
}, 120_000);
afterAll(async () => {
  await new Promise((closed) => server.close(closed));
  rmSync(folder, { recursive: true, force: true });
});

it.skipIf(found === undefined)(
  `checks a receipt in Chromium, and finds a changed number${how}`,
  async () => {
    const { port } = server.address() as AddressInfo;
    // Its own sandbox needs rights that containers do not have; the page is the one above.
    const flags = ['--headless', '--no-sandbox', '--disable-gpu', `--user-data-dir=${join(folder, 'profile')}`];
    const { stdout } = await promisify(execFile)(String(found), [
      ...flags,
      '--virtual-time-budget=20000',
      '--dump-dom',
      `http://127.0.0.1:${port}/`,
    ]);
    expect(/<pre id="result">(.*?)<\/pre>/.exec(stdout)?.[1]).toBe('[true,["receipt.energy_wh"]]');
  },
  120_000,
);
