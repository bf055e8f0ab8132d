/** Where in the strings of a request a rule matches. */
import type { PolicyRule } from '@gw/contract/internal/policy-rules';
import type { JsonObject } from '@gw/contract/internal/strict-json';
import { type CompiledRules, compileRules } from '@gw/policy/compile';
import { findRules, type Texts } from '@gw/policy/find-rules';
import { requestText } from '@gw/policy/request-text';
import { type Budget, locate, type Matches } from './locate.ts';

export interface Place {
  /** `messages[0].content`; null: in texts of the request that follow each other. */
  readonly path: string | null;
  /** In UTF-16 code units of that string. */
  readonly start: number | null;
  readonly end: number | null;
  readonly excerpt: string;
}

/** Of one rule. */
const mostPlaces = 5;
const mostExcerptChars = 200;

/** What a whole dry run may spend on places, in characters that are looked at: less than a second. */
const charsForPlaces = 20_000_000;
/** After so many, all else that the process serves has its turn. */
const charsPerTurn = 500_000;

/** What the searches of one dry run share. */
export interface Search {
  readonly budget: Budget;
  /** The rule alone, made ready once however many samples it matches; null if it can not be. */
  compiled(rule: PolicyRule): CompiledRules | null;
  /** Lets everything else have its turn. */
  turn(): Promise<void>;
  /** The same, if enough was spent since the last one. */
  turnIfDue(): Promise<void> | null;
}

export function openSearch(
  compile: typeof compileRules = compileRules,
  turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve)),
): Search {
  const made = new Map<string, CompiledRules | null>();
  const budget = { chars: charsForPlaces };
  let turnBelow = charsForPlaces - charsPerTurn;
  return {
    budget,
    compiled: (rule) => {
      const known = made.get(rule.id);
      if (known !== undefined) return known;
      const result = compile([{ ...rule, enabled: true }]);
      const compiled = result.ok ? result.compiled : null;
      made.set(rule.id, compiled);
      return compiled;
    },
    turn,
    turnIfDue: () => {
      if (budget.chars >= turnBelow) return null;
      turnBelow = budget.chars - charsPerTurn;
      return turn();
    },
  };
}

export interface Sample {
  readonly texts: Texts;
  readonly leaves: readonly Leaf[];
}

/** None if there is not budget enough to look for them. */
export async function placesIn({ leaves, texts }: Sample, rule: PolicyRule, search: Search): Promise<Place[]> {
  const { budget } = search;
  if (budget.chars <= 0) return [];
  const compiled = search.compiled(rule);
  await search.turn();
  if (compiled === null) return [];
  const isFound = async (parts: Texts): Promise<boolean> => {
    await search.turnIfDue();
    return (await findRules(compiled, parts)).length > 0;
  };
  const places: Place[] = [];
  for (const leaf of leaves) {
    const matches: Matches = (text) => isFound(requestText({ [leaf.field]: text }).texts);
    for (const { end, start } of await locate(leaf.text, matches, mostPlaces - places.length, budget))
      places.push({ path: leaf.path, start, end, excerpt: excerptOf(leaf.text.slice(start, end)) });
    if (places.length >= mostPlaces) return places;
  }
  if (places.length > 0) return places;
  // What no string holds alone stands across several, or in the name of a field.
  for (const text of texts) {
    const [span] = await locate(text, (part) => isFound([part]), 1, budget);
    if (span) return [{ path: null, start: null, end: null, excerpt: excerptOf(text.slice(span.start, span.end)) }];
  }
  return [];
}

/** Texts that meet are told apart by a bar. */
const excerptOf = (text: string): string => [...text.replaceAll('\0', '|')].slice(0, mostExcerptChars).join('');

interface Leaf {
  readonly path: string;
  /** The name of the field that holds it, which says how it is read. */
  readonly field: string;
  readonly text: string;
}

export function leavesOf(request: JsonObject): Leaf[] {
  const leaves: Leaf[] = [];
  const walk = (value: unknown, path: string, field: string): void => {
    if (typeof value === 'string') leaves.push({ path, field, text: value });
    else if (Array.isArray(value)) for (const [at, item] of value.entries()) walk(item, `${path}[${at}]`, field);
    else if (typeof value === 'object' && value !== null)
      for (const [name, inner] of Object.entries(value)) walk(inner, path === '' ? name : `${path}.${name}`, name);
  };
  walk(request, '', '');
  return leaves;
}
