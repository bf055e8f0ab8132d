/** Puts another receipt into bytes that are ready to be sent. */
import type { ShownReceipt } from '../receipt/shown-receipt.ts';
import { usageMembers } from '../wire/json-body.ts';

/** Returns the bytes of a stream with the receipt that is shown in place of the one that was made, if that could not be stored. */
export const withShown = (bytes: Buffer, made: ShownReceipt, shown: ShownReceipt): Buffer =>
  made.gw === shown.gw ? bytes : replaced(replaced(bytes, made.gw, shown.gw), usageMembers(made), usageMembers(shown));

/** Returns the bytes with `shown` wherever `made` stands. Both hold the receipt's id, so the provider's words do not. */
function replaced(bytes: Buffer, made: string, shown: string): Buffer {
  const pieces: Buffer[] = [];
  let from = 0;
  for (let at = bytes.indexOf(made); at !== -1; at = bytes.indexOf(made, from)) {
    pieces.push(bytes.subarray(from, at), Buffer.from(shown));
    from = at + Buffer.byteLength(made);
  }
  return Buffer.concat([...pieces, bytes.subarray(from)]);
}
