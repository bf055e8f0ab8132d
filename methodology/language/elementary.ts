/**
 * exp and ln with the same last bit in every engine.
 *
 * ECMAScript leaves their last places to the engine: Chromium 156 differs from Node 24 in one of ten. Then a lineage that one has
 * made does not follow in the other, and constants that are made with them have another hash. These are made of the four operations
 * and of the bits of doubles alone, which IEEE 754 fixes. Invariant: they are Node 24's `Math.exp` and `Math.log` to the bit, by
 * which the published methodologies were made (elementary.test.ts).
 *
 * Powers are left to the engine: those of Node 24 and Chromium 156 are the same.
 *
 * Algorithms and constants: fdlibm 5.3, e_exp.c and e_log.c; see NOTICE.
 */

const bits = new DataView(new ArrayBuffer(8));

/** The upper half of a double: sign, exponent and 20 bits. */
function highOf(value: number): number {
  bits.setFloat64(0, value);
  return bits.getInt32(0);
}

function withHigh(value: number, high: number): number {
  bits.setFloat64(0, value);
  bits.setInt32(0, high);
  return bits.getFloat64(0);
}

const ln2High = 0.6931471803691238;
const ln2Low = 1.9082149292705877e-10;

/** The approximation of exp on [0, ln 2 / 2], in even powers. */
const evenPowers = (square: number): number =>
  square *
  (0.16666666666666602 +
    square *
      (-0.0027777777777015593 +
        square * (6.613756321437934e-5 + square * (-1.6533902205465252e-6 + square * 4.1381367970572385e-8))));

/** e to this power. */
export function exp(power: number): number {
  const size = Math.abs(power);
  // Beyond, all engines agree: on infinity, 0, or a number that no methodology meets.
  if (!(size < 700)) return Math.exp(power);
  if (power === 1) return Math.E;
  if (highOf(size) < 0x3e300000) return 1 + power;
  const [doublings, high, low] = reduced(power, size);
  const rest = high - low;
  const c = rest - evenPowers(rest * rest);
  if (doublings === 0) return 1 - ((rest * c) / (c - 2) - rest);
  return (1 - (low - (rest * c) / (2 - c) - high)) * withHigh(0, 0x3ff00000 + doublings * 0x100000);
}

/** `power` as doublings · ln 2 + (high - low). */
function reduced(power: number, size: number): readonly [doublings: number, high: number, low: number] {
  const sizeHigh = highOf(size);
  if (sizeHigh <= 0x3fd62e42) return [0, power, 0];
  const sign = power < 0 ? -1 : 1;
  if (sizeHigh < 0x3ff0a2b2) return [sign, power - sign * ln2High, sign * ln2Low];
  const doublings = Math.trunc(Math.LOG2E * power + sign / 2);
  return [doublings, power - doublings * ln2High, doublings * ln2Low];
}

/** The natural logarithm. */
export function ln(value: number): number {
  if (!(value >= 2.2250738585072014e-308 && value < Number.POSITIVE_INFINITY)) return Math.log(value);
  const high = highOf(value);
  const fraction = high & 0xfffff;
  const carry = (fraction + 0x95f64) & 0x100000;
  const doublings = (high >> 20) - 1023 + (carry >> 20);
  const f = withHigh(value, fraction | (carry ^ 0x3ff00000)) - 1;
  const [whole, wholeLow] = [doublings * ln2High, doublings * ln2Low];
  if ((0xfffff & (2 + fraction)) < 3) {
    if (f === 0) return whole + wholeLow;
    const square = f * f * (0.5 - 0.3333333333333333 * f);
    return doublings === 0 ? f - square : whole - (square - wholeLow - f);
  }
  const s = f / (2 + f);
  const series = seriesOf(s * s);
  if (((fraction - 0x6147a) | (0x6b851 - fraction)) > 0) {
    const half = 0.5 * f * f;
    const rest = s * (half + series);
    return doublings === 0 ? f - (half - rest) : whole - (half - (rest + wholeLow) - f);
  }
  const rest = s * (f - series);
  return doublings === 0 ? f - rest : whole - (rest - wholeLow - f);
}

function seriesOf(z: number): number {
  const w = z * z;
  const even = w * (0.3999999999940942 + w * (0.22222198432149784 + w * 0.15313837699209373));
  const odd = z * (0.6666666666666735 + w * (0.2857142874366239 + w * (0.1818357216161805 + w * 0.14798198605116586)));
  return odd + even;
}
