import { compileRules } from '@gw/policy/compile';
import { requestText } from '@gw/policy/request-text';
import { expect, test } from 'vitest';
import { leavesOf, openSearch, placesIn } from './places.ts';
import { phrases } from './policy-for-tests.ts';

const sampleOf = (text: string) => ({
  texts: requestText({ content: text }).texts,
  leaves: leavesOf({ content: text }),
});

test('a rule is made ready once, however many samples it matches, and all else has its turn between two of them', async () => {
  let compiled = 0;
  let turns = 0;
  const search = openSearch(
    (rules) => {
      compiled += 1;
      return compileRules(rules);
    },
    async () => void turns++,
  );
  const rules = Array.from({ length: 10 }, (_, at) => phrases(`rule-${at}`, `forbidden words ${'abcdefghij'[at]}`));
  const text = rules.flatMap((rule) => (rule.kind === 'phrases' ? rule.phrases : [])).join('. ');
  for (let sample = 0; sample < 5; sample++)
    for (const rule of rules) {
      const [place] = await placesIn(sampleOf(text), rule, search);
      expect(place?.excerpt).toBe(rule.kind === 'phrases' ? rule.phrases[0] : null);
    }
  expect(compiled).toBe(10);
  expect(turns).toBeGreaterThanOrEqual(50);
});

test('long samples are looked through with pauses, and no longer once the whole dry run has spent what it may', async () => {
  let turns = 0;
  const search = openSearch(compileRules, async () => void turns++);
  const rule = phrases('rule', 'forbidden words');
  const sample = sampleOf(`${'plain words '.repeat(20_000)}forbidden words`);
  expect(await placesIn(sample, rule, search)).toHaveLength(1);
  expect(turns).toBeGreaterThan((20_000_000 - search.budget.chars) / 1_000_000);
  search.budget.chars = 0;
  expect(await placesIn(sample, rule, search)).toEqual([]);
});
