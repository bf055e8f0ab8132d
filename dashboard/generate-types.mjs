/** Writes the types of the operators' port from its OpenAPI document, unless they are of that document already. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const path = (/** @type {string} */ name) => fileURLToPath(new URL(name, import.meta.url));
const file = path('generated/operator-api.d.ts');
const document = execFileSync(process.execPath, [path('../dist/operator-document.js')], { encoding: 'utf8' });
const heading = `// Of the document with the SHA-256 ${createHash('sha256').update(document).digest('hex')}\n`;
if (!existsSync(file) || !readFileSync(file, 'utf8').startsWith(heading)) {
  const { default: openapiTS, astToString } = await import('openapi-typescript');
  mkdirSync(path('generated'), { recursive: true });
  writeFileSync(file, heading + astToString(await openapiTS(JSON.parse(document))));
}
