/**
 * Reduces a provider's message about a request to what is the client's business.
 *
 * Invariant: no address, credential or place inside of a provider gets out, as far as its shape tells, and no control
 * character; names of fields and numbers stay, since they are what helps. What it costs is linear: the text is bounded
 * first, then split into words, each of which is bounded and judged once.
 */
import { elementAt } from '@gw/contract/internal/defined';
import { hidden, isKeyLike, keyName, shapeOf } from './redaction-shapes.ts';

/** How many characters of a text are read. */
const longestRead = 2000;
const longestShown = 500;

/**
 * Returns what can be shown of a text, 500 characters at most; null if nothing is left. `names` has the provider's
 * names for things and the client's, which replace them and are not redacted.
 */
export function redacted(text: string, names: ReadonlyMap<string, string> = new Map()): string | null {
  const words = plainText(text, names);
  const known = new Set(names.values());
  const said = judgedWords(words.text.split(/([ "'`<>]+)/), known).join('') + (words.isCut ? '…' : '');
  return said.trim() === '' ? null : said.trim().slice(0, longestShown);
}

/** Returns letters as they look, without invisible ones: `s\u200bk-` and `ｓｋ-` become `sk-`. */
function plainText(text: string, names: ReadonlyMap<string, string>): { text: string; isCut: boolean } {
  let said = plain(text.slice(0, longestRead));
  for (const [theirs, ours] of names) if (theirs !== '') said = said.replaceAll(wholeWord(plain(theirs)), () => ours);
  if (text.length <= longestRead && said.length <= longestRead) return { text: said, isCut: false };
  said = said.slice(0, longestRead);
  // A word that was cut no longer shows what it was.
  return { text: said.slice(0, said.lastIndexOf(' ') + 1), isCut: true };
}

/**
 * Matches a name that is no part of another one: `gpt-4` neither in `gpt-4o`, `gpt-4.1` and `gpt-4:free` nor in `vendor/gpt-4`, but in
 * `model=gpt-4.`.
 */
function wholeWord(name: string): RegExp {
  const literal = name.replaceAll(/[\^$.*+?()[\]{}|\\/]/g, '\\$&');
  return new RegExp(
    `(?<![\\p{L}\\p{N}_-])(?<![\\p{L}\\p{N}_-][./@])${literal}(?![\\p{L}\\p{N}_-]|[./:@][\\p{L}\\p{N}_])`,
    'gu',
  );
}

const plain = (text: string): string =>
  text
    .normalize('NFKC')
    .replaceAll(/[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu, '')
    .replaceAll(/[\p{C}\p{Z}]/gu, ' ')
    .replaceAll(/ {2,}/g, ' ');

/** The state after a word like "key": the next few words are judged more strictly. */
interface Alert {
  left: number;
  /** A name that only ever stands for a credential. */
  isStrong: boolean;
  /** Nothing but `:` or `=` stands between it and the value. */
  isValue: boolean;
}
const alertWords = 3;

/** Judges each word. `parts` are words and, between them, what separates them. */
function judgedWords(parts: readonly string[], known: ReadonlySet<string>): string[] {
  let alert: Alert | null = null;
  let isScheme = false;
  const judge = (word: string): string => {
    if (/^[:=]+$/.test(word)) {
      if (alert) alert.isValue = true;
      return word;
    }
    const [core, before, after] = trimmed(word);
    if (core === '' || known.has(core)) return word;
    // "Authorization: Bearer abc", of which the scheme may go as well, and "Bearer abc".
    if (isScheme) {
      isScheme = false;
      if (/^[\w.~+/=*-]{6,}$/.test(core) && !/^[a-z]+$/.test(core)) return before + hidden + after;
    }
    if (/^(?:bearer|basic)$/i.test(core)) {
      isScheme = true;
      if (!alert?.isStrong || !alert.isValue) return word;
      return '';
    }
    const kind = keyName(core);
    if (kind) {
      alert = { left: alertWords, isStrong: kind === 'strong', isValue: /[:=]/.test(after) };
      return word;
    }
    if (!alert) return before + shapeOf(core) + after;
    const isHidden = (alert.isStrong && alert.isValue) || isKeyLike(core);
    alert.left -= 1;
    alert.isValue = false;
    if (isHidden || alert.left === 0 || /[.;]/.test(after)) alert = null;
    return before + (isHidden ? hidden : shapeOf(core)) + after;
  };
  const out: string[] = [];
  parts.forEach((part, at) => {
    if (at % 2 === 1) {
      // Where a scheme has gone, so has the space behind it.
      if (out.at(-1) !== '' || parts[at - 1] === '') out.push(part);
      return;
    }
    out.push(part.includes('://') ? withoutUrl(part) : splitWord(part, known).map(judge).join(''));
  });
  return out;
}

/** Replaces a URL, from its scheme to the end of the word. */
function withoutUrl(word: string): string {
  let start = word.indexOf('://');
  while (start > 0 && /[a-z0-9+.-]/i.test(word.charAt(start - 1))) start -= 1;
  const [, before = ''] = /^([[({]{0,3})/.exec(word.slice(0, start)) ?? [];
  return `${before}[url]`;
}

/** Splits a word where it joins things: a name and its value, items of a list. */
function splitWord(word: string, known: ReadonlySet<string>): string[] {
  if (known.has(trimmed(word)[0])) return [word];
  return word.split(/([,;(){}|]+|=+(?=[^=])|:(?=$))/).flatMap((each) => {
    const named = /^([A-Za-z_-]{1,40})(:(?=[^:])|=+$)(.*)$/.exec(each);
    return named && keyName(elementAt(named, 1)) ? named.slice(1) : [each];
  });
}

/** The word, and the punctuation around it. */
function trimmed(word: string): [core: string, before: string, after: string] {
  let start = 0;
  let end = word.length;
  while (start < end && '[({.,;!?'.includes(word.charAt(start)) && !word.startsWith('./', start)) start += 1;
  while (end > start && '])}.,;!?'.includes(word.charAt(end - 1))) end -= 1;
  if (word.charAt(end - 1) === ':' && word.charAt(end - 2) !== ':') end -= 1;
  return [word.slice(start, end), word.slice(0, start), word.slice(end)];
}
