/** Estimates what reading a body costs: its bytes, times what folding makes of them, and what each call costs beside its body. */
import { lettersPerByte } from '@gw/policy/growth';

/** A call with an empty body costs as much as this many bytes of English. */
const bytesOfCall = 16 * 1024;

/** In bytes of English, which fold to some 0.8 letters a byte. Half of the cost of a byte is that of its letters. */
export const readingCost = (bytes: Uint8Array): number =>
  bytesOfCall + bytes.length * (0.5 + 0.6 * lettersPerByte(bytes));
