import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { createOperatorNotices, type JudgedOutcome } from './operator-notices.ts';

function notices() {
  const told: unknown[] = [];
  const log = {
    error: (facts: object) => void told.push(facts),
    info: () => void told.push('answers'),
  };
  const shown = new Map<string, string>();
  const kept = createOperatorNotices(log as never, (name, notice) => {
    if (notice === null) shown.delete(name);
    else shown.set(name, `${notice.status} ${notice.failures}`);
  });
  const registry = new Registry();
  kept.register(registry);
  const metric = async (name: string) => (await registry.getSingleMetric(name)?.get())?.values;
  return { kept, told, shown, metric };
}
const fault = (outcome: JudgedOutcome['outcome']): JudgedOutcome => ({ outcome, result: 'needs_operator' });
const answer: JudgedOutcome = { outcome: null, result: 'answered' };

it('tells of a deployment at once, goes on counting, and ends with an answer', async () => {
  const { kept, metric, shown, told } = notices();
  kept.note('d m', fault('auth_failed'));
  kept.note('d m', fault('auth_failed'));
  expect(told).toEqual([{ deployment: 'd m', outcome: 'auth_failed' }]);
  expect([...shown]).toEqual([['d m operator', 'auth_failed 2']]);
  expect(await metric('gw_deployments_needing_operator')).toMatchObject([{ value: 1 }]);
  expect(await metric('gw_operator_faults_total')).toContainEqual({ labels: { outcome: 'auth_failed' }, value: 2 });
  kept.note('d other', answer);
  expect(shown.size).toBe(1);
  kept.note('d m', answer);
  expect([shown.size, told.at(-1)]).toEqual([0, 'answers']);
  expect(await metric('gw_deployments_needing_operator')).toMatchObject([{ value: 0 }]);
});

it('tells of a 403 only after three in a row, since a text of one client can cause it', () => {
  const { kept, shown, told } = notices();
  const refused: JudgedOutcome = { outcome: 'auth_failed', result: 'failed' };
  for (const each of [refused, refused, answer, refused, refused]) kept.note('d m', each);
  expect([shown.size, told]).toEqual([0, []]);
  kept.note('d m', refused);
  expect(shown.get('d m operator')).toBe('auth_failed 3');
});

it('tells nothing of other failures, which end nothing either', () => {
  const { kept, shown, told } = notices();
  kept.note('d m', { outcome: 'server_error', result: 'failed' });
  expect(told).toEqual([]);
  kept.note('d m', fault('model_missing'));
  kept.note('d m', { outcome: 'rate_limited', result: 'busy' });
  expect(shown.get('d m operator')).toBe('model_missing 1');
});
