/**
 * Brings names into one form, so that spelling, script and legal form do not hide that two are the same.
 *
 * Invariant: normalising twice gives what normalising once gives. Nothing is guessed: what cannot be written in Latin
 * letters by a table stays as it is, and `isComparable` says so.
 *
 * Names that look the same on paper are compared as the same. `normaliseName` takes a letter of another script for its sound
 * (Cyrillic `Н` is n), which is right for names that are meant in that script; `foldLookalikes` takes it for its shape
 * (`Н` is H). Both forms of a name are compared, and a word of several scripts, which no language writes, is left to
 * people.
 */
import { latinShapes } from '@gw/policy/lookalikes';

/** Letters that no decomposition brings to a to z. */
const letters: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ł: 'l',
  ı: 'i',
  ħ: 'h',
  ŋ: 'n',
  ə: 'a',
  // Cyrillic, as passports and lists mostly write it. й and ё have lost their marks by then.
  а: 'a',
  б: 'b',
  в: 'v',
  г: 'g',
  ґ: 'g',
  д: 'd',
  е: 'e',
  є: 'ye',
  ж: 'zh',
  з: 'z',
  и: 'i',
  і: 'i',
  ј: 'j',
  к: 'k',
  л: 'l',
  љ: 'lj',
  м: 'm',
  н: 'n',
  њ: 'nj',
  о: 'o',
  п: 'p',
  р: 'r',
  с: 's',
  т: 't',
  ћ: 'c',
  у: 'u',
  ф: 'f',
  х: 'kh',
  ц: 'ts',
  ч: 'ch',
  џ: 'dz',
  ш: 'sh',
  щ: 'shch',
  ъ: '',
  ы: 'y',
  ь: '',
  э: 'e',
  ю: 'yu',
  я: 'ya',
  ђ: 'dj',
  // Greek, letter by letter.
  α: 'a',
  β: 'v',
  γ: 'g',
  δ: 'd',
  ε: 'e',
  ζ: 'z',
  η: 'i',
  θ: 'th',
  ι: 'i',
  κ: 'k',
  λ: 'l',
  μ: 'm',
  ν: 'n',
  ξ: 'x',
  ο: 'o',
  π: 'p',
  ρ: 'r',
  σ: 's',
  ς: 's',
  τ: 't',
  υ: 'y',
  φ: 'f',
  χ: 'ch',
  ψ: 'ps',
  ω: 'o',
};

/** Words that say what a company is in law, not which one it is. */
const legalForms = new Set(
  `ab ag ao aps as asa bv bhd co company corp corporation cjsc dd doo eood fzc fze fzco gk gmbh ges inc incorporated jsc
  kft kg kk limited llc llp lp ltd ltda mbh nv oao ojsc ood ooo oy oyj pao pjsc plc pt pte pty pvt sa sae sal sarl sas
  sdn spa spzoo srl sro zao`.split(/\s+/),
);
/** Legal forms of several words. */
const longForms =
  /\b(?:(?:public |open |closed )?joint[ -]stock company|limited liability company|sociedad anonima|societe anonyme|gesellschaft mit beschrankter haftung|aktiengesellschaft)\b/g;

const marks = /\p{M}+/gu;
/** Characters that do not separate words, as in O'Neil and S.A. */
const joiners = /['’‘`´ʼ.]/g;
const gaps = /[^\p{L}\p{N}]+/u;
/**
 * Returns the words of a name in lower case, without marks, punctuation and legal forms, in Latin letters as far as the
 * table goes.
 */
export function normaliseName(name: string): readonly string[] {
  const words = wordsOf(name.normalize('NFKD').replace(/\s+/g, ' '), longForms);
  const kept = words.filter((word) => !legalForms.has(word));
  // A name of legal forms alone is still a name.
  return kept.length > 0 ? kept : words;
}

/** Returns the words of a text in the same form, with its legal forms. */
export const normaliseText = (text: string): readonly string[] => wordsOf(text.normalize('NFKD'), null);

function wordsOf(text: string, without: RegExp | null): string[] {
  // Twice: some capitals have marks only when they are small, and some signs stand for words with capitals.
  const plain = text.toLowerCase().normalize('NFKD').toLowerCase().replace(marks, '');
  const latin = plain.replace(/\P{ASCII}/gu, (letter) => letters[letter] ?? letter).replace(joiners, '');
  const whole = latin.split(gaps).filter(Boolean);
  if (without === null) return whole;
  const rest = whole.join(' ').replace(without, ' ').split(' ').filter(Boolean);
  return rest.length > 0 ? rest : whole;
}

/** False for a name in a script that the table does not know, which no list of Latin names can clear. */
export const isComparable = (words: readonly string[]): boolean =>
  words.length > 0 && words.every((word) => /^[a-z0-9]+$/.test(word));

/** Returns the name as a Latin reader sees it: Cyrillic and Greek letters become the Latin ones that they look like. */
export function foldLookalikes(name: string): string {
  if (!/[\p{Script=Cyrillic}\p{Script=Greek}]/u.test(name)) return name;
  return name.normalize('NFKD').replace(/\P{ASCII}/gu, (letter) => latinShapes.get(letter) ?? letter);
}

const scripts = [/\p{Script=Latin}/u, /\p{Script=Cyrillic}/u, /\p{Script=Greek}/u];

/** Whether a word of the name has letters of several scripts. */
export const mixesScripts = (name: string): boolean =>
  name
    .normalize('NFKD')
    .split(/[^\p{L}\p{N}\p{M}\p{Cf}'’.]+/u)
    .some((word) => scripts.filter((script) => script.test(word)).length > 1);
