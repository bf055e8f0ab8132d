/** Bodies that cost a gateway most: each as large as may be, and each by another of its steps. */
import { chatBody } from './ask.ts';

export const mib = 1024 * 1024;
/** Room for the rest of the body. */
const textBytes = 10 * mib - 64 * 1024;

const repeated = (unit: string, bytes = textBytes): string =>
  unit.repeat(Math.floor(bytes / Buffer.byteLength(JSON.stringify(unit).slice(1, -1))));
const chat = (content: unknown, fields: object = {}): string =>
  chatBody({ messages: [{ role: 'user', content }], max_tokens: 8, ...fields });

const english = 'The committee reviewed the annual report and asked for more details about the budget of the library. ';
export const document = (bytes: number): string => chat(repeated(english, bytes));

export interface WorstBody {
  readonly name: string;
  readonly path: string;
  readonly body: () => string;
}
const chatPath = '/v1/chat/completions';
const text = (name: string, unit: string): WorstBody => ({ name, path: chatPath, body: () => chat(repeated(unit)) });
const embedding = (name: string, input: () => unknown): WorstBody => ({
  name,
  path: '/v1/embeddings',
  body: () => JSON.stringify({ model: 'sim-embed', input: input() }),
});

export const worstBodies: readonly WorstBody[] = [
  text('a letter that becomes seven', '\ufdfb'),
  text('one long word', 'a'),
  text('escaped quotes', '\\"'),
  text('tags', '<tag>'),
  text('marks without letters', '\u0301'),
  text('plain English', english),
  embedding('a list of numbers', () => Array(5_000_000).fill(1)),
  embedding('lists of numbers', () => Array(2000).fill(Array(2500).fill(7))),
  {
    name: 'data URLs',
    path: chatPath,
    body: () => {
      const url = `data:text/plain;base64,${Buffer.from(repeated('word ', 100 * 1024)).toString('base64')}`;
      return chat(Array(70).fill({ type: 'image_url', image_url: { url } }));
    },
  },
  { name: '119,000 parts', path: chatPath, body: () => chat('x', { parts: Array(39_000).fill({ a: 'b' }) }) },
  {
    name: 'deep nesting',
    path: chatPath,
    body: () => chat('x', { deep: Array(390).fill(JSON.parse(`${'['.repeat(60)}${']'.repeat(60)}`)) }),
  },
  {
    name: 'long keys',
    path: chatPath,
    body: () =>
      chat('x', Object.fromEntries(Array.from({ length: 90 }, (_, at) => [`${at}${'k'.repeat(110_000)}`, 1]))),
  },
];

/** 600 vectors of 4,096 numbers: a reply of some 50 MB. */
export const manyNumbers = JSON.stringify({
  model: 'sim-embed',
  dimensions: 4096,
  encoding_format: 'float',
  input: Array.from({ length: 600 }, (_, at) => `text ${at}`),
});
