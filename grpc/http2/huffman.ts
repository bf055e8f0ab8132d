/**
 * The Huffman code of HPACK (RFC 7541, appendix B), decoding only.
 *
 * The code is canonical: codes of one length rise with the symbol, so the lengths alone define it.
 */

const codeLengths = [
  13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28,
  28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
  13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6, 15, 5, 6, 5, 6,
  5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23,
  22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22, 21, 20, 22, 22,
  23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23, 26, 26,
  20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27,
  27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27,
  27, 27, 27, 26, 30,
] as const;

const endOfString = 256;

/** A binary tree in two arrays: `next[2 × node + bit]` is a node, or −1 − symbol. Node 0 is the root; 0 means "none yet". */
function buildTree(): Int32Array {
  const tree = new Int32Array(2 * 300);
  let nodes = 1;
  let code = 0;
  let length = 0;
  const symbols = codeLengths
    .map((bits, symbol) => ({ bits, symbol }))
    .sort((a, b) => a.bits - b.bits || a.symbol - b.symbol);
  for (const { bits, symbol } of symbols) {
    code <<= bits - length;
    length = bits;
    let node = 0;
    for (let bit = bits - 1; bit > 0; bit--) {
      const at = 2 * node + ((code >>> bit) & 1);
      if (tree[at] === 0) tree[at] = nodes++;
      node = tree[at] as number;
    }
    tree[2 * node + (code & 1)] = -1 - symbol;
    code += 1;
  }
  return tree;
}

const tree = buildTree();

/** The decoded bytes as a latin-1 string; null if the input is not a valid code. */
export function decodeHuffman(bytes: Uint8Array): string | null {
  let out = '';
  let node = 0;
  /** Bits since the last symbol, and whether all of them were ones: only such may pad the end, at most seven. */
  let pending = 0;
  let ones = true;
  for (const byte of bytes) {
    for (let bit = 7; bit >= 0; bit--) {
      const value = (byte >>> bit) & 1;
      const next = tree[2 * node + value] as number;
      if (next < 0) {
        const symbol = -1 - next;
        if (symbol === endOfString) return null;
        out += String.fromCharCode(symbol);
        node = 0;
        pending = 0;
        ones = true;
      } else {
        node = next;
        pending += 1;
        ones &&= value === 1;
      }
    }
  }
  return pending <= 7 && ones ? out : null;
}
