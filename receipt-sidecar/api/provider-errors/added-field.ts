/**
 * Decides whether a provider's refusal is about a field that the gateway has added, as envoy/added-fields.lua.ts does for a reply that a
 * deployment's listener sees: by the field that it names as such, or else by a name in its words that cannot be meant otherwise.
 */
import { bodyRoots, clientParts, wordsBeforeField, wordsBehindField } from '@gw/contract/internal/added-field-words';
import type { ProviderWords } from './provider-words.ts';

export function isAboutAdded({ message, param }: ProviderWords, added: readonly string[]): boolean {
  if (typeof param === 'string' && param !== '') return added.some((name) => isFieldOrIn(param, name));
  if (message === null || added.length === 0) return false;
  const text = message.slice(0, longestRead).toLowerCase();
  // Pydantic lists the place of each fault.
  const places = [...text.matchAll(/['"]?\bloc['"]?\s*:\s*[[(]\s*(?:['"]body['"]\s*,\s*)?['"](\w+)/g)];
  if (places.length > 0) return places.some(([, place]) => added.some((name) => name === place));
  return added.some((name) => isNamed(text, name));
}

const longestRead = 4096;
const isFieldOrIn = (param: string, name: string): boolean => {
  const place = param.replace(/^(?:\/|body[./]|\$\.)/, '');
  return place === name || (place.startsWith(name) && /^[.[/]/.test(place.slice(name.length)));
};

/** Names are also written as one word, or as several. */
const isNamed = (text: string, name: string): boolean =>
  [...text.matchAll(new RegExp(name.replaceAll('_', '[_ -]?'), 'g'))].some(({ 0: found, index }) =>
    isField(text.slice(Math.max(0, index - nearby), index), text.slice(index + found.length), name),
  );

const nearby = 200;
const anyOf = (words: readonly string[]): string => `(?:${words.join('|')})`;
const isBehindPart = new RegExp(String.raw`(?<!\w)${anyOf(clientParts)}(?!\w)`);
const isBeside = {
  front: new RegExp(String.raw`(?<!\w)${anyOf(wordsBeforeField)}\s+$`),
  behind: new RegExp(String.raw`^\s+${anyOf(wordsBehindField)}(?!\w)`),
};

/** Whether a name is one of a field between what stands in front of it and behind it. */
function isField(front: string, behind: string, name: string): boolean {
  if (/[\w-]$/.test(front) || /^\w/.test(behind) || isBehindPart.test(front)) return false;
  const [, root = ''] = /([^\s'"`./(,]*)[./]$/.exec(front) ?? [];
  if (root !== '' && !bodyRoots.includes(root)) return false;
  if (name.includes('_') || (/['"`]$/.test(front) && /^['"`]/.test(behind))) return true;
  // Behind the end of a line or a sentence, and in a list.
  if (/(?:^|[:;.,#=>*'"`([{\n])\s*$/.test(front) || /^\s*[:=]/.test(behind)) return true;
  return isBeside.front.test(front) || isBeside.behind.test(behind);
}
