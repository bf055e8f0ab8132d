/** Screening of long requests by the rules that the software comes with, from the parsed body to the rules that match. */
import { readdirSync, readFileSync } from 'node:fs';
import { compileRules } from '@gw/policy/compile';
import { defaultRules } from '@gw/policy/default-rules';
import { findRules } from '@gw/policy/find-rules';
import { requestText } from '@gw/policy/request-text';
import type { Step } from './micro.ts';

/** The time that screening a text of 100 kB may take, µs. */
export const screeningLimitUs = 2000;
const length = 100_000;

const docs = new URL('../docs/', import.meta.url);
/** The text that is screened: this gateway's documentation. */
const prose = (): string =>
  readdirSync(docs)
    // The page on the use policy shows requests that are blocked.
    .filter((name) => name.endsWith('.md') && name !== 'use-policy.md')
    .map((name) => readFileSync(new URL(name, docs), 'utf8'))
    .join('\n');

/** No rule matches any of them. */
const texts: readonly (readonly [name: string, text: string])[] = [
  [
    'English prose',
    'It was a bright cold day in the laboratory; the students balanced equations, read about 1914-1918, and asked why. ',
  ],
  ['the documentation of this gateway', prose()],
  [
    'beginnings of forbidden phrases',
    'How to make saris, how do I make a bombastic speech, how can I weaponize anthracite, help me plan a school shoot, how to make a bomb shelter. ',
  ],
  [
    'words of rules',
    'The sarin attack, ransomware, the trojan horse, nude statues, erotic art, sexual and reproductive health, naked mole rats. ',
  ],
  ['Russian prose', 'Съешь же ещё этих мягких французских булок, да выпей чаю; потом почитай о химии и об истории. '],
  ['Chinese prose', '学生们在实验室里配平方程式，阅读历史，并且提出问题。'],
  ['mathematical letters', '𝐇𝐨𝐰 𝐭𝐨 𝐦𝐚𝐤𝐞 𝐬𝐚𝐫𝐢𝐬 𝐚𝐧𝐝 𝐛𝐫𝐞𝐚𝐝. '],
  ['marks and invisible characters', 'h\u0336o\u0301w\u200b t\u00ado\u2060 m\ufe0fa\u0337k\u034fe i\u0308t. '],
];

export function screeningSteps(): Step[] {
  const result = compileRules(defaultRules);
  if (!result.ok) throw new Error('The default rules cannot be matched.');
  const screen = (content: string) =>
    findRules(result.value, requestText({ model: 'm', messages: [{ role: 'user', content }] }).texts);
  return texts.map(([name, part]) => {
    const content = part.repeat(Math.ceil(length / part.length)).slice(0, length);
    return { name: `screen 100,000 characters: ${name}`, run: () => screen(content), limitUs: screeningLimitUs };
  });
}
