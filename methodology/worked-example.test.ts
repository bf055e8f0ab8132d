import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { assess } from './receipt/assess.ts';

it('the worked example is what the code computes', () => {
  const text = readFileSync(new URL('./worked-example.md', import.meta.url), 'utf8');
  const [facts = '', impact = ''] = [...text.matchAll(/```json\n(.*?)```/gs)].map((match) => match[1] ?? '');
  expect(assess(JSON.parse(facts))).toEqual({ ok: true, impact: JSON.parse(impact) });
});
