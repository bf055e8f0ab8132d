/** Every page says what the product computes. `npx vitest run --project fast docs/source/pages -u` writes the generated parts. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { errorsPage } from '@gw/contract/internals/error-pages/errors-page';
import { methodologyOf } from '@gw/methodology/methodologies';
import { describe, expect, it } from 'vitest';
import { examples } from './examples.ts';
import { jsonText } from './numbers.ts';
import { blocks, filled, openApiExamples, partsOf } from './pages.ts';
import { performanceReport } from './performance.ts';
import { performanceChart } from './performance-chart.ts';
import { withAmounts } from './recompute-amounts.ts';
import { screenedRequest } from './screening.ts';

const root = new URL('../../', import.meta.url);
const markdownIn = (folder: string): string[] =>
  readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md') && !name.startsWith('dist'))
    .map((name) => folder + name);
const pages = ['README.md', 'ARCHITECTURE.md', ...markdownIn('docs/'), ...markdownIn('methodology/')];
const textOf = (page: string): string => readFileSync(new URL(page, root), 'utf8');
/** The page of errors is made whole from the catalogue, its examples too, and has a test of its own. */
const errorExamples = errorsPage().match(/^```json\n[\s\S]*?^```/gm) ?? [];
const jsonBlock = /^```json[c5]?\n/m;

describe.each(pages)('%s', (page) => {
  it('has the generated parts that the product makes', async () => {
    await expect(filled(textOf(page))).toMatchFileSnapshot(`../../${page}`);
  });

  it('points only to files that are there', () => {
    const links = [...textOf(page).matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)].map(([, target = '']) => target);
    const from = new URL(page, root);
    expect(links.filter((target) => !existsSync(new URL(target, from)))).toEqual([]);
  });

  it('has no JSON that is not generated', () => {
    const { rest } = partsOf(errorExamples.reduce((text, example) => text.replace(example, ''), textOf(page)));
    expect(rest).not.toMatch(jsonBlock);
  });
});

it('every generated part is on a page, once at most', () => {
  const used = pages.flatMap((page) => partsOf(textOf(page)).names);
  expect(used.toSorted()).toEqual(Object.keys(blocks).toSorted());
});

it('the files beside the pages are what the product makes', async () => {
  const { lineageReply, receipt } = examples.parametric;
  const file = (name: string, text: string) => expect(text).toMatchFileSnapshot(`../examples/${name}`);
  await file('receipt.json', `${jsonText(receipt)}\n`);
  await file('../../contract/openapi/openapi-examples.json', `${jsonText(openApiExamples())}\n`);
  await file('screened-request.json', `${jsonText(screenedRequest)}\n`);
  await file('../performance.svg', performanceChart(performanceReport()));
  await file('lineage.json', `${jsonText(lineageReply)}\n`);
  await file('recompute_words.py', withAmounts(textOf('docs/examples/recompute_words.py')));
  // To the byte what its hash is over.
  await file('methodology.json', methodologyOf('gw-2.0').document);
});
