/** The grammar on the page is that of the published formulas: a reader made from its text alone takes each of them. */
import { readFileSync } from 'node:fs';
import { methodologyIds, methodologyOf } from '@gw/methodology/methodologies';
import { describe, expect, it } from 'vitest';

const page = readFileSync(new URL('../../methodology/methodologies.md', import.meta.url), 'utf8');
const grammar = /<!-- generated: formula-grammar -->\s*```text\n([\s\S]*?)\n```/.exec(page)?.[1] ?? '';

/** Every end that a beginning of the text can have from `at` on. */
type Reader = (text: string, at: number) => ReadonlySet<number>;

const classes: Readonly<Record<string, RegExp>> = { digit: /[0-9]/, letter: /[A-Za-z]/ };
const spaced = /^(formula|level\d|operand|call)$/;

/** A reader from rules in the notation of the page. */
function readerOf(rules: string): Reader {
  const byName = new Map(rules.split('\n').map((line) => line.split(/ += (.*)/, 2) as [string, string]));
  const expand = (ends: Iterable<number>, next: (at: number) => ReadonlySet<number>): Set<number> =>
    new Set([...ends].flatMap((at) => [...next(at)]));
  const named = (name: string): Reader => {
    const pattern = classes[name];
    if (pattern) return (text, at) => new Set(pattern.test(text[at] ?? '') ? [at + 1] : []);
    return (text, at) => {
      const rule = byName.get(name);
      if (rule === undefined) throw new Error(`The page has no rule ${name}.`);
      return alternatives(rule.match(/"[^"]*"|[\w]+|[{}[\]()|]/g) ?? [], spaced.test(name))(text, at);
    };
  };
  const many =
    (inner: Reader): Reader =>
    (text, at) => {
      const ends = new Set([at]);
      for (const end of ends) for (const next of inner(text, end)) ends.add(next);
      return ends;
    };
  const optional =
    (inner: Reader): Reader =>
    (text, at) =>
      new Set([at, ...inner(text, at)]);
  /** Between the parts of a rule that is `free` there may be blanks. */
  function alternatives(tokens: readonly string[], free: boolean): Reader {
    const readers: Reader[][] = [[]];
    for (let index = 0; index < tokens.length; index++) {
      const token = tokens[index] ?? '';
      const [closing, wrap] = {
        '{': ['}', many] as const,
        '[': [']', optional] as const,
        '(': [')', (each: Reader) => each] as const,
      }[token] ?? [null];
      if (token === '|') readers.push([]);
      else if (closing !== null) {
        let depth = 1;
        const from = index + 1;
        while (depth > 0) {
          index++;
          if (tokens[index] === token) depth++;
          if (tokens[index] === closing) depth--;
          if (index > tokens.length) throw new Error(`${token} is not closed`);
        }
        readers.at(-1)?.push(wrap(alternatives(tokens.slice(from, index), free)));
      } else if (token.startsWith('"')) {
        const word = token.slice(1, -1);
        readers.at(-1)?.push((text, at) => new Set(text.startsWith(word, at) ? [at + word.length] : []));
      } else readers.at(-1)?.push(named(token));
    }
    const blanks = (text: string, at: number): number => (free && text[at] === ' ' ? blanks(text, at + 1) : at);
    return (text, at) =>
      expand(readers.keys(), (which) =>
        (readers[which] ?? []).reduce<Set<number>>(
          (ends, part) => expand(ends, (end) => part(text, blanks(text, end))),
          new Set([at]),
        ),
      );
  }
  return named('formula');
}

const reader = readerOf(grammar);
const isFormula = (text: string): boolean => reader(text, 0).has(text.length);

describe('the grammar of the page', () => {
  const executable = methodologyIds.map(methodologyOf).filter(({ document }) => 'functions' in JSON.parse(document));
  it.each(executable.map((method) => [method.id, method] as const))('takes every formula of %s', (_, { document }) => {
    const { steps } = JSON.parse(document) as { steps: Record<string, { formula: string }> };
    expect(Object.values(steps).filter(({ formula }) => !isFormula(formula))).toEqual([]);
    expect(Object.keys(steps).length).toBeGreaterThan(50);
  });

  it.each(['1 +', '(1', 'a b', '1 ? 2', '§', '', '-1', 'a == b', 'min()', '2a', 'a@ b'])(
    'does not take what is no formula: "%s"',
    (text) => expect(isFormula(text)).toBe(false),
  );
});
