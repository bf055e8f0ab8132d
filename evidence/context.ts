/**
 * The JSON-LD 1.1 context of a pack. It is part of the pack, so that a reader fetches nothing.
 *
 * Invariant: every term of a pack is in it. There is no default vocabulary, which would hide a term that is missing.
 */
import { boundaries, receiptStatuses, receiptTiers } from '@gw/contract/receipt';
import { amounts } from './quantities.ts';

type Term = string | Readonly<Record<string, unknown>>;

const typed = (id: string, type: string): Term => ({ '@id': id, '@type': type });
const own = (names: readonly string[], type?: string): Record<string, Term> =>
  Object.fromEntries(names.map((name) => [name, type === undefined ? `gw:${name}` : typed(`gw:${name}`, type)]));
/** A field whose values are words of a closed list, each a term of its own. */
const word = (name: string, words: readonly string[]): Record<string, Term> => ({
  [name]: {
    '@id': `gw:${name}`,
    '@type': '@vocab',
    '@context': Object.fromEntries(words.map((each) => [each, `gw:${name}-${each}`])),
  },
});
const many = (id: string): Term => ({ '@id': id, '@container': '@set' });

const prefixes = {
  prov: 'http://www.w3.org/ns/prov#',
  qudt: 'http://qudt.org/schema/qudt/',
  unit: 'http://qudt.org/vocab/unit/',
  dcat: 'http://www.w3.org/ns/dcat#',
  dct: 'http://purl.org/dc/terms/',
  rdf: 'http://www.w3.org/1999/02/22-rdf-syntax-ns#',
  schema: 'https://schema.org/',
  xsd: 'http://www.w3.org/2001/XMLSchema#',
  gw: 'urn:gw:terms:',
};

const receiptTerms = {
  ...own(amounts, 'xsd:decimal'),
  ...own(['created_at', 'grid_intensity_observed_at', 'grid_intensity_requested_at'], 'xsd:dateTime'),
  ...own(['receipt_id', 'version', 'supersedes', 'request_id', 'requested_tier', 'tier_reason', 'model', 'provider']),
  ...own([
    'region',
    'pinned_region',
    'api',
    'grid_zone',
    'prompt_tokens',
    'completion_tokens',
    'simulated',
    'usage_source',
    'energy_split',
  ]),
  ...own(['uncertainty_basis', 'grid_intensity_source', 'grid_temporal_match', 'grid_basis', 'grid_vintage']),
  ...own(['methodology', 'methodology_version', 'methodology_hash', 'lineage_digest', 'project']),
  ...own(['degraded_reason', 'explanation', 'recalculable']),
  boundary_excludes: many('gw:boundary_excludes'),
  ...word('tier', receiptTiers),
  ...word('boundary', boundaries),
  ...word('status', receiptStatuses),
  lineage: typed('gw:lineage', '@json'),
  routing: typed('gw:routing', '@json'),
  wasRevisionOf: typed('prov:wasRevisionOf', '@id'),
  wasGeneratedBy: 'prov:wasGeneratedBy',
  qualifiedAssociation: 'prov:qualifiedAssociation',
  agent: typed('prov:agent', '@id'),
  hadPlan: typed('prov:hadPlan', '@id'),
};

const packTerms = {
  title: 'dct:title',
  issued: typed('dct:issued', 'xsd:dateTime'),
  publisher: 'dct:publisher',
  temporal: 'dct:temporal',
  start: typed('dcat:startDate', 'xsd:dateTime'),
  end: typed('dcat:endDate', 'xsd:dateTime'),
  ...own(['format', 'account']),
  selection: typed('gw:selection', '@json'),
  hasUnit: typed('qudt:hasUnit', '@id'),
  quantities: many('gw:quantities'),
  coverage: typed('gw:coverage', '@json'),
  aggregates: many('gw:aggregates'),
  date: typed('gw:date', 'xsd:date'),
  ...own(['requests', 'requests_degraded']),
  ...own(['carbon_saved_g'], 'xsd:decimal'),
  missing: typed('gw:missing', '@json'),
  methodologies: many('prov:used'),
  name: 'schema:name',
  hash: 'gw:hash',
  document: 'gw:document',
  sources: many('dct:source'),
  licence: 'dct:license',
  locator: 'schema:url',
  excluded: many('gw:excluded'),
  ...own(['code', 'reason', 'log_index']),
  log: typed('gw:log', '@json'),
  receipts: many('dct:hasPart'),
  listed: typed('gw:listed', '@json'),
  manifest: typed('gw:manifest', '@json'),
  signature: typed('gw:signature', '@json'),
};

export const packContext: Readonly<Record<string, unknown>> = {
  '@version': 1.1,
  id: '@id',
  type: '@type',
  ...prefixes,
  ...receiptTerms,
  ...packTerms,
};
