/** The official Python client: each check of `python/checks.py` is a test here. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { inCheckout } from '@gw/stack/checkout';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { stack } from './gateway.ts';
import { pythonWithClient } from './python-client.ts';
import { openTestAccounts } from './test-account.ts';

const lineSchema = z.union([
  z.object({ name: z.string(), failure: z.string().nullable() }),
  z.object({ checks: z.int().positive() }),
]);

async function runChecks() {
  const python = await pythonWithClient((line) => process.stderr.write(`${line}\n`));
  const accounts = openTestAccounts();
  const env = {
    PATH: process.env.PATH,
    LANG: 'C.UTF-8',
    GW_TEST_BASE_URL: `${stack.publicUrl}/v1`,
    GW_TEST_KEY: stack.keys.audit,
    GW_TEST_READ_ONLY_KEY: await accounts.create({}, { scopes: ['inference:read'] }),
    GW_TEST_ONE_CALL_KEY: await accounts.create({ perDay: 1 }),
  };
  await accounts.close();
  // -B: no compiled files in the checkout.
  const args = ['-B', inCheckout('test', 'sdk', 'python', 'checks.py')];
  const { stdout } = await promisify(execFile)(python, args, { env, timeout: 60_000 });
  return stdout
    .trim()
    .split('\n')
    .map((line) => lineSchema.parse(JSON.parse(line)));
}

const lines = await runChecks();
const results = lines.flatMap((line) => ('name' in line ? [[line.name, line.failure] as const] : []));

test.each(results)('Python: %s', (_, failure) => {
  expect(failure).toBeNull();
});

test('Python: the script ran to its end', () => {
  expect(lines.at(-1)).toEqual({ checks: results.length });
});
