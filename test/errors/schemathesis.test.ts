/** The gateway answers as its OpenAPI document says, to well-formed requests and to malformed ones that nobody thought of. */
import { scopes } from '@gw/contract/access';
import { afterAll, expect, test } from 'vitest';
import { stack } from '../sdk/gateway.ts';
import { openTestAccounts } from '../sdk/test-account.ts';
import { schemathesis } from './schemathesis.ts';

const accounts = openTestAccounts();
afterAll(() => accounts.close());

test('schemathesis finds no reply that the document does not describe', async () => {
  const key = await accounts.create({ perS: 10_000, perDay: 1_000_000 }, { scopes });
  const { code, text } = await schemathesis({ publicUrl: stack.publicUrl, key, maxExamples: 15, seed: 1 });
  expect(code, text.slice(-20_000)).toBe(0);
  // All of them, not only those that the key opens.
  expect(text).toMatch(/Selected: (\d+)\/\1/);
}, 300_000);
