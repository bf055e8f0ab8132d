/**
 * Which rules match the texts of a request.
 *
 * Invariants: the work grows with the length of the texts and nothing else that a client can choose; no other call of the
 * process waits for more than about `blockUnits` of it. What is small, which nearly everything is, is answered at once. A
 * letter becomes at most eighteen, so a byte costs at most six times what a plain one does. Only one piece of the normalised
 * text is held at a time, so memory does not grow with the text.
 */
import type { PolicyRule } from '@gw/contract/internal/policy-rules';
import type { CompiledRules } from './compile.ts';
import { Normaliser, pieceChars, seam } from './normalise.ts';
import { mostReadings, type Pattern } from './pattern.ts';
import { Scan } from './scan.ts';

/** Work between two turns. One unit is one letter looked at once, some 5 ns. */
const blockUnits = 1 << 20;
const sliceChars = 1 << 16;
/** A pattern takes one step for a letter as long as its table of states holds, and else as many as it has instructions. */
const instructionsPerUnit = 32;
/** Patterns see a long text in pieces, which overlap by this much: a match of more letters may be missed. */
const overlap = 1 << 9;

/** What the work since the last yield may have cost. */
type Work<T = readonly PolicyRule[]> = Generator<number, T, void>;

/** Texts to screen. A phrase is never found across two of them. */
export type Texts = readonly string[];

/**
 * Returns the rules that match any of the texts, in the order of the set. For long texts it returns a promise, and lets other
 * work run between blocks by `turn`.
 */
export function findRules(
  compiled: CompiledRules,
  texts: Texts,
  turn: () => Promise<void> = nextTurn,
): readonly PolicyRule[] | Promise<readonly PolicyRule[]> {
  const work = match(compiled, texts);
  return blockOf(work) ?? finish(work, turn);
}

/** Does the same as `findRules` in one go, for threads, where no other call waits. */
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

/** Does work of about `blockUnits`. Returns null if that does not finish it. */
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
      // One sign may become eighteen letters.
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

interface Likely {
  readonly pattern: Pattern;
  readonly place: number;
}

function* matchPatterns(text: string, likely: readonly Likely[], joint: Pattern | null, found: Uint8Array): Work<void> {
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

/** Returns the last gap before `end`, so that no word is cut into two, or `end` if no gap is near. */
function gapBefore(text: string, end: number): number {
  const near = text.slice(end - overlap / 2, end).lastIndexOf(' ');
  return near === -1 ? end : end - overlap / 2 + near;
}
