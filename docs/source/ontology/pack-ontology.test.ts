/** A pack and its vocabulary say nothing that PROV-O, Dublin Core, DCAT and QUDT contradict: a reasoner for OWL looks. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { signingKeyOf } from '@gw/contract/internal/evidence-keys';
import { vocabulary } from '@gw/contract/pack/vocabulary';
import { packText } from '@gw/evidence/pack-writer';
import { pythonWith } from '@gw/stack/environments';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { examples } from '../examples.ts';

const folder = mkdtempSync(join(tmpdir(), 'gw-ontology-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

let python: string;
let pack: Record<string, unknown>;
beforeAll(async () => {
  python = await pythonWith('ontology', here('requirements.txt'), (line) => process.stderr.write(`${line}\n`));
  const { degraded, parametric, restated } = examples;
  const text = await packText(
    {
      id: '00000000-0000-4000-8000-000000000001',
      issuedAt: new Date(0),
      baseUrl: 'https://gw.example',
      accountId: 'acct_1',
      selection: {},
      period: { from: new Date(0), to: new Date(1) },
      receipts: [parametric, restated, degraded].map(({ lineage, receipt }) => ({
        receipt,
        lineage: { object: 'gw.receipt_lineage', lineage },
        routing: { estimated_saving_g: 0.5 },
      })),
      excluded: [{ receipt_id: 'rcpt_0', version: null, code: 'not_found', reason: 'There is no such receipt.' }],
      log: null,
    },
    signingKeyOf('01'.repeat(32)),
  );
  pack = JSON.parse(text);
}, 300_000);

/** Returns what is wrong with documents, in the words of the reasoner. */
function faultsOf(documents: Readonly<Record<string, object>>): string {
  const files = Object.entries(documents).map(([name, document]) => {
    const file = join(folder, `${name}.jsonld`);
    writeFileSync(file, JSON.stringify(document));
    return file;
  });
  const { stderr, stdout } = spawnSync(python, ['-B', here('reason.py'), here('axioms.ttl'), ...files], {
    encoding: 'utf8',
  });
  return (stdout + stderr).trim();
}

test('a pack contradicts nothing that the vocabularies say of their terms', () => {
  expect((pack.receipts as object[]).length).toBe(3);
  expect((pack.sources as object[]).length).toBeGreaterThan(3);
  expect(faultsOf({ pack, vocabulary })).toBe('');
});

const prov = 'http://www.w3.org/ns/prov#';
test.each<[string, (made: Record<string, unknown>) => object, string]>([
  [
    'methodologies that the pack itself has used, as in its first form',
    ({ wasGeneratedBy: _, ...made }) => ({ ...made, used: ['urn:gw:methodology:1'] }),
    `Disjoint classes ${prov}Activity and ${prov}Entity have a common individual urn:uuid:`,
  ],
  [
    'a receipt that is its own calculation',
    ({ receipts, ...made }) => ({ ...made, receipts: [{ ...Object(receipts)[0], type: [`${prov}Activity`] }] }),
    `Disjoint classes ${prov}Activity and ${prov}Entity`,
  ],
  [
    'a licence that is a text',
    (made) => ({ ...made, sources: [{ name: 'x', 'dct:license': 'MIT' }] }),
    'http://purl.org/dc/terms/license of MIT',
  ],
  ['a time that is none', (made) => ({ ...made, issued: 'yesterday' }), 'does not match its datatype'],
  ['a term of which nothing is known', (made) => ({ ...made, 'prov:thought': 'x' }), `no axiom about ${prov}thought`],
])('the reasoner would find %s', (_, change, told) => {
  const short = { ...pack, receipts: Object(pack.receipts).slice(0, 1), quantities: [], sources: [] };
  expect(faultsOf({ changed: change(short) })).toContain(told);
});
