import { expect, it } from 'vitest';
import { errorsPage } from './errors-page.ts';

it('docs/errors.md is the page that the catalogue makes', async () => {
  // `npx vitest run --project fast contract/error-pages -u` writes it.
  await expect(errorsPage()).toMatchFileSnapshot('../../docs/errors.md');
});
