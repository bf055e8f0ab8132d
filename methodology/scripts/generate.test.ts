import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { methodologyOf } from '../documents/methodologies.ts';
import { documentHash as ofEcologits } from '../generated/ecologits-0.11.3.ts';
import { documentHash as ofOurs } from '../generated/gw-2.0.ts';
import { generated } from './generate.ts';

// If this fails, run `npm run generate --workspace=methodology`; ./gw does so by itself.
it('the programs are those of the documents', () => {
  for (const [name, text] of generated())
    expect(readFileSync(new URL(`../generated/${name}`, import.meta.url), 'utf8'), name).toBe(text);
});

it('each names the document that it was compiled from, at its top', () => {
  expect([ofOurs, ofEcologits]).toEqual([methodologyOf('gw-2.0').hash, methodologyOf('ecologits-0.11.3').hash]);
  const text = readFileSync(new URL('../generated/gw-2.0.ts', import.meta.url), 'utf8');
  expect(text.split('\n').slice(0, 4).join('\n')).toContain(ofOurs);
});
