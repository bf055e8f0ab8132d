/**
 * How alike two names are, from 0 to 1.
 *
 * The words of both names are paired, each word once, the most alike first; two words are alike by Jaro-Winkler
 * (M. A. Jaro, 1989; W. E. Winkler, 1990: prefix of at most 4, scaling 0.1), and not at all below `wordThreshold`, or
 * if one has fewer than `leastLengthRatio` of the other's letters.
 * The score is the greater of
 *  - the paired share: letters in pairs, each pair times its likeness, over all letters of both names;
 *  - 0.9 times the likeness of all words of the shorter name, where each of them is paired and at least two of them
 *    are distinctive: so that a left-out middle name does not hide a person;
 *  - the Jaro-Winkler likeness of both names written without blanks, where they are of about the same length.
 * Words that many names have (`bank`, `trading`, `al`) count a quarter of their letters.
 *
 * Invariant: symmetric, 1 for equal names, and independent of what else a list holds, so that a score can be explained
 * years later from the two names alone.
 */

const wordThreshold = 0.85;
const leastLengthRatio = 0.6;
const subsetFactor = 0.9;
const commonWeight = 0.25;

const common = new Set(
  `and of the for de da del della di do dos du la le les el al bin ibn bint abu van von der den y i und et
  agency airlines airways association bank center centre commercial construction consulting development energy
  engineering enterprise enterprises establishment export factory finance financial foundation fund general global group
  holding holdings import industrial industries industry institute insurance international invest investment
  investments lines logistics management maritime marine military national oil gas organization organisation petroleum
  private production products public research science scientific service services shipping solutions state systems
  technologies technology trade trading transport university works`.split(/\s+/),
);

const weightOf = (word: string): number => word.length * (common.has(word) ? commonWeight : 1);
/** Whether a word is enough to tell one name from another. */
const isDistinctive = (word: string): boolean => word.length >= 3 && !common.has(word);

/** Returns the score of two normalised names, by the formula in the head of this file; 0 if one of them is empty. */
export function nameSimilarity(one: readonly string[], other: readonly string[]): number {
  if (one.length === 0 || other.length === 0) return 0;
  const joined = joinedSimilarity(one.join(''), other.join(''));
  if (joined === 1) return 1;
  const pairs = pairWords(one, other);
  if (pairs.length === 0) return joined;
  const sum = (words: readonly string[]): number => words.reduce((total, word) => total + weightOf(word), 0);
  const paired = (weigh: (pair: Pair) => number): number =>
    pairs.reduce((total, pair) => total + weigh(pair) * pair.likeness, 0);
  const share = paired((pair) => weightOf(pair.a) + weightOf(pair.b)) / (sum(one) + sum(other));
  return Math.min(1, Math.max(joined, share, subsetSimilarity(one, other, pairs)));
}

interface Pair {
  readonly a: string;
  readonly b: string;
  readonly likeness: number;
}

function subsetSimilarity(one: readonly string[], other: readonly string[], pairs: readonly Pair[]): number {
  const shorter = one.length <= other.length ? one : other;
  if (pairs.length < shorter.length || shorter.filter(isDistinctive).length < 2) return 0;
  const letters = pairs.reduce((total, { a, b }) => total + a.length + b.length, 0);
  const alike = pairs.reduce((total, { a, b, likeness }) => total + (a.length + b.length) * likeness, 0);
  return (subsetFactor * alike) / letters;
}

function pairWords(one: readonly string[], other: readonly string[]): readonly Pair[] {
  const found: (Pair & { readonly i: number; readonly j: number })[] = [];
  one.forEach((a, i) => {
    other.forEach((b, j) => {
      // The common prefix would make a short word like each that begins with it.
      if (Math.min(a.length, b.length) < leastLengthRatio * Math.max(a.length, b.length)) return;
      const likeness = jaroWinkler(a, b, wordThreshold);
      if (likeness >= wordThreshold) found.push({ a, b, i, j, likeness });
    });
  });
  if (found.length <= 1) return found;
  // Longer words come first among equally similar pairs, so that the order of the two names makes no difference.
  found.sort((p, q) => q.likeness - p.likeness || q.a.length + q.b.length - p.a.length - p.b.length);
  const [usedI, usedJ] = [new Set<number>(), new Set<number>()];
  return found.filter(({ i, j }) => {
    if (usedI.has(i) || usedJ.has(j)) return false;
    usedI.add(i);
    usedJ.add(j);
    return true;
  });
}

function joinedSimilarity(a: string, b: string): number {
  if (a === b) return 1;
  const [short, long] = a.length < b.length ? [a, b] : [b, a];
  // A shared beginning makes names of very different length look alike; short ones do so by chance.
  if (short.length < 6 || short.length < 0.8 * long.length) return 0;
  // No list has a second threshold for this: below it, words in another order would add noise.
  const likeness = jaroWinkler(a, b, 0.93);
  return likeness >= 0.93 ? likeness : 0;
}

/** Returns the Jaro-Winkler likeness, 0 to 1; 0 if it is clear from the lengths that it is below `least`. */
export function jaroWinkler(a: string, b: string, least = 0): number {
  if (a === b) return 1;
  const shortest = Math.min(a.length, b.length);
  if (shortest === 0) return 0;
  // All letters of the shorter word shared, none transposed, and a common prefix of 4.
  const bestJaro = (2 + shortest / Math.max(a.length, b.length)) / 3;
  if (bestJaro + 0.4 * (1 - bestJaro) < least) return 0;
  const jaro = jaroOf(a, b);
  let prefix = 0;
  while (prefix < Math.min(4, shortest) && a[prefix] === b[prefix]) prefix++;
  return jaro + prefix * 0.1 * (1 - jaro);
}

function jaroOf(a: string, b: string): number {
  const reach = Math.max(0, Math.floor(Math.max(a.length, b.length) / 2) - 1);
  const taken = new Uint8Array(b.length);
  const matchedA: number[] = [];
  for (let i = 0; i < a.length; i++) {
    const end = Math.min(b.length, i + reach + 1);
    for (let j = Math.max(0, i - reach); j < end; j++) {
      if (taken[j] === 1 || a.charCodeAt(i) !== b.charCodeAt(j)) continue;
      taken[j] = 1;
      matchedA.push(a.charCodeAt(i));
      break;
    }
  }
  const matches = matchedA.length;
  if (matches === 0) return 0;
  let outOfPlace = 0;
  for (let j = 0, k = 0; j < b.length; j++) if (taken[j] === 1 && matchedA[k++] !== b.charCodeAt(j)) outOfPlace++;
  return (matches / a.length + matches / b.length + (matches - outOfPlace / 2) / matches) / 3;
}
