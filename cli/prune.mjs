/**
 * npm runs this after each installation. It deletes a third of what the packages hold: files that nothing in this
 * repository reads. Without it everything works as well and takes 300 MB more.
 */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Paths below node_modules; a folder ends with a slash. */
const needless = [
  // Headers for native add-ons, and manual pages.
  /^node-linux-\w+\/(include|share)\/$/,
  // The query compilers of other databases, and of builds that prisma/schema.prisma does not ask for.
  /^@prisma\/client\/runtime\/query_compiler_(fast_bg|small_bg\.(?!postgresql))/,
  /^prisma\/build\/(query_compiler_|schema_engine|studio\.)/,
  // Programs of a compiler that is called as a library.
  /^binaryen\/bin\/$/,
  // The same code in another form: sources, CommonJS beside modules, bundles for browsers.
  /^(effect|gpt-tokenizer|openai|zod|@grpc\/[\w-]+|@redocly\/openapi-core|@reduxjs\/toolkit|@tanstack\/[\w-]+)\/src\/$/,
  /^(effect\/dist\/(dts|esm)|gpt-tokenizer\/(cjs|data)|recharts\/umd|@grpc\/grpc-js-xds\/build|@mantine\/\w+\/cjs)\/$/,
  // Tests of the packages, and what is for people. Licences stay.
  /^(@[\w-]+\/)?[\w.-]+\/test\/$/,
  /(\.map|(^|\/)(readme|changelog|history)[^/]*\.(md|markdown))$/i,
];

/** The pages have an older TypeScript, of which the generator of their types needs the printer alone. */
const needlessOfPages = [
  ...needless,
  /^typescript\/lib\/(lib\..*\.d\.ts|[a-z]{2}(-[a-z]+)?\/|_?tsserver|_?tsc|typingsInstaller)/,
];

/**
 * @param {string} modules
 * @param {readonly RegExp[]} rules
 */
function prune(modules, rules, below = '') {
  if (!existsSync(modules)) return;
  for (const entry of readdirSync(join(modules, below), { withFileTypes: true })) {
    const path = `${below}${entry.name}${entry.isDirectory() ? '/' : ''}`;
    if (rules.some((each) => each.test(path))) rmSync(join(modules, path), { recursive: true });
    else if (entry.isDirectory()) prune(modules, rules, path);
  }
}

prune(join(root, 'node_modules'), needless);
prune(join(root, 'dashboard', 'node_modules'), needlessOfPages);
