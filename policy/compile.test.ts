import { maxPatternChars, type PolicyRule, policyRuleSchema } from '@gw/contract/internal/policy-rules';
import { describe, expect, test } from 'vitest';
import { maxNested } from './automaton.ts';
import { compileRules } from './compile.ts';
import { findRules } from './find-rules.ts';
import { maxProgramSize } from './pattern.ts';

const rule = { title: 't', screen: 'dual_use', action: 'block', enabled: true } as const;
const phrases = (list: string[], id = 'phrases'): PolicyRule => ({ ...rule, id, kind: 'phrases', phrases: list });
const pattern = (text: string, needs = ['aaaa']): PolicyRule => ({
  ...rule,
  id: 'pattern',
  kind: 'pattern',
  pattern: text,
  needs,
});

const problemOf = (...rules: PolicyRule[]): string | null => {
  const result = compileRules(rules);
  return result.ok ? null : result.error.map((problem) => `${problem.rule}: ${problem.reason}`).join('\n');
};

describe('a set is refused by naming the rule and the reason', () => {
  test('for a phrase of too few letters, or of none', () => {
    expect(problemOf(phrases(['ok phrase', 'a b', '--!--']))).toBe(
      'phrases: its phrase "a b" has fewer than 3 letters\nphrases: its phrase "--!--" has fewer than 3 letters',
    );
    expect(problemOf(phrases(['炸弹']))).toBeNull();
    expect(problemOf(phrases(['炸']))).toContain('has fewer than 2 letters');
  });

  test('for what is not an RE2 expression, even where JavaScript would take it', () => {
    expect(problemOf(pattern('(unclosed'))).toMatch(/^pattern: its pattern is refused: it is not an RE2 expression: /);
    for (const text of ['(?=aaaa)b', '(?!aaaa)b', '(a)\\1', '(?<=aaaa)b'])
      expect(problemOf(pattern(text)), text).toContain('not an RE2');
  });

  test('for a pattern that matches an empty text', () => {
    for (const text of ['(?:aaaa)*', 'a?', 'aaaa|', '(?:)'])
      expect(problemOf(pattern(text)), text).toContain('the empty text');
  });

  test('for a pattern that asks where a text begins or ends', () => {
    for (const text of ['^aaaa', 'aaaa$', '\\Aaaaa', 'aaaa\\z', '(?m)^aaaa$', '(?:^|b)aaaa'])
      expect(problemOf(pattern(text)), text).toContain('the beginning or the end');
    for (const text of ['[^b]aaaa', 'aaaa[$^]', 'aaaa[\\]^]b']) expect(problemOf(pattern(text)), text).toBeNull();
  });

  test('for a pattern that asks for what no normalised text holds', () => {
    expect(problemOf(pattern('Sarin aaaa'))).toContain(
      '"S" never stands in a normalised text, which has "s" in its place',
    );
    expect(problemOf(pattern('aaaa-bbbb'))).toContain('"-" never stands');
    expect(problemOf(pattern('нерв aaaa'))).toContain('never stands in a normalised text');
    expect(problemOf(pattern('\\baaaa\\b(?P<name>[A-Z\\W]+)?(?i:b)\\p{Greek}(?:x{2,3})'))).toBeNull();
  });

  test('for a pattern whose program is large', () => {
    expect(problemOf(pattern('(?:[a-z]{1,30}b){1,30}'))).toMatch(
      new RegExp(`has \\d+ instructions, more than ${maxProgramSize}`),
    );
    expect(problemOf(pattern('a{1000}b{1000}'))).toContain('more than');
    expect(policyRuleSchema.safeParse(pattern('a'.repeat(maxPatternChars + 1))).success).toBe(false);
  });

  test('for too few letters of what a pattern needs', () => {
    expect(problemOf(pattern('aaaa', ['aaaa', 'b-']))).toBe('pattern: what it needs, "b-", has fewer than 3 letters');
  });

  test('for what a phrase may stand before, if it is not one word', () => {
    const before = (word: string): PolicyRule[] => [
      { ...rule, id: 'p', kind: 'phrases', phrases: ['a phrase'], before: [word] },
    ];
    expect(problemOf(...before('at home'))).toBe('p: what it may stand before, "at home", is not one word');
    expect(problemOf(...before('--'))).toContain('is not one word');
    expect(problemOf(...before('at'))).toBeNull();
  });

  test('for phrases that end with one another without end, and for more letters than memory is given', () => {
    const nested = Array.from({ length: maxNested + 1 }, (_, at) => 'aaa '.repeat(at + 1));
    expect(problemOf(phrases(nested.slice(1)))).toBeNull();
    expect(problemOf(phrases(nested))).toBe(`null: more than ${maxNested} phrases end with one another`);
    const long = Array.from({ length: 1000 }, (_, at) =>
      `${at} ${'lorem ipsum dolor sit amet consectetur '.repeat(5)}`.slice(0, 200),
    );
    const rules = Array.from({ length: 5 }, (_, at) =>
      phrases(
        long.map((text) => `${at} ${text}`.slice(0, 200)),
        `r${at}`,
      ),
    );
    expect(problemOf(...rules)).toBe('null: the phrases of all rules together are too long');
  });

  test('even where a rule is not enabled, so that it can be switched on', () => {
    expect(problemOf({ ...pattern('(unclosed'), enabled: false })).toContain('not an RE2');
  });
});

