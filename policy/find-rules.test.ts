import type { PolicyRule } from '@gw/contract/internal/policy-rules';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compileRules } from './compile.ts';
import { findRules } from './find-rules.ts';
import { lettersOf, normalise, seam } from './normalise.ts';
import { Scan } from './scan.ts';

const rule = { title: 't', screen: 'dual_use', action: 'block', enabled: true } as const;
const phrases = (id: string, list: string[], unless: string[] = []): PolicyRule => ({
  ...rule,
  id,
  kind: 'phrases',
  phrases: list,
  unless,
});
const pattern = (id: string, text: string, needs: string[]): PolicyRule => ({
  ...rule,
  id,
  kind: 'pattern',
  pattern: text,
  needs,
});

function compiledOf(rules: readonly PolicyRule[]) {
  const result = compileRules(rules);
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  return result.value;
}
const found = async (rules: readonly PolicyRule[], ...texts: string[]): Promise<string[]> =>
  (await findRules(compiledOf(rules), texts)).map(({ id }) => id);

describe('phrases', () => {
  const bombRule = { ...rule, id: 'bomb', kind: 'phrases' as const, phrases: ['make a bomb'] };
  const bomb = [phrases('bomb', ['make a bomb'])];

  test('are whole words: neither more letters before nor after', async () => {
    expect(await found(bomb, 'I make a bomb.')).toEqual(['bomb']);
    expect(await found(bomb, 'I remake a bomb.')).toEqual([]);
    expect(await found(bomb, 'I make a bombastic speech.')).toEqual([]);
    expect(await found(bomb, 'make a bomb\u0301\u200b')).toEqual(['bomb']);
    expect(await found(bomb, 'make a bomb\u200bastic')).toEqual([]);
    expect(await found(bomb, 'make a bombﬁ')).toEqual([]);
    expect(await found(bomb, 'make a bomb½')).toEqual([]);
  });

  test('are found whatever stands between their letters but letters', async () => {
    for (const text of [
      'm-a-k-e a b.o.m.b',
      'make 💣 a 💣 bomb',
      'make\n\n> a\n> bomb',
      'MAKE_A_BOMB',
      'm a k e a b o m b',
    ])
      expect(await found(bomb, text), text).toEqual(['bomb']);
    expect(await found(bomb, 'make such a bomb')).toEqual([]);
  });

  test('of look-alike letters are found in digits for letters, and never in one letter for another', async () => {
    const device = [phrases('ied', ['make an ied', 'fill in'])];
    expect(await found(device, 'How do I make an LED blink?')).toEqual([]);
    expect(await found(device, 'make an 1ed and fi11 it')).toEqual(['ied']);
    expect(await found(device, 'fi11 1n')).toEqual(['ied']);
    expect(await found(device, 'fiil ln')).toEqual([]);
    expect(await found([phrases('digits', ['model 1 x', 'model ix'])], 'model 1 x')).toEqual(['digits']);
    expect(await found([phrases('kilo', ['take 1 kilo'])], 'take i kilo, take l kilo')).toEqual([]);
  });

  test('that count only at the end of a sentence, or before some words, make no other noun', async () => {
    const ending: PolicyRule[] = [{ ...bombRule, before: ['at', 'Without', 'please'] }];
    for (const text of [
      'make a bomb',
      'make a bomb?',
      'make a bomb! Shelter',
      'make a bomb. Shelter',
      'make a bomb\n\nshelter',
      `make a bomb${seam}shelter`,
      'make a bomb at home',
      'make a bomb WITHOUT, say, a licence',
      'make a bomb - p1ease',
      `make a bomb w${seam}ithout a licence`,
      '{"q":"make a bomb","r":2}',
      `make a bomb${' '.repeat(1000)}shelter`,
    ])
      expect(await found(ending, text), text).toEqual(['bomb']);
    for (const text of [
      'make a bomb shelter',
      'make a bomb\nshelter',
      'make a bomb-at',
      'make a bomb.png',
      'make a bomb atlas',
    ])
      expect(await found(ending, text), text).toEqual(text === 'make a bomb-at' ? ['bomb'] : []);
    expect(await found([{ ...bombRule, before: [] }], 'make a bomb at home')).toEqual([]);
  });

  test('that go on as an exception in another text or sentence count all the same', async () => {
    const spared = [phrases('bomb', ['make a bomb'], ['bomb shelter'])];
    expect(await found(spared, 'make a bomb shelter')).toEqual([]);
    for (const text of [
      `make a bomb${seam}shelter`,
      `make a bomb shel${seam}ter`,
      'make a bomb. Shelter',
      'make a bomb!\nshelter',
    ])
      expect(await found(spared, text), text).toEqual(['bomb']);
  });

  test('that go on as an exception do not count, wherever the words are cut', async () => {
    const spared = [phrases('bomb', ['make a bomb', 'bomb'], ['bomb shelter', 'a bomb in Minecraft'])];
    for (const text of [
      'make a bomb shelter',
      'make a BOMB-SHELTER',
      'make a b0mb she1ter',
      'make a bomb in minecraft',
    ])
      expect(await found(spared, text), text).toEqual(text.includes('minecraft') ? ['bomb'] : []);
    const only = [phrases('bomb', ['make a bomb'], ['bomb shelter', 'a bomb in Minecraft'])];
    expect(await found(only, 'make a bomb in Minecraft')).toEqual([]);
    expect(await found(only, 'make a bomb shelters')).toEqual(['bomb']);
    expect(await found(only, 'make a bomb shelter, then make a bomb')).toEqual(['bomb']);
    expect(await found(only, 'make a bomb')).toEqual(['bomb']);
  });

  test('in scripts with two cases are found in each, though a letter may look Latin in one alone', async () => {
    const greek = [phrases('greek', ['Νευροτοξικό Αέριο'])];
    for (const text of ['νευροτοξικό αέριο', 'ΝΕΥΡΟΤΟΞΙΚΟ ΑΕΡΙΟ', 'Νευροτοξικό αέριο', 'Νευροτοξικό Αέριο'])
      expect(await found(greek, text), text).toEqual(['greek']);
    const russian = [phrases('russian', ['изготовить бомбу'])];
    expect(await found(russian, 'Как ИЗГОТОВИТЬ бомбу дома?')).toEqual(['russian']);
    expect(await found(russian, 'Как изготовить бомбунет дома?')).toEqual([]);
  });

  test('in scripts without gaps between words are found inside of sentences, and beside letters of such scripts', async () => {
    const rules = [phrases('chinese', ['神经毒剂']), phrases('thai', ['ระเบิด']), phrases('latin', ['nerve agent'])];
    expect(await found(rules, '如何制造神经毒剂的方法')).toEqual(['chinese']);
    expect(await found(rules, 'วิธีทำระเบิดเอง')).toEqual(['thai']);
    expect(await found(rules, '制造nerve agent的方法')).toEqual(['latin']);
  });

  test('meet over the seams of texts, but not from one reading to another', async () => {
    expect(await found(bomb, `make a bo${seam}mb`)).toEqual(['bomb']);
    expect(await found(bomb, `make${seam}a${seam}bomb`)).toEqual(['bomb']);
    expect(await found(bomb, 'make a', 'bomb')).toEqual([]);
  });

  test('one of which ends or begins another are all found', async () => {
    const nested = ['she sells', 'sells', 'sells shells', 'shells by', 'ells'].map((text, at) =>
      phrases(`r${at}`, [text]),
    );
    expect(await found(nested, 'she sells shells by the sea')).toEqual(['r0', 'r1', 'r2', 'r3']);
  });
});

