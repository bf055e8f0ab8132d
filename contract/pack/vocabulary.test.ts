import { readFileSync } from 'node:fs';
import { methodologyIds, methodologyOf } from '@gw/methodology/methodologies';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { packContext } from './context.ts';
import { licenceName, licenceOf } from './licences.ts';
import { evidencePackSchema } from './schema.ts';
import { vocabulary } from './vocabulary.ts';

interface Term {
  readonly id: string;
  readonly label?: string;
  readonly definition?: string;
}
const entries = (vocabulary['@graph'] as readonly Term[]).filter(({ id }) => id.startsWith('gw:'));

/** Every `gw:` name in a value. */
function namesIn(value: unknown): string[] {
  if (typeof value === 'string') return value.match(/^gw:[\w-]+$/) ?? [];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(namesIn) : [];
}
/** The `gw:` names that the JSON Schema of a pack has as constants: the classes. */
const schema = z.toJSONSchema(evidencePackSchema);

test('each term of ours in the context or the form of a pack is in the vocabulary once, and no other', () => {
  const ofLicences = entries.filter(({ id }) => id.startsWith('gw:licence-')).map(({ id }) => id);
  const used = new Set([...namesIn(packContext), ...namesIn(schema), 'gw:GM-PER-KiloW-HR', ...ofLicences]);
  expect(entries.map(({ id }) => id).toSorted()).toEqual([...used].toSorted());
});

test('each has a label and a definition, and each number its unit and its kind of quantity', () => {
  for (const each of entries) {
    expect(each.label, each.id).toBeTruthy();
    expect(each.definition?.length, each.id).toBeGreaterThan(10);
    if (/_(wh|g|ml|minutes|g_per_kwh|g_per_request|tokens)$|^gw:(pue|requests)/.test(each.id))
      expect(each, each.id).toMatchObject({
        measured_in: expect.stringMatching(/^(unit|gw):/),
        measures: expect.stringMatching(/^quantitykind:/),
      });
    else expect(each, each.id).not.toHaveProperty('measured_in');
  }
});

const written = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;

test('the vocabulary in the repository is the one that is served', async () => {
  await expect(written(vocabulary)).toMatchFileSnapshot('../../docs/ns/gw.jsonld');
});

test('the JSON Schema in the repository is the one that packs are held to, and leaves no object open', async () => {
  await expect(written({ title: 'An evidence pack', ...schema })).toMatchFileSnapshot(
    '../../docs/evidence-pack.schema.json',
  );
  const open: string[] = [];
  const look = (value: unknown, at: string): void => {
    if (typeof value !== 'object' || value === null) return;
    const { additionalProperties, type } = value as Record<string, unknown>;
    if (type === 'object' && additionalProperties !== false) open.push(at);
    for (const [name, each] of Object.entries(value)) look(each, `${at}/${name}`);
  };
  look(schema, '');
  // The context is compared as a whole.
  expect(open).toEqual(['/$defs/EvidencePack/properties/@context']);
});

test('each licence that a lineage can name has an IRI, of SPDX or with an entry in the vocabulary', () => {
  const sources = readFileSync(new URL('../../methodology/lineage/grid-sources.ts', import.meta.url), 'utf8');
  const texts = [
    ...[...sources.matchAll(/terms\('([^']+)'/g)].map(([, text = '']) => text),
    ...methodologyIds.flatMap((id) =>
      [...methodologyOf(id).document.matchAll(/"licence":"([^"]+)"/g)].map(([, text = '']) => text),
    ),
  ];
  expect(new Set(texts).size).toBeGreaterThan(6);
  const defined = entries.map(({ id }) => id);
  for (const text of texts) {
    const licence = licenceOf(text);
    expect(licence, text).toMatch(/^(spdx|gw):/);
    expect(licenceName(licence)).toBe(text);
    if (licence?.startsWith('gw:')) expect(defined).toContain(licence);
  }
  expect(licenceOf('somebody’s own')).toBeNull();
});