/** Patterns with which a matcher that backtracks takes time without end, and texts that make it. */
const evil: readonly (readonly [pattern: string, text: string])[] = [
  ['(?:a+)+b', 'a'.repeat(1000)],
  ['(?:a|a)*ab', 'a'.repeat(1000)],
  ['(?:a|aa)+b', 'a'.repeat(1000)],
  ['(?:.*a){20}b', 'a'.repeat(1000)],
  ['(?:x+x+)+y', 'x'.repeat(1000)],
  ['(?:[a-z]+)*[0-9]', 'abcdefgh'.repeat(125)],
  ['(?:(?:a*)*)*ab', 'a'.repeat(1000)],
  ['(?:a?){30}a{30}b', 'a'.repeat(1000)],
  ['[ab]*a[ab]{60}c', 'abbaabab'.repeat(125)],
  ['(?:[a-z]+ ?)+(?:[a-z]+ ?)+[0-9]', 'word '.repeat(200)],
];
/** Each literal that one of them asks for is there, so that nothing is decided by its absence. */
const near = (text: string): string => `${text} b y c `;

describe('patterns that are built to explode', () => {
  const compiled = (text: string) => {
    const result = compileRules([pattern(text, ['byc'])]);
    if (!result.ok) throw new Error(JSON.stringify(result.error));
    return result.value;
  };

  test('end on texts of 10 MiB, the longest body there is', { timeout: 300_000 }, async () => {
    for (const [text, part] of evil.slice(-2, -1)) {
      const body = near(part).repeat((10 * 1024 * 1024) / near(part).length);
      expect(await findRules(compiled(text), [body]), text).toEqual([]);
    }
  });

  test('cost twice the turns on twice the text, and are found at its end', { timeout: 60_000 }, async () => {
    for (const [text, part] of evil) {
      const rules = compiled(text);
      const turnsFor = async (times: number, end: string): Promise<number> => {
        let turns = 0;
        const matched = await findRules(rules, [near(part).repeat(times) + end], async () => void turns++);
        expect(matched.length, text).toBe(end === '' ? 0 : 1);
        return turns;
      };
      const once = await turnsFor(300, '');
      const twice = await turnsFor(600, '');
      expect(twice, text).toBeGreaterThanOrEqual(once);
      expect(twice, text).toBeLessThanOrEqual(2 * once + 1);
      await turnsFor(300, `${'a'.repeat(70)}b${'x'.repeat(9)}y ${'a'.repeat(70)}c words 7`);
    }
  });
});
