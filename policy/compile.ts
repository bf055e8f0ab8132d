/**
 * Compiles a set of rules for matching, or returns a problem for each invalid rule.
 *
 * Invariant: compiled rules are limited in memory and in work per letter. Others are refused here, when an operator submits them, and not
 * during a request.
 */
import type { ClassifierRule, PolicyRule } from '@gw/contract/internal/policy-rules';
import { err, ok, type Result } from '@gw/contract/internal/result';
import { type Automaton, buildAutomaton, type Phrase, representative } from './automaton.ts';
import { isUnspaced } from './fold.ts';
import { lettersOf, normalise } from './normalise.ts';
import { compilePattern, jointPattern, maxJointSize, type Pattern } from './pattern.ts';
import { longestPhrase } from './scan.ts';

export interface CompiledRules {
  /** The enabled rules, in order. */
  readonly rules: readonly PolicyRule[];
  /** Finds phrases, and the `needs` of patterns, by rule index. */
  readonly automaton: Automaton;
  /** Indexed like the rules; null for a rule with phrases, and for one of a classifier, which is not matched here. */
  readonly patterns: readonly (Pattern | null)[];
  /** Matches where any of the patterns does; null for fewer than two. */
  readonly joint: Pattern | null;
  /** The rules that ask the operator's classifier, which nothing here matches. */
  readonly classifiers: readonly ClassifierRule[];
}

export interface RuleProblem {
  /** Null: all rules together. */
  readonly rule: string | null;
  /** A clause: `its pattern is refused: …`. */
  readonly reason: string;
}

const minLetters = 3;
/** In scripts without gaps between words, two characters can be a word. */
const minUnspacedLetters = 2;

/** Returns a phrase in all usual cases if it is not ASCII, since a letter may look Latin in only one case. */
function spellings(phrase: string): readonly string[] {
  if (!/\P{ASCII}/u.test(phrase)) return [lettersOf(phrase)];
  const lower = phrase.toLowerCase();
  const words = lower.replace(/(?<![\p{L}\p{M}\p{N}])\p{L}/gu, (first) => first.toUpperCase());
  const sentence = lower.replace(/\p{L}/u, (first) => first.toUpperCase());
  return [...new Set([phrase, lower, phrase.toUpperCase(), words, sentence].map(lettersOf))];
}

/** Replaces look-alikes by their representative. */
function alike(letters: string): string {
  let read = '';
  for (let at = 0; at < letters.length; at++) read += String.fromCharCode(representative(letters.charCodeAt(at)));
  return read;
}

/** Returns how a phrase continues as an exception: `shelter` after `makeabomb` for `bombshelter`. */
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

interface RuleParts {
  readonly phrases: Phrase[];
  readonly patterns: (Pattern | null)[];
  readonly problems: RuleProblem[];
}

const whatever = { unless: [], before: null };

/** `place` is undefined for a disabled rule, which is only checked. */
function addPhrases(rule: PolicyRule & { kind: 'phrases' }, place: number | undefined, parts: RuleParts): void {
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

function addPattern(rule: PolicyRule & { kind: 'pattern' }, place: number | undefined, parts: RuleParts): void {
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

/** Compiles the enabled rules. Disabled ones are checked too, so that none fails when it is enabled later. */
export function compileRules(set: readonly PolicyRule[]): Result<CompiledRules, readonly RuleProblem[]> {
  const rules = set.filter(({ enabled }) => enabled);
  const places = new Map(rules.map(({ id }, place) => [id, place]));
  const parts: RuleParts = { phrases: [], patterns: rules.map(() => null), problems: [] };
  for (const rule of set)
    if (rule.kind === 'phrases') addPhrases(rule, places.get(rule.id), parts);
    else if (rule.kind === 'pattern') addPattern(rule, places.get(rule.id), parts);
  const { phrases, patterns, problems } = parts;
  if (problems.length > 0) return err(problems);
  const refuse = (reason: string) => err([{ rule: null, reason }]);
  if (patterns.reduce((sum, pattern) => (pattern ? sum + pattern.size : sum), 0) > maxJointSize)
    return refuse('the patterns of all rules together are too large');
  const built = buildAutomaton(phrases);
  if (!built.ok) return refuse(built.error);
  const joint = jointPattern(rules.flatMap((rule) => (rule.kind === 'pattern' ? [rule.pattern] : [])));
  const classifiers = rules.filter((rule) => rule.kind === 'classifier');
  return ok({ rules, automaton: built.value, patterns, joint, classifiers });
}
