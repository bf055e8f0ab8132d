/**
 * Patterns of rules: RE2 syntax, matched in linear time by re2js.
 *
 * Invariants: a pattern matches no empty text and asks for nothing that a normalised text never holds; its program is
 * small, so that its worst case is bounded.
 */
import { errorText } from '@gw/contract/internal/error-text';
import { err, ok, type Result } from '@gw/contract/internal/result';
import { RE2JS } from 're2js';
import { normalise, seam } from './normalise.ts';

export interface Pattern {
  /** Instructions of its program: a letter never costs more than so many steps. */
  readonly size: number;
  /** Whether it matches anywhere in a normalised text. */
  test(normalised: string): boolean;
}

export const maxProgramSize = 1000;
/** Of all patterns of a set together. */
export const maxJointSize = 20_000;

/** The pattern without escapes and sets of characters: what is left stands for itself, or is an operator. */
const plainPart = (source: string): string =>
  source
    .replace(/\\[AzZ]/g, '^')
    .replace(/\\[pP](?:\{[^}]*\}|.)/g, '')
    .replace(/\\./gs, '')
    .replace(/\[\^?\]?[^\]]*\]/g, '')
    .replace(/\(\?(?:P?<[^>]*>|[a-zA-Z-]*:?)/g, '(');

/** Operators of RE2 that may stand in a pattern beside letters. */
const operators = /[()|*+?{}.,0-9 ]/g;

/** Letters and signs that no normalised text holds; null if there are none. */
function foreignPart(source: string): string | null {
  const rest = plainPart(source).replace(operators, '');
  for (const letter of rest) if (normalise(letter) !== letter) return letter;
  return null;
}

/** The pattern, or why it is refused. */
export function compilePattern(source: string): Result<Pattern, string> {
  let expression: RE2JS;
  try {
    expression = RE2JS.compile(source);
  } catch (error) {
    return err(`it is not an RE2 expression: ${errorText(error)}`);
  }
  const size = expression.programSize();
  if (size > maxProgramSize)
    return err(`its program has ${size} instructions, more than ${maxProgramSize}: repeat fewer times`);
  if (expression.test('')) return err('it matches the empty text, so it would match every request');
  if (/[$^]/.test(plainPart(source)))
    return err('it asks for the beginning or the end of a text, which is not known where a text is long');
  const foreign = foreignPart(source);
  if (foreign !== null)
    return err(`"${foreign}" never stands in a normalised text, which has "${normalise(foreign)}" in its place`);
  return ok({ size, test: (text) => testAtSeams(expression, text) });
}

/**
 * What matches wherever one of `sources` does, in one pass; each has to compile alone. Null for none, and where a pass of
 * all together says no more than that of one.
 */
export function jointPattern(sources: readonly string[]): Pattern | null {
  if (sources.length < 2) return null;
  const expression = RE2JS.compile(sources.map((source) => `(?:${source})`).join('|'));
  return { size: expression.programSize(), test: (text) => testAtSeams(expression, text) };
}

/** Readings in which some seams join two texts and the others part them. */
const mixedReadings = 4;
export const mostReadings = 2 + mixedReadings;

/**
 * Texts that meet are read as two words, as one where all do, and as one where each `mixedReadings`th does: so a word that
 * is cut is whole again in one of them, while its neighbours are apart. However many seams there are, there are no more
 * readings than `mostReadings`.
 */
function* readings(text: string): Generator<string, void, void> {
  if (!text.includes(seam)) return yield text;
  yield text.replaceAll(seam, ' ');
  yield text.replaceAll(seam, '');
  let seams = 0;
  for (let at = text.indexOf(seam); at !== -1 && seams < mixedReadings; at = text.indexOf(seam, at + 1)) seams++;
  for (let joined = 0; seams > 1 && joined < seams; joined++) {
    let at = 0;
    yield text.replaceAll(seam, () => (at++ % mixedReadings === joined ? '' : ' '));
  }
}

function testAtSeams(expression: RE2JS, text: string): boolean {
  for (const reading of readings(text)) if (expression.test(reading)) return true;
  return false;
}
