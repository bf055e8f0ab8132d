/**
 * What providers charge for tokens, as the services read it from the catalogue.
 *
 * Invariant: money is in no receipt. It is computed when somebody asks, from the price of the hour, so that a corrected price corrects
 * each report.
 */
import { z } from 'zod';

export const snapshotPriceSchema = z.object({
  provider: z.string(),
  /** By its public id. */
  model: z.string(),
  /** Null: wherever no price of the region itself is in force. */
  region: z.string().nullable(),
  /** From when on, RFC 3339. */
  from: z.string(),
  /** Per 1,000,000 tokens, in the currency of the gateway. */
  inputPerMTok: z.number().nonnegative(),
  outputPerMTok: z.number().nonnegative(),
});
export type SnapshotPrice = z.infer<typeof snapshotPriceSchema>;

/** Whose price is asked for. */
export interface Priced {
  readonly provider: string;
  readonly model: string;
  /** Null where it is not known: then only what is for all regions holds. */
  readonly region: string | null;
}

export type TokenPrice = Pick<SnapshotPrice, 'inputPerMTok' | 'outputPerMTok'>;

const keyOf = ({ model, provider, region }: Priced): string => JSON.stringify([provider, model, region]);

type Index = ReadonlyMap<string, readonly { readonly fromMs: number; readonly price: TokenPrice }[]>;
const indexes = new WeakMap<readonly SnapshotPrice[], Index>();

/** By provider, model and region, the newest first. Made once per snapshot. */
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
 * Returns the price in force at a time, or null if none is known: that of the region before that of all regions. A snapshot knows those
 * that were in force when it was published, and all later ones.
 */
export function priceOf(
  { prices = [] }: { readonly prices?: readonly SnapshotPrice[] | undefined },
  priced: Priced,
  at: Date,
): TokenPrice | null {
  const index = indexOf(prices);
  const inForce = (region: string | null) =>
    index.get(keyOf({ ...priced, region }))?.find(({ fromMs }) => fromMs <= at.getTime())?.price;
  return (priced.region === null ? undefined : inForce(priced.region)) ?? inForce(null) ?? null;
}

/** Those in force at a time, and all that begin later, in their order. */
export function pricesFrom(prices: readonly SnapshotPrice[], at: Date): SnapshotPrice[] {
  const newest = new Map<string, number>();
  for (const price of prices) {
    const from = Date.parse(price.from);
    if (from <= at.getTime()) newest.set(keyOf(price), Math.max(from, newest.get(keyOf(price)) ?? from));
  }
  return prices.filter((price) => Date.parse(price.from) >= (newest.get(keyOf(price)) ?? 0));
}
