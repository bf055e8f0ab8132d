/** The gateway answers as its OpenAPI document says, to well-formed requests and to malformed ones that nobody thought of. */
import { scopes } from '@gw/contract/access';
import { routes } from '@gw/contract/routes';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stack } from '../sdk/gateway.ts';
import { openTestAccounts } from '../sdk/test-account.ts';
import { groups, installed, schemathesis } from './schemathesis.ts';

const accounts = openTestAccounts();
afterAll(() => accounts.close());
beforeAll(async () => {
  await installed();
}, 300_000);

describe.concurrent('schemathesis finds no reply that the document does not describe', () => {
  test.each(Object.entries(groups))('%s', { timeout: 300_000 }, async (_name, paths) => {
    const key = await accounts.create({ perS: 10_000, perDay: 1_000_000 }, { scopes });
    const { code, text } = await schemathesis({
      ...{ publicUrl: stack.publicUrl, key, paths },
      // The edges of each schema are gone over in the long tests.
      ...{ maxExamples: 10, seed: 1, phases: ['examples', 'fuzzing'] },
    });
    expect(code, text.slice(-20_000)).toBe(0);
    const wanted = routes.filter(({ path }) => paths.test(path)).length;
    expect(text).toMatch(new RegExp(`Tested: ${wanted}\\n`));
  });
});

test('no route is left out', () => {
  for (const { path } of routes)
    expect(
      Object.values(groups).filter((paths) => paths.test(path)),
      path,
    ).toHaveLength(1);
});
