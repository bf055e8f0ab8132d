/**
 * Names that are written with letters of another script that look like Latin ones.
 *
 * Invariant: what looks the same on paper is compared as the same. `normaliseName` takes a letter for its sound (Cyrillic
 * `Н` is n), which is right for names that are meant in that script; `foldLookalikes` takes it for its shape (`Н` is H).
 * Both forms of a name are compared, and a word of several scripts, which no language writes, is left to people.
 */

/** By their shape, so capitals and small letters are apart. */
const shapes = new Map(
  Object.entries({
    А: 'A',
    В: 'B',
    Е: 'E',
    К: 'K',
    М: 'M',
    Н: 'H',
    О: 'O',
    Р: 'P',
    С: 'C',
    Т: 'T',
    У: 'Y',
    Х: 'X',
    Ѕ: 'S',
    І: 'I',
    Ј: 'J',
    Ԁ: 'D',
    Ԛ: 'Q',
    Ԝ: 'W',
    Ӏ: 'I',
    Ү: 'Y',
    Һ: 'H',
    а: 'a',
    в: 'b',
    е: 'e',
    к: 'k',
    м: 'm',
    н: 'h',
    о: 'o',
    р: 'p',
    с: 'c',
    т: 't',
    у: 'y',
    х: 'x',
    ѕ: 's',
    і: 'i',
    ј: 'j',
    ԁ: 'd',
    ԛ: 'q',
    ԝ: 'w',
    ӏ: 'l',
    ү: 'y',
    һ: 'h',
    ь: 'b',
    г: 'r',
    п: 'n',
    Α: 'A',
    Β: 'B',
    Ε: 'E',
    Ζ: 'Z',
    Η: 'H',
    Ι: 'I',
    Κ: 'K',
    Μ: 'M',
    Ν: 'N',
    Ο: 'O',
    Ρ: 'P',
    Τ: 'T',
    Υ: 'Y',
    Χ: 'X',
    α: 'a',
    β: 'b',
    γ: 'y',
    ε: 'e',
    η: 'n',
    ι: 'i',
    κ: 'k',
    ν: 'v',
    ο: 'o',
    ρ: 'p',
    τ: 't',
    υ: 'u',
    χ: 'x',
    ω: 'w',
  }),
);

/** The name as a Latin reader would see it. The same where it has no letter that looks like a Latin one. */
export function foldLookalikes(name: string): string {
  if (!/[\p{Script=Cyrillic}\p{Script=Greek}]/u.test(name)) return name;
  return name.normalize('NFKD').replace(/\P{ASCII}/gu, (letter) => shapes.get(letter) ?? letter);
}

const scripts = [/\p{Script=Latin}/u, /\p{Script=Cyrillic}/u, /\p{Script=Greek}/u];

/** Whether a word of the name has letters of several scripts. */
export const mixesScripts = (name: string): boolean =>
  name
    .normalize('NFKD')
    .split(/[^\p{L}\p{N}\p{M}\p{Cf}'’.]+/u)
    .some((word) => scripts.filter((script) => script.test(word)).length > 1);
