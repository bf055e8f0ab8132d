/**
 * Patterns of rules in RE2 syntax, matched in linear time by re2js.
 *
 * Invariants: a pattern does not match the empty text and contains nothing that a normalised text cannot contain. The size of its program
 * is limited, and so its worst case.
 */
import { errorText } from '@gw/contract/internal/error-text';
import { err, ok, type Result } from '@gw/contract/internal/result';
import { RE2JS } from 're2js';
import { normalise, seam } from './normalise.ts';

export interface Pattern {
  /** Instructions of its program, the most steps per letter. */
  readonly size: number;
  /** Whether it matches anywhere in a normalised text. */
  test(normalised: string): boolean;
}

export const maxProgramSize = 1000;
/** For all patterns of a set together. */
export const maxJointSize = 20_000;

/** Removes escapes and character classes, which leaves literals and operators. */
const plainPart = (source: string): string =>
  source
    .replace(/\\[AzZ]/g, '^')
    .replace(/\\[pP](?:\{[^}]*\}|.)/g, '')
    .replace(/\\./gs, '')
    .replace(/\[\^?\]?[^\]]*\]/g, '')
    .replace(/\(\?(?:P?<[^>]*>|[a-zA-Z-]*:?)/g, '(');

/** RE2 operators that are allowed in a pattern. */
const operators = /[()|*+?{}.,0-9 ]/g;

/** Returns a character that no normalised text contains, or null. */
function foreignPart(source: string): string | null {
  const rest = plainPart(source).replace(operators, '');
  for (const letter of rest) if (normalise(letter) !== letter) return letter;
  return null;
}

/** Returns the pattern, or why it is refused. */
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

/** Returns a pattern that matches where any of the valid `sources` does; null for fewer than two, where it would be useless. */
export function jointPattern(sources: readonly string[]): Pattern | null {
  if (sources.length < 2) return null;
  const expression = RE2JS.compile(sources.map((source) => `(?:${source})`).join('|'));
  return { size: expression.programSize(), test: (text) => testAtSeams(expression, text) };
}

/** Readings in which some seams join two texts and the others separate them. */
const mixedReadings = 4;
export const mostReadings = 2 + mixedReadings;

/**
 * Returns the readings of a text with seams: all separated, all joined, and with every `mixedReadings`th seam joined. So one reading
 * restores a word that was split, without joining its neighbours. The number of readings is limited to `mostReadings`.
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