const word = fc.stringMatching(/^[abc]{1,3}$/);
const words = fc.array(word, { minLength: 1, maxLength: 3 }).map((list) => list.join(' '));
const phrase = words.filter((text) => lettersOf(text).length >= 3);

test('a phrase is found if and only if its words stand in the text, for any phrases and texts', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(phrase, { minLength: 1, maxLength: 6 }),
      fc.array(word, { maxLength: 30 }),
      async (list, text) => {
        const rules = list.map((each, at) => phrases(`r${at}`, [each]));
        // The letters match between ends of words.
        const starts = new Set<number>();
        let letters = '';
        for (const each of text) {
          starts.add(letters.length);
          letters += each.replaceAll('a', '4');
        }
        starts.add(letters.length);
        const plain = letters.replaceAll('4', 'a');
        const expected = rules.filter((_, at) => {
          const sought = (list[at] ?? '').replaceAll(' ', '');
          for (let from = plain.indexOf(sought); from !== -1; from = plain.indexOf(sought, from + 1))
            if (starts.has(from) && starts.has(from + sought.length)) return true;
          return false;
        });
        expect(await found(rules, text.map((each) => each.replaceAll('a', '4')).join(' '))).toEqual(
          expected.map(({ id }) => id),
        );
      },
    ),
  );
});

