import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { priceOf, pricesFrom, type SnapshotPrice } from './prices.ts';

const price = (fields: Partial<SnapshotPrice>): SnapshotPrice => ({
  provider: 'p',
  model: 'm',
  region: null,
  from: '2026-01-01T00:00:00.000Z',
  inputPerMTok: 1,
  outputPerMTok: 2,
  ...fields,
});
const asked = { provider: 'p', model: 'm', region: 'eu' };
const at = (time: string) => new Date(time);

describe('the price of tokens', () => {
  it('is none where there are no prices, before the first of them, and of another provider or model', () => {
    expect(priceOf({ prices: [] }, asked, at('2026-01-01'))).toBeNull();
    const prices = [price({})];
    expect(priceOf({ prices }, asked, at('2025-12-31T23:59:59.999Z'))).toBeNull();
    expect(priceOf({ prices }, { ...asked, model: 'other' }, at('2026-02-01'))).toBeNull();
    expect(priceOf({ prices }, { ...asked, provider: 'other' }, at('2026-02-01'))).toBeNull();
  });

  it('changes at the very moment of the next one', () => {
    const prices = [price({}), price({ from: '2026-02-01T00:00:00.000Z', inputPerMTok: 5 })];
    expect(priceOf({ prices }, asked, at('2026-01-31T23:59:59.999Z'))?.inputPerMTok).toBe(1);
    expect(priceOf({ prices }, asked, at('2026-02-01T00:00:00.000Z'))).toEqual({ inputPerMTok: 5, outputPerMTok: 2 });
  });

  it('is that of the region before that of all regions, even if the latter is newer', () => {
    const prices = [
      price({ region: 'eu', inputPerMTok: 7 }),
      price({ from: '2026-02-01T00:00:00.000Z', inputPerMTok: 5 }),
    ];
    expect(priceOf({ prices }, asked, at('2026-03-01'))?.inputPerMTok).toBe(7);
    expect(priceOf({ prices }, { ...asked, region: 'us' }, at('2026-03-01'))?.inputPerMTok).toBe(5);
    expect(priceOf({ prices }, { ...asked, region: null }, at('2026-03-01'))?.inputPerMTok).toBe(5);
  });

  it('can be told from what a snapshot keeps as from all prices, from its time on', () => {
    const hour = fc.integer({ min: 0, max: 40 });
    const timeOf = (hours: number) => new Date(Date.UTC(2026, 0, 1, hours));
    const some = fc.uniqueArray(
      fc.record({ region: fc.constantFrom('eu', 'us', null), model: fc.constantFrom('m', 'n'), hours: hour }),
      { selector: ({ hours, model, region }) => `${region} ${model} ${hours}` },
    );
    fc.assert(
      fc.property(some, hour, hour, (list, publishedAt, later) => {
        const prices = list.map(({ hours, model, region }, n) =>
          price({ model, region, from: timeOf(hours).toISOString(), inputPerMTok: n }),
        );
        const kept = pricesFrom(prices, timeOf(publishedAt));
        const then = timeOf(publishedAt + later);
        for (const region of ['eu', 'us', null])
          expect(priceOf({ prices: kept }, { ...asked, region }, then)).toEqual(
            priceOf({ prices }, { ...asked, region }, then),
          );
      }),
    );
  });
});
