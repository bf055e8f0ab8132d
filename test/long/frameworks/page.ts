/** The examples of docs/frameworks.md, and the packages that their first lines say to install. */
import { readFileSync } from 'node:fs';
import { inCheckout } from '@gw/stack/checkout';

export interface Example {
  /** Its heading. */
  readonly framework: string;
  readonly language: 'js' | 'python' | 'sh';
  readonly code: string;
  /** Without extras. */
  readonly packages: readonly string[];
}

const page = readFileSync(inCheckout('docs', 'frameworks.md'), 'utf8');

export const examples: readonly Example[] = page
  .split(/^## /m)
  .slice(1)
  .map((section) => {
    const [, language, code = '', install = ''] =
      /^```(js|python|sh)\n((?:\/\/ npm|# pip) install (.+)\n[\s\S]*?)^```/m.exec(section) ?? [];
    if (language !== 'js' && language !== 'python' && language !== 'sh')
      throw new Error(`This section has no example that begins with what to install: ${section.slice(0, 40)}`);
    const packages = install.split(' ').map((name) => name.replaceAll(/"|\[.*\]/g, ''));
    return { framework: section.slice(0, section.indexOf('\n')), language, code, packages };
  });

/** The frameworks in the table, in its order. */
export const inTable = [...page.matchAll(/^\| \[(.+?)\]/gm)].map((row) => row[1]);
