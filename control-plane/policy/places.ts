/** Where in the strings of a request a rule matches. */
import type { PolicyRule } from '@gw/contract/internal/policy-rules';
import type { JsonObject } from '@gw/contract/internal/strict-json';
import { type CompiledRules, compileRules } from '@gw/policy/compile';
import { findRules } from '@gw/policy/find-rules';
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

/** None if there is not budget enough to look for them. */
export async function placesIn(request: JsonObject, rule: PolicyRule, budget: Budget): Promise<Place[]> {
  const result = compileRules([{ ...rule, enabled: true }]);
  if (!result.ok) return [];
  const places: Place[] = [];
  for (const leaf of leavesOf(request)) {
    const matches: Matches = (text) => isFound(result.compiled, { [leaf.field]: text });
    for (const { end, start } of await locate(leaf.text, matches, mostPlaces - places.length, budget))
      places.push({ path: leaf.path, start, end, excerpt: excerptOf(leaf.text.slice(start, end)) });
    if (places.length >= mostPlaces) return places;
  }
  return places.length > 0 ? places : placesAcross(request, result.compiled, budget);
}

const isFound = async (compiled: CompiledRules, request: JsonObject): Promise<boolean> =>
  (await findRules(compiled, requestText(request).texts)).length > 0;

/** What no string holds alone stands across several, or in the name of a field. */
async function placesAcross(request: JsonObject, compiled: CompiledRules, budget: Budget): Promise<Place[]> {
  for (const text of requestText(request).texts) {
    const matches: Matches = async (part) => (await findRules(compiled, [part])).length > 0;
    const [span] = await locate(text, matches, 1, budget);
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

function leavesOf(request: JsonObject): Leaf[] {
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
