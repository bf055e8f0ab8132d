/** The amounts of a receipt. */
import { measureOf } from '@gw/contract/pack/measures';
import { amounts } from '@gw/methodology/amounts';

export { amounts };

export type Amount = (typeof amounts)[number];

export const isAmount = (field: string): field is Amount => (amounts as readonly string[]).includes(field);

/** Says of each amount what it measures, and in what, once and not at every number. */
export const statedQuantities: readonly Readonly<Record<string, unknown>>[] = [...amounts, 'carbon_saved_g'].map(
  (name) => ({
    id: `gw:${name}`,
    type: ['owl:DatatypeProperty'],
    ...measureOf(name),
  }),
);
