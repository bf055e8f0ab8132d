/** The official Python client: each check of `python/checks.py` is a test here. */
import { inCheckout } from '@gw/stack/checkout';
import { expect, test } from 'vitest';
import { stack } from './gateway.ts';
import { runPython } from './python-checks.ts';
import { pythonWithClient } from './python-client.ts';
import { openTestAccounts } from './test-account.ts';

async function runChecks() {
  const python = await pythonWithClient((line) => process.stderr.write(`${line}\n`));
  const accounts = openTestAccounts();
  const env = {
    GW_TEST_BASE_URL: `${stack.publicUrl}/v1`,
    GW_TEST_KEY: stack.keys.audit,
    GW_TEST_READ_ONLY_KEY: await accounts.create({}, { scopes: ['inference:read'] }),
    GW_TEST_ONE_CALL_KEY: await accounts.create({ perDay: 1 }),
  };
  await accounts.close();
  return runPython(python, [inCheckout('test', 'sdk', 'python', 'checks.py')], env);
}

const { checks, results } = await runChecks();

test.each(results)('Python: %s', (_, failure) => {
  expect(failure).toBeNull();
});

test('Python: the script ran to its end', () => {
  expect(checks).toBe(results.length);
});
