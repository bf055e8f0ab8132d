/** The examples of docs/frameworks.md, and the packages that their first lines say to install. */
import { readFileSync } from 'node:fs';
import { inCheckout } from '@gw/stack/checkout';

export interface Example {
  /** Its heading. */
  readonly framework: string;
  readonly language: 'js' | 'python' | 'sh';
  readonly code: string;
  /** As it says to install them. */
  readonly install: readonly string[];
  /** The same without extras. */
  readonly packages: readonly string[];
  /** How many receipts it finds: of a JSON reply, and of a stream unless only the ledger has that. */
  readonly finds: number;
}

const page = readFileSync(inCheckout('docs', 'frameworks.md'), 'utf8');

/** Each row of the tables. */
const rows = [...page.matchAll(/^\| \[(.+?)\].*/gm)].map(([row, framework = '']) => ({
  framework,
  finds: 2 - [...row.matchAll(/nothing: the ledger has it/g)].length,
}));

const sections = page
  .split(/^## /m)
  .slice(1)
  .map((section) => ({ framework: section.slice(0, section.indexOf('\n')), section }));

/** The frameworks in the tables, and those that have a section. */
export const inTables = rows.map(({ framework }) => framework);
export const inSections = sections.map(({ framework }) => framework);

/** Agents show no receipt, and have no example; `coding-agents.test.ts` runs them. */
export const examples: readonly Example[] = sections.flatMap(({ framework, section }) => {
  const finds = rows.find((row) => row.framework === framework)?.finds ?? 2;
  if (finds === 0) return [];
  const [, language, code = '', install = ''] =
    /^```(js|python|sh)\n((?:\/\/ npm|# pip) install (.+)\n[\s\S]*?)^```/m.exec(section) ?? [];
  if (language !== 'js' && language !== 'python' && language !== 'sh')
    throw new Error(`This section has no example that begins with what to install: ${section.slice(0, 40)}`);
  const wanted = install.split(' ').map((name) => name.replaceAll('"', ''));
  const packages = wanted.map((name) => name.replaceAll(/\[.*\]/g, ''));
  return [{ framework, language, code, install: wanted, packages, finds }];
});
