/**
 * Finds the rules that match the texts of a request.
 *
 * Invariants: the work only depends on the length of the texts, and blocks other calls for at most about `blockUnits`. Small texts, which
 * are nearly all, are matched synchronously. A character becomes at most eight letters, so a byte costs at most three times as much as
 * an ASCII one. Only one piece of the normalised text is in memory at a time.
 */
import type { PolicyRule } from '@gw/contract/internal/policy-rules';
import type { CompiledRules } from './compile.ts';
import { Normaliser, pieceChars, seam } from './normalise.ts';
import { mostReadings, type Pattern } from './pattern.ts';
import { Scan } from './scan.ts';

/** Work between two turns. A unit is one step for one letter, some 5 ns. */
const blockUnits = 1 << 20;
const sliceChars = 1 << 16;
/** A pattern takes one step per letter while its state table suffices, otherwise as many as it has instructions. */
const instructionsPerUnit = 32;
/** Overlap of the pieces of a long text for patterns, which may miss a longer match. */
const overlap = 1 << 9;

/** Yields the cost of the work since the last yield. */
type Work<T = readonly PolicyRule[]> = Generator<number, T, void>;

/** Texts to screen. Phrases do not match across two of them. */
export type Texts = readonly string[];

/** Returns the rules that match any of the texts, in order. For long texts it returns a promise, and awaits `turn` between blocks. */
export function findRules(
  compiled: CompiledRules,
  texts: Texts,
  turn: () => Promise<void> = nextTurn,
): readonly PolicyRule[] | Promise<readonly PolicyRule[]> {
  const work = match(compiled, texts);
  return blockOf(work) ?? finish(work, turn);
}

/** Like `findRules` without yielding, for worker threads. */
export function findRulesAtOnce(compiled: CompiledRules, texts: Texts): readonly PolicyRule[] {
  const work = match(compiled, texts);
  for (;;) {
    const found = blockOf(work);
    if (found) return found;
  }
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function finish(work: Work, turn: () => Promise<void>): Promise<readonly PolicyRule[]> {
  for (;;) {
    await turn();
    const found = blockOf(work);
    if (found) return found;
  }
}

/** Does about `blockUnits` of work. Returns null if it is not finished. */
function blockOf(work: Work): readonly PolicyRule[] | null {
  for (let spent = 0; spent < blockUnits; ) {
    const step = work.next();
    if (step.done) return step.value;
    spent += step.value;
  }
  return null;
}

function* match({ rules, automaton, patterns, joint }: CompiledRules, texts: Texts): Work {
  const matched = new Uint8Array(rules.length);
  for (const text of texts) {
    const found = new Uint8Array(rules.length);
    const scan = new Scan(automaton, text, found);
    while (!scan.ended) {
      const before = scan.letters;
      scan.read(sliceChars);
      // One character may become eight letters.
      yield Math.max(sliceChars, scan.letters - before);
    }
    const likely = patterns.flatMap((pattern, place) => (pattern && found[place] === 1 ? [{ pattern, place }] : []));
    for (const { place } of likely) found[place] = 0;
    if (likely.length > 0) yield* matchPatterns(text, likely, joint, found);
    for (const [place, isFound] of found.entries()) if (isFound === 1) matched[place] = 1;
  }
  return rules.filter((_rule, place) => matched[place] === 1);
}

const costOf = (pattern: Pattern, piece: string): number =>
  (piece.length * (piece.includes(seam) ? mostReadings : 1) * pattern.size) / instructionsPerUnit;

interface LikelyPattern {
  readonly pattern: Pattern;
  readonly place: number;
}

function* matchPatterns(
  text: string,
  likely: readonly LikelyPattern[],
  joint: Pattern | null,
  found: Uint8Array,
): Work<void> {
  const first = likely.length > 1 ? joint : null;
  const normaliser = new Normaliser(text);
  for (let held = ''; ; ) {
    while (held.length <= pieceChars && !normaliser.ended) {
      const taken = normaliser.read();
      held += taken;
      yield Math.max(pieceChars, taken.length);
    }
    const isLast = held.length <= pieceChars;
    const end = isLast ? held.length : gapBefore(held, pieceChars);
    const piece = held.slice(0, end);
    if (first && piece !== '') yield costOf(first, piece);
    if (piece !== '' && (first === null || first.test(piece)))
      for (const { pattern, place } of likely) {
        if (found[place] === 1) continue;
        if (pattern.test(piece)) found[place] = 1;
        yield costOf(pattern, piece);
      }
    if (isLast) return;
    held = held.slice(gapBefore(held, end - overlap));
  }
}

/** Returns the last gap before `end`, so that no word is cut, or `end` if there is no gap nearby. */
function gapBefore(text: string, end: number): number {
  const near = text.slice(end - overlap / 2, end).lastIndexOf(' ');
  return near === -1 ? end : end - overlap / 2 + near;
}
