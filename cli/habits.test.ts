/**
 * Four habits of reading that CONTRIBUTING.md asks for. `habits.json` lists what is older than they are, and only shrinks: the
 * first test fails on what is not in it, and on what is in it and no longer in the code.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { inCheckout } from '@gw/stack/checkout';
import { isTest, sourceFiles } from '@gw/testing/source-files';
import { expect, test } from 'vitest';

const listFile = inCheckout('cli', 'habits.json');
const shrink = 'GW_HABITS=shrink npx vitest run --project fast cli/habits.test.ts';

type Files = ReadonlyMap<string, string>;
interface Habits {
  /** Files that spread an object literal into another, which only hides its lines from the formatter. */
  readonly spreadLiterals: readonly string[];
  /** Files of the product with `?? 0` or `?? ''`, which is right only for outside input that can lack the value. */
  readonly emptyDefaults: readonly string[];
  /** Declared types whose name says nothing about their subject. */
  readonly bareNames: readonly string[];
  /** How many comments of each folder begin with a word that rarely begins a sentence with a verb. */
  readonly verblessComments: Readonly<Record<string, number>>;
}

// A type `...{ [key in …] }` is no literal.
const spreadLiteral = /\.\.\.\{(?! ?\[\w+ in )/;
const emptyDefault = /\?\?\s*(?:0|''|"")(?![\w.])/;
const bareName = /^\s*(?:export )?(?:type|interface|class|enum) (Row|Place|Found|Known|Asked|Held)\b/gm;
const verbless = /^[^\S\n]*(?:\/\/|\/\*\*(?:\n[^\S\n]*\*)?|--) ?(?:Of|What|Those|That|By) /gm;

function habitsOf(files: Files): Habits {
  const code = [...files].filter(([path]) => /\.(ts|tsx|mjs)$/.test(path));
  const where = (found: RegExp) => code.filter(([, text]) => found.test(text)).map(([path]) => path);
  const verblessComments: Record<string, number> = {};
  for (const [path, text] of files) {
    const count = [...text.matchAll(verbless)].length;
    if (count > 0) verblessComments[folderOf(path)] = count + (verblessComments[folderOf(path)] ?? 0);
  }
  return {
    spreadLiterals: where(spreadLiteral),
    emptyDefaults: where(emptyDefault).filter((path) => !isTest(path)),
    bareNames: code.flatMap(([path, text]) => [...text.matchAll(bareName)].map(([, name]) => `${path} ${name}`)),
    verblessComments,
  };
}

const folderOf = (path: string): string => (path.includes('/') ? path.slice(0, path.indexOf('/')) : '.');

/** Returns the list as it may be written: files of a folder may move, and their number never grows. */
function shrunk(listed: Habits, today: Habits): Habits {
  const entries = (kind: 'spreadLiterals' | 'emptyDefaults' | 'bareNames') =>
    [...new Set(listed[kind].map(folderOf))].sort().flatMap((folder) => {
      const [before, now] = [listed, today].map((habits) => habits[kind].filter((entry) => folderOf(entry) === folder));
      if (before === undefined || now === undefined) return [];
      return now.length <= before.length ? now : before.filter((entry) => now.includes(entry));
    });
  const counts = Object.entries(listed.verblessComments).map(
    ([folder, count]) => [folder, Math.min(count, today.verblessComments[folder] ?? 0)] as const,
  );
  return {
    spreadLiterals: entries('spreadLiterals'),
    emptyDefaults: entries('emptyDefaults'),
    bareNames: entries('bareNames'),
    verblessComments: Object.fromEntries(counts.filter(([, count]) => count > 0).sort()),
  };
}

test('each rule finds no more than its list, which has nothing that is gone', () => {
  const files = sourceFiles('ts', 'tsx', 'mjs', 'js', 'lua', 'sql');
  // This file plants violations below.
  files.delete('cli/habits.test.ts');
  const today = habitsOf(files);
  const listed = JSON.parse(readFileSync(listFile, 'utf8')) as Habits;
  if (process.env.GW_HABITS === 'shrink')
    writeFileSync(listFile, `${JSON.stringify(shrunk(listed, today), null, 2)}\n`);
  const advice = `Correct what is new. Then \`${shrink}\` drops what is gone from cli/habits.json,
and renames what has moved within its package.`;
  expect(today, advice).toEqual(JSON.parse(readFileSync(listFile, 'utf8')));
});

const none: Habits = { spreadLiterals: [], emptyDefaults: [], bareNames: [], verblessComments: {} };
const planted = (text: string, path = 'service/a.ts') => habitsOf(new Map([[path, text]]));

test('an object literal that is spread into another is found', () => {
  expect(planted('f({\n  a,\n  ...{ b, c },\n});\n')).toEqual({ ...none, spreadLiterals: ['service/a.ts'] });
  expect(planted('f({ ...rest, ...(b && { b }) });\ntype T = [...{ [K in keyof U]: K }];\n')).toEqual(none);
});

test('an empty default is found in the product, and allowed in a test', () => {
  for (const text of ['n ?? 0;\n', "text ?? '';\n", 'n ??\n  0;\n'])
    expect(planted(text), text).toEqual({ ...none, emptyDefaults: ['service/a.ts'] });
  expect(planted("n ?? 0.5;\ntext ?? 'none';\n")).toEqual(none);
  expect(planted('n ?? 0;\n', 'service/a.test.ts')).toEqual(none);
});

test('a declared type with a bare name is found', () => {
  const text = 'export interface Row {\n  a: 1;\n}\ntype Held = 1;\ntype PriceRow = Row;\n';
  expect(planted(text)).toEqual({ ...none, bareNames: ['service/a.ts Row', 'service/a.ts Held'] });
});

test('a comment that begins like one without a verb is counted, in Lua and SQL too', () => {
  const text = '// Of a call.\n/** What is left. */\n/**\n * Those of a key.\n */\nlocal a\n  -- By its id.\n';
  expect(planted(text)).toEqual({ ...none, verblessComments: { service: 4 } });
  expect(planted('// The rest of it.\n// Often this fails.\nf(); // What\n')).toEqual(none);
});

test('the list shrinks to what is still in the code, lets files move within their package, and never grows', () => {
  const listed = {
    ...none,
    emptyDefaults: ['a/x.ts', 'a/gone.ts', 'b/y.ts'],
    verblessComments: { a: 3, b: 1, gone: 2 },
  };
  const today = {
    ...none,
    emptyDefaults: ['a/moved.ts', 'b/new.ts', 'b/y.ts'],
    verblessComments: { a: 2, b: 5, new: 1 },
  };
  const emptyDefaults = ['a/moved.ts', 'b/y.ts'];
  expect(shrunk(listed, today)).toEqual({ ...none, emptyDefaults, verblessComments: { a: 2, b: 1 } });
});
