import { routes } from '@gw/contract/routes';
import { expect, test } from 'vitest';
import { groups } from './schemathesis.ts';

test('schemathesis, which `test/long` runs, leaves no route out', () => {
  for (const { path } of routes)
    expect(
      Object.values(groups).filter((paths) => paths.test(path)),
      path,
    ).toHaveLength(1);
});
