/**
 * The gateway answers as its OpenAPI document says, to well-formed requests and to malformed ones that nobody thought of, each time
 * to others; a failure names its seed.
 */
import { routes } from '@gw/contract/routes';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { groups, installed, schemathesis } from '../errors/schemathesis.ts';
import { type OwnGateway, startOwnGateway } from '../outage/own-gateway.ts';

let gateway: OwnGateway;
beforeAll(async () => {
  await installed();
  gateway = await startOwnGateway();
}, 300_000);
afterAll(() => gateway?.stop());

const seed = Math.floor(Date.now() / 1000);

describe(`with the seed ${seed}`, () => {
  test.each(Object.entries(groups))(
    '%s',
    async (_name, paths) => {
      const { publicUrl, keys } = gateway.stack;
      const { code, text } = await schemathesis({
        publicUrl,
        key: keys.admin,
        paths,
        maxExamples: 150,
        seed,
        phases: ['examples', 'coverage', 'fuzzing'],
      });
      expect(code, text.slice(-20_000)).toBe(0);
      const wanted = routes.filter(({ path }) => paths.test(path)).length;
      expect(text).toMatch(new RegExp(`Tested: ${wanted}\n`));
    },
    1_200_000,
  );
});
