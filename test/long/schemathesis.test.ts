/** The same as in `test/errors`, for longer and each time with other requests; a failure names its seed. */
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
        ...{ publicUrl, key: keys.admin, paths },
        ...{ maxExamples: 150, seed, phases: ['examples', 'coverage', 'fuzzing'] },
      });
      expect(code, text.slice(-20_000)).toBe(0);
    },
    1_200_000,
  );
});
