/**
 * Makes a set of rules ready to be matched, or says of each rule that cannot be why.
 *
 * Invariant: what compiles is bounded in memory and in work for each letter of a text; the rest is refused here, so that it
 * is refused when an operator submits it and not when a request meets it.
 */
import type { PolicyRule } from '@gw/contract/internal/policy-rules';
import { err, ok, type Result } from '@gw/contract/internal/result';
import { type Automaton, buildAutomaton, type Phrase, representative } from './automaton.ts';
import { isUnspaced } from './fold.ts';
import { lettersOf, normalise } from './normalise.ts';
import { compilePattern, jointPattern, maxJointSize, type Pattern } from './pattern.ts';
import { longestPhrase } from './scan.ts';

export interface CompiledRules {
  /** Those that are enabled, in their order. */
  readonly rules: readonly PolicyRule[];
  /** Finds phrases, and the literals of patterns, by the rule's place. */
  readonly automaton: Automaton;
  /** By the rule's place; null for a rule with phrases. */
  readonly patterns: readonly (Pattern | null)[];
  /** Matches wherever one of several patterns does; null if there are not several. */
  readonly joint: Pattern | null;
}

export interface RuleProblem {
  /** Null: of all rules together. */
  readonly rule: string | null;
  /** A clause: `its pattern is refused: …`. */
  readonly reason: string;
}

const minLetters = 3;
/** In scripts without gaps between words, two signs are a word. */
const minUnspacedLetters = 2;

/** A letter may look Latin in one case alone, so a phrase in another script is known in each case that it is written in. */
function spellings(phrase: string): readonly string[] {
  if (!/\P{ASCII}/u.test(phrase)) return [lettersOf(phrase)];
  const lower = phrase.toLowerCase();
  const words = lower.replace(/(?<![\p{L}\p{M}\p{N}])\p{L}/gu, (first) => first.toUpperCase());
  const sentence = lower.replace(/\p{L}/u, (first) => first.toUpperCase());
  return [...new Set([phrase, lower, phrase.toUpperCase(), words, sentence].map(lettersOf))];
}

/** Returns the letters as the automaton reads them: digits as the letters that they look like. */
function alike(letters: string): string {
  let read = '';
  for (let at = 0; at < letters.length; at++) read += String.fromCharCode(representative(letters.charCodeAt(at)));
  return read;
}

/** What follows a phrase where it goes on as an exception: `shelter` after `makeabomb` for `bombshelter`. */
function tailsAfter(phrase: string, exceptions: readonly string[]): readonly string[] {
  const tails = new Set<string>();
  for (const exception of exceptions)
    for (let length = 1; length < exception.length; length++)
      if (phrase.endsWith(exception.slice(0, length))) tails.add(exception.slice(length));
  return [...tails];
}

/** Returns why a phrase cannot be looked for, or null if it can. */
function phraseProblem(letters: string): string | null {
  const least = isUnspaced(letters.charCodeAt(0)) ? minUnspacedLetters : minLetters;
  if (letters.length < least) return `has fewer than ${least} letters`;
  return letters.length > longestPhrase ? `becomes more than ${longestPhrase} letters` : null;
}

/** What is gathered from the rules of a set. */
interface Parts {
  readonly phrases: Phrase[];
  readonly patterns: (Pattern | null)[];
  readonly problems: RuleProblem[];
}

const whatever = { unless: [], before: null };

/** `place`: undefined for a rule that is checked alone, since it is not enabled. */
function addPhrases(rule: PolicyRule & { kind: 'phrases' }, place: number | undefined, parts: Parts): void {
  const exceptions = (rule.unless ?? []).flatMap(spellings).map(alike);
  const before = rule.before?.flatMap(spellings).map(alike) ?? null;
  for (const word of rule.before ?? [])
    if (!/^[^ ]+$/.test(normalise(word)))
      parts.problems.push({ rule: rule.id, reason: `what it may stand before, "${word}", is not one word` });
  for (const phrase of rule.phrases) {
    const problem = phraseProblem(lettersOf(phrase));
    if (problem) parts.problems.push({ rule: rule.id, reason: `its phrase "${phrase}" ${problem}` });
    else if (place !== undefined)
      for (const letters of spellings(phrase))
        parts.phrases.push({
          letters,
          rule: place,
          goingOn: { unless: tailsAfter(alike(letters), exceptions), before },
        });
  }
}

function addPattern(rule: PolicyRule & { kind: 'pattern' }, place: number | undefined, parts: Parts): void {
  const result = compilePattern(rule.pattern);
  if (!result.ok) parts.problems.push({ rule: rule.id, reason: `its pattern is refused: ${result.error}` });
  else if (place !== undefined) parts.patterns[place] = result.value;
  for (const need of rule.needs) {
    const problem = phraseProblem(lettersOf(need));
    if (problem) parts.problems.push({ rule: rule.id, reason: `what it needs, "${need}", ${problem}` });
    else if (place !== undefined)
      for (const letters of spellings(need)) parts.phrases.push({ letters, rule: place, goingOn: whatever });
  }
}

/**
 * Returns the enabled rules ready to be matched, or a problem for each rule that cannot be. Rules that are not enabled are
 * checked too, so that none fails when it is enabled later.
 */
export function compileRules(set: readonly PolicyRule[]): Result<CompiledRules, readonly RuleProblem[]> {
  const rules = set.filter(({ enabled }) => enabled);
  const places = new Map(rules.map(({ id }, place) => [id, place]));
  const parts: Parts = { phrases: [], patterns: rules.map(() => null), problems: [] };
  for (const rule of set)
    if (rule.kind === 'phrases') addPhrases(rule, places.get(rule.id), parts);
    else addPattern(rule, places.get(rule.id), parts);
  const { phrases, patterns, problems } = parts;
  if (problems.length > 0) return err(problems);
  const refuse = (reason: string) => err([{ rule: null, reason }]);
  if (patterns.reduce((sum, pattern) => sum + (pattern?.size ?? 0), 0) > maxJointSize)
    return refuse('the patterns of all rules together are too large');
  const built = buildAutomaton(phrases);
  if (!built.ok) return refuse(built.error);
  const joint = jointPattern(rules.flatMap((rule) => (rule.kind === 'pattern' ? [rule.pattern] : [])));
  return ok({ rules, automaton: built.value, patterns, joint });
}
