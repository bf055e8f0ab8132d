/** Compiles filter.as to `../generated/first-event.ts`, which holds the filter as WebAssembly in base64. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import asc from 'assemblyscript/asc';

const here = dirname(fileURLToPath(import.meta.url));
/** @type {Uint8Array | null} */
let compiled = null;
/** The compiler takes files by the extension of TypeScript alone. */
const source = 'filter.ts';
const { error, stderr } = await asc.main(
  // `abort` would be a function that Envoy does not have; without it a fault traps as well.
  [source, '--outFile', 'filter.wasm', '--optimizeLevel', '3', '--shrinkLevel', '2', '--noAssert', '--use', 'abort='],
  {
    readFile: (name) => (name === source ? readFileSync(join(here, 'filter.as'), 'utf8') : null),
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
