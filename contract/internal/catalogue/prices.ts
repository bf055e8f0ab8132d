/**
 * Token prices of providers, as the services read them from the catalogue.
 *
 * Invariant: no receipt contains a cost. It is computed on request from the price of the hour, so that a corrected price corrects
 * every report.
 */
import { z } from 'zod';

export const snapshotPriceSchema = z.object({
  provider: z.string(),
  /** Public id. */
  model: z.string(),
  /** Null: all regions without a price of their own. */
  region: z.string().nullable(),
  /** When it takes effect, RFC 3339. */
  from: z.string(),
  /** Price of 1,000,000 tokens in the currency of the gateway. */
  inputPerMTok: z.number().nonnegative(),
  outputPerMTok: z.number().nonnegative(),
});
export type SnapshotPrice = z.infer<typeof snapshotPriceSchema>;

export interface Priced {
  readonly provider: string;
  readonly model: string;
  /** Null if unknown: then only prices for all regions apply. */
  readonly region: string | null;
}

export type TokenPrice = Pick<SnapshotPrice, 'inputPerMTok' | 'outputPerMTok'>;

const keyOf = ({ model, provider, region }: Priced): string => JSON.stringify([provider, model, region]);

type Index = ReadonlyMap<string, readonly { readonly fromMs: number; readonly price: TokenPrice }[]>;
const indexes = new WeakMap<readonly SnapshotPrice[], Index>();

/** Indexes prices by provider, model and region, the newest first; once per snapshot. */
function indexOf(prices: readonly SnapshotPrice[]): Index {
  const known = indexes.get(prices);
  if (known) return known;
  const index = new Map<string, { fromMs: number; price: TokenPrice }[]>();
  for (const { inputPerMTok, outputPerMTok, ...price } of prices) {
    const list = index.get(keyOf(price)) ?? [];
    list.push({ fromMs: Date.parse(price.from), price: { inputPerMTok, outputPerMTok } });
    index.set(keyOf(price), list);
  }
  for (const list of index.values()) list.sort((a, b) => b.fromMs - a.fromMs);
  indexes.set(prices, index);
  return index;
}

/**
 * Returns the price in force at a time, preferably that of the region, or null if none is known. A snapshot has the prices in force
 * when it was published, and all later ones.
 */
export function priceOf(
  { prices }: { readonly prices: readonly SnapshotPrice[] },
  priced: Priced,
  at: Date,
): TokenPrice | null {
  const index = indexOf(prices);
  const inForce = (region: string | null) =>
    index.get(keyOf({ ...priced, region }))?.find(({ fromMs }) => fromMs <= at.getTime())?.price;
  return (priced.region === null ? undefined : inForce(priced.region)) ?? inForce(null) ?? null;
}

/** Returns the prices in force at a time and all later ones, in the given order. */
export function pricesFrom(prices: readonly SnapshotPrice[], at: Date): SnapshotPrice[] {
  const newest = new Map<string, number>();
  for (const price of prices) {
    const from = Date.parse(price.from);
    if (from <= at.getTime()) newest.set(keyOf(price), Math.max(from, newest.get(keyOf(price)) ?? from));
  }
  return prices.filter((price) => Date.parse(price.from) >= (newest.get(keyOf(price)) ?? Number.NEGATIVE_INFINITY));
}
