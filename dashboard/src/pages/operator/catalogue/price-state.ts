import type { Price } from '../../../api/types.ts';

export type PriceState = 'now' | 'later' | 'over';
type Dated = Pick<Price, 'id' | 'provider' | 'model' | 'region' | 'valid_from'>;

/** Returns by id which prices hold at `at` (ms since 1970): of each provider, model and region the newest that has begun. */
export function priceStates(prices: readonly Dated[], at: number): ReadonlyMap<string, PriceState> {
  const newest = new Map<string, Dated>();
  const groupOf = ({ model, provider, region }: Dated): string => [provider, region ?? '*', model].join(' ');
  const hasBegun = ({ valid_from }: Dated): boolean => Date.parse(valid_from) <= at;
  for (const price of prices.filter(hasBegun)) {
    const other = newest.get(groupOf(price));
    if (other === undefined || other.valid_from < price.valid_from) newest.set(groupOf(price), price);
  }
  return new Map(
    prices.map((price) => {
      if (!hasBegun(price)) return [price.id, 'later'];
      return [price.id, newest.get(groupOf(price)) === price ? 'now' : 'over'];
    }),
  );
}
