/**
 * Compiles filter.as to `../generated/first-event.ts`, which holds the filter as WebAssembly in base64. What the sidecar knows as well is
 * taken from contract/.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import asc from 'assemblyscript/asc';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const contract = join(here, '..', '..', 'contract', 'internal');

/**
 * Bundled first, since not each release of Node that runs this reads TypeScript.
 *
 * @param {string} name
 */
async function load(name) {
  const { outputFiles } = await build({
    entryPoints: [join(contract, name)],
    format: 'esm',
    write: false,
    logLevel: 'error',
  });
  const code = outputFiles.map(({ text }) => text).join('');
  return import(`data:text/javascript,${encodeURIComponent(code)}`);
}

const { firstEventHeader, headPatienceHeader, unreadableReply } = await load('first-event.ts');
/** @type {{ safetyCodes: readonly string[], safetyPhrases: readonly string[] }} */
const { safetyCodes, safetyPhrases } = await load('safety-words.ts');
/**
 * A code is a whole value: a number or a word can stand in the middle of other words. As a number it can also count something, so it has to
 * be that of a key for codes.
 *
 * @param {string} code
 */
const waysToState = (code) =>
  /^\d+$/.test(code)
    ? [`"${code}"`, ...[' ', ''].flatMap((gap) => [',', '}'].map((next) => `code":${gap}${code}${next}`))]
    : [`"${code}"`];
const safetyWords = [...safetyCodes.flatMap(waysToState), ...safetyPhrases];
/** @type {Readonly<Record<string, string>>} */
const places = {
  __firstEventHeader__: JSON.stringify(firstEventHeader),
  __headPatienceHeader__: JSON.stringify(headPatienceHeader),
  __unreadableReply__: JSON.stringify(unreadableReply),
  __isSafety__: safetyWords.map((words) => `says(${JSON.stringify(words)})`).join(' || '),
};
const filter = readFileSync(join(here, 'filter.as'), 'utf8').replaceAll(
  /(?<!`)__\w+__/g,
  (place) => places[place] ?? place,
);

/** @type {Uint8Array | null} */
let compiled = null;
/** The compiler takes files by the extension of TypeScript alone. */
const source = 'filter.ts';
const { error, stderr } = await asc.main(
  // `abort` would be a function that Envoy does not have; without it a fault traps as well.
  [source, '--outFile', 'filter.wasm', '--optimizeLevel', '3', '--shrinkLevel', '2', '--noAssert', '--use', 'abort='],
  {
    readFile: (name) => (name === source ? filter : null),
    writeFile: (_name, contents) => {
      if (contents instanceof Uint8Array) compiled = contents;
    },
    listFiles: () => [],
  },
);
if (error || compiled === null) throw new Error(`filter.as does not compile.\n${stderr.toString()}`, { cause: error });
const generated = join(here, '..', 'generated');
mkdirSync(generated, { recursive: true });
const text = Buffer.from(compiled).toString('base64');
writeFileSync(join(generated, 'first-event.ts'), `export const firstEventWasm =\n  '${text}';\n`);