test('a text that is read in pieces of any length gives what it gives as a whole', () => {
  const rules = compiledOf([
    phrases('a', ['make a bomb']),
    phrases('b', ['nerve agent', 'ﬁne art']),
    phrases('c', ['神经']),
  ]);
  const part = fc.constantFrom(
    'make ',
    'a ',
    'bomb',
    ' nerve',
    'agent ',
    '𝐧𝐞𝐫𝐯𝐞 ',
    'ﬁ',
    'ne art',
    '\u200b',
    '🅱',
    '神',
    '经',
    '\u0301',
    ' ',
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 40 }), fc.integer({ min: 1, max: 7 }), (parts, piece) => {
      const text = parts.join('');
      const foundIn = (length: number) => {
        const marks = new Uint8Array(rules.rules.length);
        const scan = new Scan(rules.automaton, text, marks);
        while (!scan.ended) scan.read(length);
        return [...marks];
      };
      expect(foundIn(piece)).toEqual(foundIn(text.length + 1));
    }),
  );
});

describe('patterns', () => {
  const sarin = [pattern('sarin', '\\b(?:make|brew) (?:[a-z]+ ){0,2}sarin\\b', ['sarin'])];

  test('see small letters, words one space apart', async () => {
    expect(await found(sarin, 'BREW — some   "pure" sаrin')).toEqual(['sarin']);
    expect(await found(sarin, 'brew up no more than sarin')).toEqual([]);
  });

  test('see texts that meet as two words, as one, and as one at any single seam', async () => {
    expect(await found(sarin, `make${seam}some${seam}sarin`)).toEqual(['sarin']);
    expect(await found(sarin, `ma${seam}ke some sa${seam}rin`)).toEqual(['sarin']);
    expect(await found(sarin, `Hi${seam}ma${seam}ke some${seam}sarin`)).toEqual(['sarin']);
    expect(await found(sarin, 'make', 'sarin')).toEqual([]);
  });

  test('see a word that is cut at one of many seams', async () => {
    for (let before = 0; before < 9; before++)
      for (const cut of [`brew sa${seam}rin`, `br${seam}ew${seam}some${seam}sarin`])
        expect(await found(sarin, `x${seam}`.repeat(before) + cut + `${seam}x`.repeat(50)), cut).toEqual(['sarin']);
  });

  test('cost as much as the length of a text and not the number of its seams, whoever puts them there', {
    timeout: 60_000,
  }, async () => {
    const rules = compiledOf([...sarin, pattern('other', 'tabun [a-z]+', ['tabun'])]);
    const turnsFor = async (part: string, length: number): Promise<number> => {
      let turns = 0;
      const text = `sarin${seam}tabun${seam}${part.repeat(length / part.length)}`;
      await findRules(rules, [text], async () => void turns++);
      return turns;
    };
    const length = 1 << 19;
    const plain = await turnsFor('abcdefgh ijklmn ', length);
    const seams = await turnsFor(`a${seam}b${seam}`, length);
    expect(plain).toBeGreaterThan(0);
    expect(seams).toBeLessThanOrEqual(8 * (plain + 1));
    expect(await turnsFor(`a${seam}b${seam}`, 2 * length)).toBeLessThanOrEqual(2 * seams + 1);
  });

  test('are not tried on a text that does not hold what they need', async () => {
    const tried = [pattern('x', 'aaa', ['zzz'])];
    expect(await found(tried, 'aaa')).toEqual([]);
    expect(await found(tried, 'aaa', 'zzz')).toEqual([]);
    expect(await found(tried, 'aaa z-z-z')).toEqual(['x']);
    expect(await found(tried, `aaa z${seam}zz`)).toEqual(['x']);
    expect(await found(tried, 'aaa jazz zone, fizzz, zzzap')).toEqual([]);
  });

  test('are found anywhere in a long text, even where its pieces meet', async () => {
    const filler = 'word '.repeat(1600);
    for (let at = 4000; at < 4200; at += 5)
      expect(await found(sarin, `${filler.slice(0, at)}make some pure sarin ${filler.slice(at)}`)).toEqual(['sarin']);
    expect(normalise(filler).length).toBeGreaterThan(4096);
  });
});

test('a rule that is not enabled matches nothing, and an empty set neither', async () => {
  expect(await found([{ ...phrases('bomb', ['make a bomb']), enabled: false }], 'make a bomb')).toEqual([]);
  expect(await found([], 'make a bomb')).toEqual([]);
});

test('a short text is answered at once; a long one lets other work in between, and finds the same', async () => {
  const rules = compiledOf([phrases('bomb', ['make a bomb'])]);
  expect(findRules(rules, ['make a bomb'])).toEqual(rules.rules);
  let turns = 0;
  const turn = async () => void turns++;
  const long = `${'nothing here '.repeat(800_000)}make a bomb`;
  const answer = findRules(rules, [long], turn);
  expect(answer).toBeInstanceOf(Promise);
  expect(await answer).toEqual(rules.rules);
  expect(turns).toBe(Math.floor(Math.ceil(long.length / 65536) / 16));
});
