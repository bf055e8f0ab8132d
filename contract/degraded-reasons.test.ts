import { expect, it } from 'vitest';
import { degradedDefinitions, degradedReasonsPage } from './degraded-reasons.ts';
import { degradedReasons } from './receipt.ts';

it('docs/degraded-receipts.md is the page that the definitions make, with a row for each reason', async () => {
  const page = degradedReasonsPage();
  for (const reason of degradedReasons)
    expect(page).toContain(`| \`${reason}\` | ${degradedDefinitions[reason].when} |`);
  // `npx vitest run --project fast contract/degraded-reasons -u` writes it.
  await expect(page).toMatchFileSnapshot('../docs/degraded-receipts.md');
});
