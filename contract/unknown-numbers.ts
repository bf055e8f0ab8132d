/** The numbers of a receipt that has none. */
import { type Receipt, type ReceiptNumbers, receiptSchema } from './receipt.ts';

/** These are known of a degraded receipt too, or absent from it. */
type KnownField = 'tier_reason' | 'grid_zone' | 'prompt_tokens' | 'completion_tokens' | 'grid_vintage';
type Unknown = {
  [Field in keyof ReceiptNumbers]-?: null extends ReceiptNumbers[Field] ? Exclude<Field, KnownField> : never;
}[keyof ReceiptNumbers];
type UnknownNumbers = Readonly<Record<Unknown, null>> & Required<Pick<Receipt, 'grid_temporal_match'>>;

const fields = Object.entries(receiptSchema.shape);
const fromEnergyOn = fields.slice(fields.findIndex(([field]) => field === 'energy_wh'));

/** Null for every number and word that can be unknown; one that may be absent instead is null only if it is an amount. */
const unknownFields = fromEnergyOn.flatMap(([field, schema]): (readonly [string, null | 'none'])[] => {
  const takes = (value: unknown): boolean => schema.safeParse(value).success;
  if (field === 'grid_temporal_match') return [[field, 'none']];
  return takes(null) && (takes(1.5) || !takes(undefined)) ? [[field, null]] : [];
});

/** The numbers of a degraded receipt. */
export const unknownNumbers = Object.fromEntries(unknownFields) as UnknownNumbers;
