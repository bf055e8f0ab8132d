/** The built command works in the image, in which there is no checkout: with package.json, node_modules and dist alone. */
import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { inCheckout } from '@gw/stack/checkout';
import { afterAll, beforeAll, expect, test } from 'vitest';

const dir = mkdtempSync(join(tmpdir(), 'gw-image-'));
const shown: (string | undefined)[] = [];
const server = createServer((request, response) => {
  shown.push(request.headers.authorization);
  response.setHeader('content-type', 'application/json');
  response.end(
    JSON.stringify({ object: 'list', data: [{ id: 'acct_1', name: 'One' }], has_more: false, last_id: null }),
  );
});
beforeAll(async () => {
  mkdirSync(join(dir, 'dist'));
  copyFileSync(inCheckout('package.json'), join(dir, 'package.json'));
  copyFileSync(inCheckout('dist', 'cli.js'), join(dir, 'dist', 'cli.js'));
  symlinkSync(inCheckout('node_modules'), join(dir, 'node_modules'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => {
  server.close();
  rmSync(dir, { recursive: true, force: true });
});

test('node dist/cli.js admin asks the gateway that the environment names', async () => {
  const { port } = server.address() as AddressInfo;
  const env = { GW_CONTROL_URL: `http://127.0.0.1:${port}`, GW_OPERATOR_TOKEN: 'gwop_a-token' };
  const run = promisify(execFile)(process.execPath, ['dist/cli.js', 'admin', 'accounts', 'list'], { cwd: dir, env });
  expect((await run).stdout).toMatch(/^acct_1 +One/m);
  expect(shown).toEqual(['Bearer gwop_a-token']);
});
