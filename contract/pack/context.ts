/**
 * The JSON-LD 1.1 context of a pack. It is part of the pack, so that a reader fetches nothing.
 *
 * Invariant: every term of a pack is in it. There is no default vocabulary, which would hide a term that is missing. The terms of ours are
 * defined in the vocabulary (vocabulary.ts).
 */
import { amounts } from '@gw/methodology/amounts';
import { boundaries, receiptStatuses, receiptTiers } from '../receipt.ts';

/** The vocabulary. It names no gateway, so that packs of several can be queried together. */
export const vocabularyIri = 'https://w3id.org/gw-receipts/ns/gw';

/** Where each gateway serves it. */
export const vocabularyPath = '/ns/gw';

export type Term = string | Readonly<Record<string, unknown>>;

const typed = (id: string, type: string): Term => ({ '@id': id, '@type': type });
const own = (type: string, names: readonly string[]): Record<string, Term> =>
  Object.fromEntries(names.map((name) => [name, typed(`gw:${name}`, type)]));
/** A field whose values are words of a closed list, each a term of its own. */
const word = (name: string, words: readonly string[]): Record<string, Term> => ({
  [name]: {
    '@id': `gw:${name}`,
    '@type': '@vocab',
    '@context': Object.fromEntries(words.map((each) => [each, `gw:${name}-${each}`])),
  },
});
const many = (id: string): Term => ({ '@id': id, '@container': '@set' });

export const prefixes = {
  prov: 'http://www.w3.org/ns/prov#',
  qudt: 'http://qudt.org/schema/qudt/',
  unit: 'http://qudt.org/vocab/unit/',
  quantitykind: 'http://qudt.org/vocab/quantitykind/',
  dcat: 'http://www.w3.org/ns/dcat#',
  dct: 'http://purl.org/dc/terms/',
  owl: 'http://www.w3.org/2002/07/owl#',
  schema: 'https://schema.org/',
  spdx: 'http://spdx.org/licenses/',
  xsd: 'http://www.w3.org/2001/XMLSchema#',
  gw: `${vocabularyIri}#`,
};

const receiptTerms = {
  ...own('xsd:decimal', amounts),
  ...own('xsd:dateTime', ['created_at', 'grid_intensity_observed_at', 'grid_intensity_requested_at']),
  ...own('xsd:integer', ['prompt_tokens', 'completion_tokens', 'supersedes', 'grid_vintage']),
  ...own('xsd:boolean', ['simulated', 'recalculable']),
  ...own('xsd:string', ['receipt_id', 'request_id', 'requested_tier', 'tier_reason', 'model', 'provider', 'region']),
  ...own('xsd:string', ['pinned_region', 'api', 'grid_zone', 'usage_source', 'energy_split', 'uncertainty_basis']),
  ...own('xsd:string', ['grid_intensity_source', 'grid_temporal_match', 'grid_basis', 'measured_by', 'project']),
  ...own('xsd:string', ['methodology', 'methodology_version', 'methodology_hash', 'lineage_digest']),
  ...own('xsd:string', ['request_digest', 'answer_digest']),
  ...own('xsd:string', ['degraded_reason', 'explanation']),
  boundary_excludes: { '@id': 'gw:boundary_excludes', '@type': 'xsd:string', '@container': '@set' },
  // A receipt has a number, a methodology a text.
  version: 'gw:version',
  ...word('tier', receiptTiers),
  ...word('boundary', boundaries),
  ...word('status', receiptStatuses),
  ...own('@json', ['lineage', 'routing']),
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
  wasAssociatedWith: typed('prov:wasAssociatedWith', '@id'),
  used: { '@id': 'prov:used', '@type': '@id', '@container': '@set' },
  ...own('xsd:string', ['format', 'account']),
  ...own('@json', ['selection', 'coverage', 'log', 'listed', 'manifest', 'signature']),
  quantities: many('gw:quantities'),
  ...own('@id', ['measured_in', 'measures']),
  aggregates: many('gw:aggregates'),
  ...own('xsd:date', ['date']),
  ...own('xsd:integer', ['requests', 'requests_degraded', 'log_index']),
  ...own('xsd:decimal', ['carbon_saved_g']),
  ...own('@json', ['missing']),
  methodologies: many('gw:methodologies'),
  name: 'schema:name',
  ...own('xsd:string', ['hash', 'document', 'code', 'reason']),
  sources: many('dct:source'),
  licence: typed('dct:license', '@id'),
  locator: 'schema:url',
  excluded: many('gw:excluded'),
  receipts: many('dct:hasPart'),
};

/** The terms under the names of the members of a pack. */
export const termsOfPacks: Readonly<Record<string, Term>> = { ...receiptTerms, ...packTerms };

export const packContext: Readonly<Record<string, unknown>> = {
  '@version': 1.1,
  id: '@id',
  type: '@type',
  ...prefixes,
  ...termsOfPacks,
};
