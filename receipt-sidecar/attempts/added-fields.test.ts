import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { type AnsweredFields, createAddedFields, refusedBy, untriedBy } from './added-fields.ts';

function memory() {
  const logged: object[] = [];
  const clock = { ms: 0 };
  const fields = createAddedFields(() => clock.ms, { warn: (facts: object) => void logged.push(facts) } as never);
  const answered = (more: Partial<AnsweredFields> = {}) =>
    fields.answered({ form: 'f', deployment: 'd', added: ['a', 'b'], refused: [], status: 200, ...more });
  return { fields, answered, clock, logged };
}

it('a field that was refused with one form of request is sent with another', () => {
  const { answered, fields } = memory();
  answered({ refused: ['a'] });
  expect(refusedBy(fields.shownBy('f'), 'd')).toEqual(['a']);
  expect(untriedBy(fields.shownBy('f'), 'd', ['b'])).toEqual([]);
  expect(refusedBy(fields.shownBy('g'), 'd')).toEqual([]);
  expect(refusedBy(fields.shownBy('f'), 'other')).toEqual([]);
});

it('an error says nothing of the fields, and puts those in doubt that were taken before', () => {
  const { answered, fields } = memory();
  answered({ status: 400, refused: ['a'] });
  expect(refusedBy(fields.shownBy('f'), 'd')).toEqual([]);
  answered();
  expect(untriedBy(fields.shownBy('f'), 'd', ['a', 'b'])).toEqual([]);
  answered({ status: 400 });
  expect(untriedBy(fields.shownBy('f'), 'd', ['a', 'b'])).toEqual(['a', 'b']);
});

it('a refusal is forgotten after an hour with what was taken beside it, and what was taken alone is not', () => {
  const { answered, clock, fields } = memory();
  answered({ refused: ['a'] });
  answered({ form: 'g' });
  clock.ms = 3_599_999;
  expect(refusedBy(fields.shownBy('f'), 'd')).toEqual(['a']);
  clock.ms = 3_600_000;
  expect(refusedBy(fields.shownBy('f'), 'd')).toEqual([]);
  expect(untriedBy(fields.shownBy('f'), 'd', ['b'])).toEqual(['b']);
  expect(untriedBy(fields.shownBy('g'), 'd', ['a', 'b'])).toEqual([]);
});

it('what one call shows is added to what others have shown, and an error takes no refusal back', () => {
  const { answered, fields } = memory();
  answered({ added: ['a'], refused: ['a'] });
  answered({ added: ['b', 'c'], refused: ['b'] });
  expect(refusedBy(fields.shownBy('f'), 'd')).toEqual(['a', 'b']);
  expect(untriedBy(fields.shownBy('f'), 'd', ['b', 'c', 'd'])).toEqual(['b', 'd']);
  answered({ added: ['c'], status: 400 });
  expect(refusedBy(fields.shownBy('f'), 'd')).toEqual(['a', 'b']);
});

it('operators are told of a field of a deployment once, and each refusal is counted', async () => {
  const { answered, fields, logged } = memory();
  answered({ refused: ['a'] });
  answered({ refused: ['a'], form: 'g' });
  expect(logged).toEqual([{ deployment: 'd', field: 'a' }]);
  const registry = new Registry();
  fields.register(registry);
  expect(await registry.metrics()).toContain('gw_added_fields_refused_total{deployment="d",field="a"} 2');
});

it('keeps no more than the names of a thousand deployments to tell of them once', () => {
  const { answered, logged } = memory();
  for (let at = 0; at < 1001; at += 1) answered({ deployment: `d ${at}`, refused: ['a'] });
  expect(logged).toHaveLength(1000);
});

it('forgets the oldest form when there are too many', () => {
  const { answered, fields } = memory();
  answered({ refused: ['a'] });
  for (let at = 0; at < 2000; at += 1) answered({ form: `form ${at}` });
  expect(refusedBy(fields.shownBy('f'), 'd')).toEqual([]);
  expect(untriedBy(fields.shownBy('form 1999'), 'd', ['a'])).toEqual([]);
});
