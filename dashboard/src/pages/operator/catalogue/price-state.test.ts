import { expect, test } from 'vitest';
import { priceStates } from './price-state.ts';

const price = (id: string, valid_from: string, region: string | null = null) => ({
  id,
  valid_from,
  region,
  provider: 'acme',
  model: 'm',
});

test('of each provider, model and region the newest price that has begun is in force', () => {
  const prices = [
    price('new', '2026-11-01T00:00:00.000Z'),
    price('old', '2026-01-01T00:00:00.000Z'),
    price('regional', '2026-01-01T00:00:00.000Z', 'se'),
    price('next', '2026-12-01T00:00:00.000Z'),
  ];
  expect([...priceStates(prices, Date.parse('2026-11-26T00:00:00Z'))]).toEqual([
    ['new', 'now'],
    ['old', 'over'],
    ['regional', 'now'],
    ['next', 'later'],
  ]);
});
