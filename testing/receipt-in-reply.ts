import { shownReceiptSchema } from '@gw/contract/receipt';

/** The receipt in the `gw` of a reply, without the salt that only the reply has. */
export const receiptInReply = shownReceiptSchema.transform(({ salt: _, ...receipt }) => receipt);
